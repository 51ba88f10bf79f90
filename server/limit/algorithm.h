/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a store needs to know of an algorithm: how large the state of a counter is, which clock it
 * goes by, and four functions. The state is words in a place of the store's; all zero: never hit.
 *
 * Invariant: the first word of a state is the moment from which the counter is as good as never
 * hit, by the kind's clock; so a store can drop it without knowing the algorithm. A call that
 * charges or gives back nothing leaves the state as it was.
 * Threads: pure functions; the caller holds the lock that guards the state.
 */
#ifndef WR_LIMIT_ALGORITHM_H
#define WR_LIMIT_ALGORITHM_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "limit/limit.h"

/* Words of the largest state that a store keeps beside a counter's hash. */
#define WR_STATE_WORDS_MAX 8

enum wr_counter_clock {
    WR_COUNTER_WALL, /* windows of the epoch or the calendar */
    WR_COUNTER_MONO, /* what is measured as a length */
};

struct wr_counter_kind {
    uint32_t state_words; /* 2 to WR_STATE_WORDS_MAX */
    enum wr_counter_clock clock;
    /* What a take of `hits` would come to, and a look when there are none. */
    struct wr_verdict (*peek)(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us);
    /* As peek, and charges what fits; what does not fit as well when the limit counts all. */
    struct wr_verdict (*take)(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us);
    /* Gives `hits` back, never below nothing used; never over. */
    struct wr_verdict (*refund)(void *state, const struct wr_limit *limit, uint64_t hits,
                                int64_t now_us);
};

/* By algorithm. */
extern const struct wr_counter_kind *const wr_counter_kinds[];

static inline const struct wr_counter_kind *wr_counter_kind_of(const struct wr_limit *limit)
{
    return wr_counter_kinds[limit->algorithm];
}

/* The time that counters of `kind` go by. */
static inline int64_t wr_counter_time(const struct wr_counter_kind *kind, const struct wr_now *now)
{
    return kind->clock == WR_COUNTER_WALL ? now->wall_us : now->mono_us;
}

#endif
