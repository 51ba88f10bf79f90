/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One take after another from a backend that answers inline, with a clock that stands still until
 * it is moved.
 *
 * Threads: a taker belongs to one thread.
 */
#ifndef WR_TESTS_SUPPORT_TAKER_H
#define WR_TESTS_SUPPORT_TAKER_H

#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "store/backend.h"

struct wr_taker {
    struct wr_backend *backend;       /* borrowed */
    struct wr_metrics_block *metrics; /* borrowed; of this thread */
    struct wr_limit limit;
    struct wr_now now;
    enum wr_charge_mode mode;
    struct wr_arena *arena; /* borrowed, reset after each batch; NULL: each has one of its own */
};

/* Hands `takes` over as one batch and asserts that they were answered once, inline. */
void wr_taker_batch(struct wr_taker *taker, struct wr_take *takes, size_t n);

/* The answered take of `hits` from the counter `key`. */
struct wr_take wr_taker_take(struct wr_taker *taker, struct wr_str key, uint64_t hits);

struct wr_take wr_taker_refund(struct wr_taker *taker, struct wr_str key, uint64_t hits);

/* A take of one hit from the counter with that number. */
struct wr_take wr_taker_take_number(struct wr_taker *taker, uint64_t number);

#endif
