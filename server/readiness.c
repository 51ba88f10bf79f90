/* SPDX-License-Identifier: Apache-2.0 */
#include "readiness.h"

#include "base/log.h"
#include "rpc/health.h"

#define ALL ((unsigned) WR_READY_RULES | WR_READY_STORE | WR_READY_PER_SECOND)

void wr_readiness_init(struct wr_readiness *readiness, struct wr_health *health)
{
    readiness->health = health;
    atomic_init(&readiness->parts, 0);
}

static const char *missing_from(unsigned parts)
{
    if ((parts & WR_READY_RULES) == 0) {
        return "rules";
    }
    return (parts & WR_READY_STORE) == 0 ? "store" : "store of limits of a second";
}

/* What begins or ends the state, and at the start what is still waited for once there are rules. */
static void tell(unsigned before, unsigned after)
{
    const bool has_rules_now = (after & ~before & WR_READY_RULES) != 0;

    if (after == ALL) {
        wr_log(WR_LOG_INFO, "health: SERVING");
    } else if (before == ALL || has_rules_now) {
        wr_log(WR_LOG_WARN, "health: NOT_SERVING, reason: %s", missing_from(after));
    }
}

/* Two threads may set health in another order than the parts: so whoever has set it looks again
 * whether it is right. */
void wr_readiness_set(struct wr_readiness *readiness, enum wr_ready_part part, bool is_there)
{
    const unsigned before = is_there ? atomic_fetch_or(&readiness->parts, (unsigned) part)
                                     : atomic_fetch_and(&readiness->parts, ~(unsigned) part);
    unsigned seen = is_there ? before | (unsigned) part : before & ~(unsigned) part;

    if (seen == before) {
        return;
    }
    tell(before, seen);
    for (;;) {
        wr_health_set(readiness->health, seen == ALL);

        const unsigned now = atomic_load(&readiness->parts);

        if (now == seen) {
            return;
        }
        seen = now;
    }
}

bool wr_readiness_has(struct wr_readiness *readiness, enum wr_ready_part part)
{
    return (atomic_load(&readiness->parts) & (unsigned) part) != 0;
}
