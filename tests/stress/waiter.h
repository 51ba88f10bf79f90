/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A call that waits until its batch is answered, on whatever thread.
 *
 * Threads: done on any thread; all else on the thread of the call.
 */
#ifndef WR_TESTS_STRESS_WAITER_H
#define WR_TESTS_STRESS_WAITER_H

#include <pthread.h>

#include "base/lock.h"
#include "store/backend.h"

struct wr_waiter {
    struct wr_mutex mutex; /* rank WR_LOCK_TEST */
    pthread_cond_t changed;
    int n_done; /* guarded by mutex */
};

void wr_waiter_init(struct wr_waiter *waiter);

void wr_waiter_fini(struct wr_waiter *waiter);

/* The `done` of a batch whose context is the waiter. */
void wr_waiter_done(struct wr_batch *batch, void *context);

/* Returns when done was called since the last wait, and checks that it was once. */
void wr_waiter_wait(struct wr_waiter *waiter);

#endif
