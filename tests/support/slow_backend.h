/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A backend as slow as a remote one: it lets another backend decide at once, keeps the batch, and
 * calls `done` from a thread of its own - after a delay, in another order, or only when its
 * operation timeout has run out.
 *
 * Invariant: done is called once a batch and never inside take.
 * Threads: take from any thread; new and destroy by the owner.
 */
#ifndef WR_TESTS_SUPPORT_SLOW_BACKEND_H
#define WR_TESTS_SUPPORT_SLOW_BACKEND_H

#include <stdint.h>

#include "base/err.h"
#include "metrics/metrics.h"
#include "store/backend.h"

enum wr_slow_order {
    WR_SLOW_IN_ORDER, /* each batch when its delay is over */
    WR_SLOW_REVERSED, /* when the oldest is due all that wait, the newest first */
    WR_SLOW_SHUFFLED, /* when the oldest is due all that wait, in any order */
};

struct wr_slow_options {
    int64_t delay_us;   /* from take to done */
    int64_t timeout_us; /* > 0; a batch not answered by then ends as WR_TAKE_TIMEOUT */
    enum wr_slow_order order;
    unsigned never_every; /* of so many batches the last gets no answer; 0: none, 1: all */
    uint64_t seed;        /* of the shuffle */
};

/*
 * Takes `*inner` over, which must answer inline; its timeouts are counted in a block of `metrics`.
 * WR_ERR_NO_MEMORY, WR_ERR_SYSTEM: then `*inner` stays the caller's.
 * Destroying it answers what still waits, ends its thread and destroys the inner backend.
 */
WR_MUST_USE enum wr_err wr_slow_backend_new(const struct wr_slow_options *options,
                                            struct wr_backend **inner, struct wr_metrics *metrics,
                                            struct wr_backend **out_backend);

#endif
