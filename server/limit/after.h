/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a take leaves used, and how far that must fall before more passes: the part of a verdict
 * that the sliding algorithms have in common.
 *
 * Threads: pure functions.
 */
#ifndef WR_LIMIT_AFTER_H
#define WR_LIMIT_AFTER_H

#include <stdbool.h>
#include <stdint.h>

#include "limit/limit.h"

static inline bool wr_after_is_over(const struct wr_limit *limit, uint64_t used, uint64_t hits)
{
    return used > limit->requests || hits > limit->requests - used;
}

/* What a take of `hits` leaves on the counter. */
static inline uint64_t wr_after_charge(const struct wr_limit *limit, bool over, uint64_t hits)
{
    return over && limit->count != WR_COUNT_ALL ? 0 : hits;
}

/* As many as a refused client waits for: what it asked for, or as ever fits in `most`; and one more
 * when what it asked for has been booked, or it only looked. */
static inline uint64_t wr_after_wanted(const struct wr_limit *limit, uint64_t hits, uint64_t most)
{
    const uint64_t wanted = hits == 0 || limit->count == WR_COUNT_ALL ? 1 : hits;

    return wanted < most ? wanted : most;
}

/* What `used`, after the take, has to fall to: when over, so that as many fit as are waited for;
 * else by one. */
static inline uint64_t wr_after_target(const struct wr_limit *limit, bool over, uint64_t hits,
                                       uint64_t used)
{
    if (over) {
        return limit->requests - wr_after_wanted(limit, hits, limit->requests);
    }
    return used > 0 ? used - 1 : 0;
}

/* Of a take of `hits` on a counter with `used`. Built where it is returned: a copy would be read
 * wider than it was written, which the processor has to wait for. */
static inline struct wr_verdict wr_after_verdict(const struct wr_limit *limit, bool over,
                                                 uint64_t used, uint64_t hits, int64_t reset_us)
{
    return (struct wr_verdict){
        .over = over,
        .remaining = over ? 0 : limit->requests - used - hits,
        .reset_us = reset_us,
        .enforced = limit->requests,
    };
}

#endif
