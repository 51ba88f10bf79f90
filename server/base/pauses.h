/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long to wait before the next attempt: pauses that double, with a jitter, so that many clients
 * of a server that comes back do not come all at once. The formulas: Brooker, "Exponential Backoff
 * And Jitter".
 *
 * Threads: plain values of one owner.
 */
#ifndef WR_BASE_PAUSES_H
#define WR_BASE_PAUSES_H

#include <stdint.h>

struct wr_pauses {
    int64_t min_us, max_us; /* 0 < min <= max */
    uint32_t n;             /* failures in a row */
};

/* After a failure: the pause before the next attempt, 0 to min · 2^n, at most max. `random` is any
 * number. */
int64_t wr_pauses_next(struct wr_pauses *pauses, uint64_t random);

/* The same, from the half of it on: for servers that should not be asked again at once. */
int64_t wr_pauses_next_half(struct wr_pauses *pauses, uint64_t random);

/* After a success. */
void wr_pauses_reset(struct wr_pauses *pauses);

#endif
