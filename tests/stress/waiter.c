/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/waiter.h"

#include "base/assert.h"
#include "tests/stress/crew.h"

void wr_waiter_init(struct wr_waiter *waiter)
{
    waiter->n_done = 0;
    wr_mutex_init(&waiter->mutex, WR_LOCK_TEST);
    WR_ASSERT(pthread_cond_init(&waiter->changed, NULL) == 0);
}

void wr_waiter_fini(struct wr_waiter *waiter)
{
    wr_mutex_fini(&waiter->mutex);
    WR_ASSERT(pthread_cond_destroy(&waiter->changed) == 0);
}

void wr_waiter_done(struct wr_batch *batch, void *context)
{
    struct wr_waiter *const waiter = context;

    (void) batch;
    wr_mutex_lock(&waiter->mutex);
    waiter->n_done++;
    WR_ASSERT(pthread_cond_signal(&waiter->changed) == 0);
    wr_mutex_unlock(&waiter->mutex);
}

void wr_waiter_wait(struct wr_waiter *waiter)
{
    wr_mutex_lock(&waiter->mutex);
    while (waiter->n_done == 0) {
        WR_ASSERT(pthread_cond_wait(&waiter->changed, &waiter->mutex.mutex) == 0);
    }
    wr_check(waiter->n_done == 1, "a batch was answered %d times", waiter->n_done);
    waiter->n_done = 0;
    wr_mutex_unlock(&waiter->mutex);
}
