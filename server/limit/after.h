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

/* What `used`, after the take, has to fall to: when over, so that one hit fits; else by one. */
static inline uint64_t wr_after_target(const struct wr_limit *limit, bool over, uint64_t used)
{
    const uint64_t most = over ? limit->requests : used;

    return most > 0 ? most - 1 : 0;
}

/* The reset when that is so already: one hit fits though more did not, or none ever does. */
static inline int64_t wr_after_reset_at_once(const struct wr_limit *limit, bool over)
{
    if (!over) {
        return 0;
    }
    return limit->requests > 0 ? 1 : limit->length_us;
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
