/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a store needs to know of an algorithm: how large the state of a counter is, which clock it
 * goes by, and four functions. The state is words in a place of the store's; all zero: never hit.
 * Whoever has no state at all passes WR_STATE_WORDS_MAX words of zero to what does not write; and a
 * state that is INT64_MAX and zeros, which a store may set aside for one to come, is never hit,
 * too.
 *
 * Invariants, which tests hold every kind to:
 * - The first word of a state is the moment from which the counter is as good as never hit, by the
 *   kind's clock; so a store can drop it without knowing the algorithm.
 * - A take is over if and only if a peek of as many hits is; a peek of 0 hits is over only when
 *   more is used than the limit allows.
 * - A take or refund of 0 hits leaves the state as it was, and so does a refused take that is not
 *   booked, save for what time and a new limit have made of it (see token_bucket.h, warm_up.h).
 * - Time that goes back a little, because callers read the clock before they take the lock, admits
 *   nothing that would not have been admitted otherwise. A state more than a window ahead of the
 *   time comes from another time altogether, and is taken for never hit.
 * Threads: pure functions; the caller holds the lock that guards the state.
 */
#ifndef WR_LIMIT_ALGORITHM_H
#define WR_LIMIT_ALGORITHM_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "limit/limit.h"

/* Words of the largest state of the kinds whose size does not change. */
#define WR_STATE_WORDS_MAX 8

enum wr_counter_clock {
    WR_COUNTER_WALL, /* windows of the epoch or the calendar */
    WR_COUNTER_MONO, /* what is measured as a length */
};

struct wr_counter_kind {
    enum wr_counter_clock clock;
    /*
     * The words, at least 2, that a state must have before a take of `hits` from `limit`, or of
     * fewer; before a refund those for a take of 0. `state` is what there is so far, all zero when
     * that is nothing. A store that has fewer adds words of zero behind; one that has more leaves
     * them. Except for sliding_buckets and sliding_log, they are few and always the same.
     */
    uint32_t (*state_words)(const void *state, const struct wr_limit *limit, uint64_t hits);
    /* What a take of `hits` would come to, and a look when there are none; but see warm_up.h for
     * the reset. */
    struct wr_verdict (*peek)(const void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us);
    /* As peek, and charges what fits; what does not fit as well when the limit counts all. */
    struct wr_verdict (*take)(void *state, const struct wr_limit *limit, uint64_t hits,
                              int64_t now_us);
    /* Gives `hits` back, never below nothing used; never over. */
    struct wr_verdict (*refund)(void *state, const struct wr_limit *limit, uint64_t hits,
                                int64_t now_us);
};

/* By algorithm and alignment; and those that warm up first, by clock. */
extern const struct wr_counter_kind *const wr_counter_kinds[][3];
extern const struct wr_counter_kind wr_warm_up_kinds[2];

static inline const struct wr_counter_kind *wr_counter_kind_of(const struct wr_limit *limit)
{
    const struct wr_counter_kind *const kind = wr_counter_kinds[limit->algorithm][limit->alignment];

    return limit->warm_up_us == 0 ? kind : &wr_warm_up_kinds[kind->clock];
}

/* The time that counters of `kind` go by. */
static inline int64_t wr_counter_time(const struct wr_counter_kind *kind, const struct wr_now *now)
{
    return kind->clock == WR_COUNTER_WALL ? now->wall_us : now->mono_us;
}

#endif
