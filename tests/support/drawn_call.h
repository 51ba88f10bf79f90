/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls for tests that compare a store with the model: few keys and small limits, so that
 * much is over; now and then the largest numbers; each count, groups, shadows, refunds and looks.
 *
 * Threads: pure functions.
 */
#ifndef WR_TESTS_SUPPORT_DRAWN_CALL_H
#define WR_TESTS_SUPPORT_DRAWN_CALL_H

#include <stddef.h>
#include <stdint.h>

#include "store/backend.h"

#define WR_DRAWN_TAKES 4

/* Plain, without padding that is set: two calls can be compared as bytes when cleared before. */
struct wr_drawn_call {
    int64_t now_us; /* for the test's use */
    enum wr_charge_mode mode;
    size_t n;
    struct {
        unsigned key;
        struct wr_take take; /* its key is for the test to set */
    } ones[WR_DRAWN_TAKES];
};

/* TEST_SEED of the environment, to play what a failing test names again, or else a seed from the
 * system's randomness; never 0. */
uint64_t wr_draw_seed(void);

/* The next random number below `n` (Marsaglia's xorshift64). */
uint64_t wr_draw_below(uint64_t *seed, uint64_t n);

/* Draws a call on `n_keys` keys, each with its own sort of limit, of which everything that may
 * change is drawn: numbers, count, burst and buckets. Takes of one group are neighbours. A third of
 * the calls only charge and look, and count all. */
void wr_draw_call(uint64_t *seed, const struct wr_limit *limits, unsigned n_keys,
                  struct wr_drawn_call *call);

#endif
