/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/guarantees/climb.h"

/* A fixed window that goes on is not idle; one that was not hit for two lengths is over. */
static bool is_idle(const struct wr_climb *climb, const struct wr_limit *limit, int64_t now_us)
{
    const int64_t idle_us = now_us - climb->last_us;
    const bool is_fixed = limit->algorithm == WR_ALGORITHM_FIXED_WINDOW;

    return idle_us >= limit->warm_up_us && !(is_fixed && idle_us < 2 * limit->length_us);
}

uint64_t wr_climb_at(const struct wr_climb *climb, const struct wr_limit *limit, int64_t now_us)
{
    const bool is_new = !climb->has_begun || is_idle(climb, limit, now_us);
    const int64_t climbed_us = is_new || now_us < climb->since_us ? 0 : now_us - climb->since_us;

    if (climbed_us >= limit->warm_up_us) {
        return limit->requests;
    }
    /* Rounded down; the numbers of the search are small. */
    return limit->warm_up_start + (limit->requests - limit->warm_up_start) * (uint64_t) climbed_us /
                                      (uint64_t) limit->warm_up_us;
}

void wr_climb_hit(struct wr_climb *climb, const struct wr_limit *limit, int64_t now_us)
{
    const bool is_new = !climb->has_begun || is_idle(climb, limit, now_us);

    climb->since_us = is_new ? now_us : climb->since_us;
    climb->last_us = is_new || now_us > climb->last_us ? now_us : climb->last_us;
    climb->has_begun = true;
}
