/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/bulletin.h"

#include <stdio.h>
#include <string.h>

#define SAME_WHY_US INT64_C(30000000) /* a reason that stays is told again after that */
#define LINE_US INT64_C(10000000)     /* a line each, in the long run */
#define LINES INT64_C(6)              /* so many may come at once: an outage has two or three */

/* A leaky bucket: `paid_until_us` is its level. */
static bool may_tell(struct wr_redis_bulletin *bulletin, int64_t mono_us)
{
    const int64_t from_us = bulletin->paid_until_us > mono_us ? bulletin->paid_until_us : mono_us;

    if (from_us + LINE_US > mono_us + LINES * LINE_US) {
        return false;
    }
    bulletin->paid_until_us = from_us + LINE_US;
    return true;
}

static bool tell(struct wr_redis_bulletin *bulletin, bool is_away, int64_t mono_us,
                 uint64_t *out_left_out)
{
    const bool is_turn = bulletin->is_left_away != is_away;

    bulletin->is_left_away = is_away;
    if (!may_tell(bulletin, mono_us)) {
        bulletin->n_left_out += is_turn;
        return false;
    }
    *out_left_out = bulletin->n_left_out;
    bulletin->n_left_out = 0;
    bulletin->is_away = is_away;
    bulletin->told_us = mono_us;
    return true;
}

bool wr_redis_bulletin_away(struct wr_redis_bulletin *bulletin, const char *why, int64_t mono_us,
                            uint64_t *out_left_out)
{
    const bool is_same =
        bulletin->is_away && strncmp(bulletin->why, why, sizeof bulletin->why - 1) == 0;

    if (is_same && mono_us - bulletin->told_us < SAME_WHY_US) {
        bulletin->n_left_out += !bulletin->is_left_away;
        bulletin->is_left_away = true;
        return false;
    }
    if (!tell(bulletin, true, mono_us, out_left_out)) {
        return false;
    }
    (void) snprintf(bulletin->why, sizeof bulletin->why, "%s", why);
    return true;
}

bool wr_redis_bulletin_back(struct wr_redis_bulletin *bulletin, int64_t mono_us,
                            uint64_t *out_left_out)
{
    if (!bulletin->is_away) {
        bulletin->n_left_out += bulletin->is_left_away;
        bulletin->is_left_away = false;
        return false;
    }
    return tell(bulletin, false, mono_us, out_left_out);
}
