/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token bucket: hits drip in at the limit's rate, and up to `burst` may come at once. Bounds: limit
 * + burst in any window of its length, burst + 0.02 × limit in any instant (a hundredth of the
 * length). Counted as in the generic cell rate algorithm (ITU-T I.371, virtual scheduling): one
 * stamp says when all that was used will have been forgotten.
 *
 * The interval between two hits is length / limit, rounded up to microseconds, so a limit that does
 * not divide the length is kept a little too strictly: by less than one part in `interval`, which
 * matters for limits near a hit a microsecond. More than that cannot be had.
 *
 * With T the interval and debt = stamp - now, h hits fit when debt + h × T <= burst × T. A hit that
 * does not fit leaves no trace, unless the limit counts all: then the debt grows beyond the burst.
 * A peek leaves nothing. A refund moves the stamp back by h × T, not before now.
 *
 * The state holds the interval that the stamp was reckoned by. A limit that was raised restates the
 * debt, as many hits at the new interval, rounded up; refused takes write that down, too. A look
 * does not, so that what is owed is still paid at the former interval, which its wait reckons with.
 * Under one that was lowered, what was used before is paid at the interval that it was used at,
 * until something is charged at the new one: nobody waits longer for it, and what one limit used is
 * used for the other. So with a burst that is smaller now: nothing passes until what was used fits
 * it.
 *
 * It also holds how many hits may be owed: the burst, or what was booked beyond it. A stamp further
 * ahead than these explain, by more than clocks jitter, comes from a clock that was ahead: it is
 * cut to them. So no debt is forgotten, whatever burst or limit asks for it meanwhile.
 * Clock: monotonic. Threads: pure functions; the caller holds the lock that guards the state.
 */
#ifndef WR_LIMIT_TOKEN_BUCKET_H
#define WR_LIMIT_TOKEN_BUCKET_H

#include <stdint.h>

#include "limit/algorithm.h"

/* The largest debt: some 142 years; with it, stamps stay below WR_COUNT_MAX. Bursts that take
 * longer to forget are cut to it; rules cannot have such. What is booked beyond it is lost. */
#define WR_TOKEN_BUCKET_DEBT_MAX_US (INT64_C(1) << 52)

/* All zero: never hit. */
struct wr_token_bucket {
    int64_t stamp_us; /* when all that was used is forgotten */
    uint64_t terms;   /* the interval as the stamp was reckoned, and the hits that may be owed */
};

/* Two numbers in one word, which have room because one times the other is no more than the largest
 * debt and an interval: how many bits the interval has, those, and the hits. */
#define WR_TOKEN_BUCKET_SIZE_BITS 6

static inline uint64_t wr_token_bucket_terms(int64_t interval_us, uint64_t owed)
{
    const unsigned n_bits = 64 - (unsigned) __builtin_clzll((uint64_t) interval_us);

    return (owed << n_bits | (uint64_t) interval_us) << WR_TOKEN_BUCKET_SIZE_BITS | n_bits;
}

/* 0 when it was never hit. */
static inline int64_t wr_token_bucket_interval(const struct wr_token_bucket *bucket)
{
    const unsigned n_bits = bucket->terms & ((1U << WR_TOKEN_BUCKET_SIZE_BITS) - 1);

    return (int64_t) (bucket->terms >> WR_TOKEN_BUCKET_SIZE_BITS & ((UINT64_C(1) << n_bits) - 1));
}

static inline uint64_t wr_token_bucket_owed(const struct wr_token_bucket *bucket)
{
    const unsigned n_bits = bucket->terms & ((1U << WR_TOKEN_BUCKET_SIZE_BITS) - 1);

    return bucket->terms >> WR_TOKEN_BUCKET_SIZE_BITS >> n_bits;
}

extern const struct wr_counter_kind wr_token_bucket_kind;

/* The largest burst that `limit` can have without being cut, all along its warm-up; at least 1 for
 * windows up to 100 years. */
uint64_t wr_token_bucket_burst_max(const struct wr_limit *limit);

#endif
