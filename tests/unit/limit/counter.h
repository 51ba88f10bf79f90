/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One counter of any kind, alone in memory that is exactly as large as it must be, for tests of
 * arithmetic. It ends the program when a take differs from the peek before it, or when a call that
 * should leave the state as it was does not.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_UNIT_LIMIT_COUNTER_H
#define WR_TESTS_UNIT_LIMIT_COUNTER_H

#include "limit/algorithm.h"

struct wr_counter {
    struct wr_limit limit; /* may change between calls, except for algorithm, alignment, length */
    uint64_t *words;       /* owned */
    uint32_t n_words;
};

void wr_counter_init(struct wr_counter *counter, const struct wr_limit *limit);

void wr_counter_fini(struct wr_counter *counter);

/* Makes `copy`, which is initialised, like `counter`. */
void wr_counter_copy(struct wr_counter *copy, const struct wr_counter *counter);

struct wr_verdict wr_counter_peek(const struct wr_counter *counter, uint64_t hits, int64_t now_us);

struct wr_verdict wr_counter_take(struct wr_counter *counter, uint64_t hits, int64_t now_us);

struct wr_verdict wr_counter_refund(struct wr_counter *counter, uint64_t hits, int64_t now_us);

/* When it is as good as never hit. */
int64_t wr_counter_expiry(const struct wr_counter *counter);

/* What is asked of a counter, and the right answer. Refunds are rows with negative hits. */
struct wr_step {
    int64_t now_us;
    int64_t hits;
    bool over;
    uint64_t remaining;
    int64_t reset_us;
};

/* Plays `steps` on a fresh counter; ends the program and names the row that differs. */
void wr_counter_play(const struct wr_limit *limit, const struct wr_step *steps, size_t n);

#define WR_PLAY(limit, steps) wr_counter_play(&(limit), (steps), sizeof(steps) / sizeof((steps)[0]))

#endif
