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

static void tell(unsigned before, unsigned after)
{
    if (before == ALL) {
        wr_log(WR_LOG_WARN, "health: NOT_SERVING, reason: %s",
               (after & WR_READY_STORE) == 0 ? "store" : "rules");
    } else if (after == ALL) {
        wr_log(WR_LOG_INFO, "health: SERVING");
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
