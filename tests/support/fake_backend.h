/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend that answers what the test wrote down, inline or when the test says so, and remembers
 * what it was asked.
 *
 * Threads: one.
 */
#ifndef WR_TESTS_SUPPORT_FAKE_BACKEND_H
#define WR_TESTS_SUPPORT_FAKE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>

#include "store/backend.h"

#define WR_FAKE_TAKES 16

struct wr_fake_backend {
    struct wr_backend backend; /* first member */
    /* set by the test: the answer to the n-th take of a batch */
    enum wr_take_answer answers[WR_FAKE_TAKES];
    struct wr_verdict verdicts[WR_FAKE_TAKES]; /* enforced 0: what was asked for */
    bool holds;                                /* batches wait for release */
    /* read by the test */
    size_t n_batches;
    struct wr_take seen[WR_FAKE_TAKES]; /* of the last batch */
    size_t n_seen;
    struct wr_batch *held;
};

/* Every take is decided: not over, 1 left, 1 s to go. */
void wr_fake_backend_init(struct wr_fake_backend *fake);

/* Answers the batch that is held. */
void wr_fake_backend_release(struct wr_fake_backend *fake);

#endif
