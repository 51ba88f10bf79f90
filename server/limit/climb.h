/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit that climbs, at one time: what is enforced, and how long until more is. Private to
 * warm_up.c; not for fixed windows, which keep their limit.
 *
 * Threads: pure functions.
 */
#ifndef WR_LIMIT_CLIMB_H
#define WR_LIMIT_CLIMB_H

#include <stdbool.h>
#include <stdint.h>

#include "limit/algorithm.h"
#include "limit/muldiv.h"

struct wr_climb {
    const struct wr_counter_kind *kind; /* that warms up */
    int64_t since_us;                   /* when it began */
    struct wr_limit limit;              /* that is enforced */
};

/* What a take or a look leaves. */
struct wr_climb_left {
    const void *state; /* the kind's */
    int64_t last_us;   /* the last hit */
    bool climbs;       /* or does it wait for a hit to begin */
};

/* The limit while the climb is at `requests`. */
static inline struct wr_limit wr_climb_limit(const struct wr_limit *limit, uint64_t requests)
{
    struct wr_limit now = *limit;

    now.requests = requests;
    if (requests < limit->requests) {
        const uint64_t burst = wr_muldiv_floor(limit->burst, requests, limit->requests);

        now.burst = burst > 0 ? burst : 1;
    }
    return now;
}

/*
 * The reset of `verdict`, which the kind told of what is left, by the limit that is enforced now;
 * with what the climb to `limit`, whose requests are not 0, and idleness make of it.
 */
int64_t wr_climb_wait(const struct wr_climb *climb, const struct wr_climb_left *left,
                      const struct wr_limit *limit, const struct wr_verdict *verdict,
                      int64_t now_us);

#endif
