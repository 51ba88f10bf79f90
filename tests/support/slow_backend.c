/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/slow_backend.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/lock.h"
#include "base/random.h"
#include "base/thread.h"

/* A batch that waits for its end. */
struct waiting {
    struct wr_batch *batch;
    struct waiting *next;
    int64_t due_mono_us;
    bool is_lost; /* ends by the timeout */
};

struct slow_backend {
    struct wr_backend backend;
    struct wr_slow_options options;   /* immutable */
    struct wr_backend *inner;         /* owned */
    struct wr_metrics_block *metrics; /* of the thread */
    struct wr_thread thread;
    uint64_t random; /* of the thread */
    pthread_cond_t changed;
    struct wr_mutex mutex; /* rank WR_LOCK_TEST */
    /* guarded by mutex */
    struct waiting *newest; /* owned list, newest first */
    uint64_t n_batches;
    bool is_stopping;
};

/* Where the inner backend's done ends: take goes on after it. */
static void decided(struct wr_batch *batch, void *context)
{
    (void) batch;
    *(bool *) context = true;
}

static void decide(struct slow_backend *slow, struct wr_batch *batch)
{
    bool is_decided = false;
    struct wr_batch inner = *batch;

    inner.done = decided;
    inner.context = &is_decided;
    wr_backend_take(slow->inner, &inner);
    WR_ASSERT(is_decided);
}

static void slow_backend_take(struct wr_backend *backend, struct wr_batch *batch)
{
    struct slow_backend *const slow = (struct slow_backend *) backend;
    const struct wr_slow_options *const options = &slow->options;
    struct waiting *const waiting = malloc(sizeof *waiting);

    WR_ASSERT(waiting != NULL);
    wr_mutex_lock(&slow->mutex);

    const bool is_never =
        options->never_every != 0 && ++slow->n_batches % options->never_every == 0;

    wr_mutex_unlock(&slow->mutex);
    if (!is_never) {
        decide(slow, batch);
    }
    *waiting = (struct waiting){
        .batch = batch,
        .is_lost = is_never || options->delay_us >= options->timeout_us,
    };
    waiting->due_mono_us =
        wr_clock_mono_us() + (waiting->is_lost ? options->timeout_us : options->delay_us);

    wr_mutex_lock(&slow->mutex);
    waiting->next = slow->newest;
    slow->newest = waiting;
    WR_ASSERT(pthread_cond_signal(&slow->changed) == 0);
    wr_mutex_unlock(&slow->mutex);
}

static bool is_due(const struct slow_backend *slow, const struct waiting *waiting, int64_t now_us,
                   bool is_answer_due)
{
    if (slow->is_stopping || waiting->due_mono_us <= now_us) {
        return true;
    }
    return is_answer_due && !waiting->is_lost && slow->options.order != WR_SLOW_IN_ORDER;
}

/* Unlinks all that are to end now; newest first, as they were. */
static struct waiting *unlink_due_locked(struct slow_backend *slow) WR_REQUIRES(slow->mutex)
{
    const int64_t now_us = wr_clock_mono_us();
    bool is_answer_due = false;
    struct waiting *due = NULL;
    struct waiting **end = &due;

    for (const struct waiting *w = slow->newest; w != NULL; w = w->next) {
        is_answer_due = is_answer_due || (!w->is_lost && w->due_mono_us <= now_us);
    }
    for (struct waiting **link = &slow->newest; *link != NULL;) {
        struct waiting *const w = *link;

        if (is_due(slow, w, now_us, is_answer_due)) {
            *link = w->next;
            w->next = NULL;
            *end = w;
            end = &w->next;
        } else {
            link = &w->next;
        }
    }
    return due;
}

static struct waiting *reverse(struct waiting *list)
{
    struct waiting *reversed = NULL;

    while (list != NULL) {
        struct waiting *const next = list->next;

        list->next = reversed;
        reversed = list;
        list = next;
    }
    return reversed;
}

/* Marsaglia's xorshift64. */
static bool toss(struct slow_backend *slow)
{
    (void) wr_random_next(&slow->random);
    return (slow->random >> 32 & 1) != 0;
}

/* A few riffles: each deals the list on two heaps by a coin and lays one on the other. */
static struct waiting *shuffle(struct slow_backend *slow, struct waiting *list)
{
    for (int round = 0; round < 7; round++) {
        struct waiting *heaps[2] = {NULL, NULL};

        while (list != NULL) {
            struct waiting *const next = list->next;
            struct waiting **const heap = &heaps[toss(slow)];

            list->next = *heap;
            *heap = list;
            list = next;
        }

        struct waiting **end = &heaps[0];

        while (*end != NULL) {
            end = &(*end)->next;
        }
        *end = heaps[1];
        list = heaps[0];
    }
    return list;
}

static struct waiting *order(struct slow_backend *slow, struct waiting *newest_first)
{
    switch (slow->options.order) {
    case WR_SLOW_IN_ORDER:
        return reverse(newest_first);
    case WR_SLOW_SHUFFLED:
        return shuffle(slow, newest_first);
    case WR_SLOW_REVERSED:
        break;
    }
    return newest_first;
}

static void end_batch(struct slow_backend *slow, const struct waiting *waiting)
{
    struct wr_batch *const batch = waiting->batch;

    if (waiting->is_lost) {
        for (size_t i = 0; i < batch->n_takes; i++) {
            batch->takes[i].answer = WR_TAKE_TIMEOUT;
        }
        wr_metrics_add(slow->metrics, WR_METRIC_STORE_TIMEOUT, batch->n_takes);
    }
    batch->done(batch, batch->context);
}

static void end_all(struct slow_backend *slow, struct waiting *list)
{
    while (list != NULL) {
        struct waiting *const next = list->next;

        end_batch(slow, list);
        free(list);
        list = next;
    }
}

/* Until something is due, comes or ends; returns at once when something is due already. */
static void wait_locked(struct slow_backend *slow) WR_REQUIRES(slow->mutex)
{
    int64_t due_us = INT64_MAX;

    for (const struct waiting *w = slow->newest; w != NULL; w = w->next) {
        due_us = w->due_mono_us < due_us ? w->due_mono_us : due_us;
    }
    if (due_us == INT64_MAX) {
        WR_ASSERT(pthread_cond_wait(&slow->changed, &slow->mutex.mutex) == 0);
        return;
    }

    const struct timespec deadline = {
        .tv_sec = (time_t) (due_us / 1000000),
        .tv_nsec = (long) (due_us % 1000000 * 1000),
    };

    (void) pthread_cond_timedwait(&slow->changed, &slow->mutex.mutex, &deadline);
}

static void run(void *context)
{
    struct slow_backend *const slow = context;

    wr_mutex_lock(&slow->mutex);
    while (!slow->is_stopping || slow->newest != NULL) {
        struct waiting *const due = unlink_due_locked(slow);

        if (due == NULL) {
            wait_locked(slow);
            continue;
        }
        wr_mutex_unlock(&slow->mutex);
        end_all(slow, order(slow, due));
        wr_mutex_lock(&slow->mutex);
    }
    wr_mutex_unlock(&slow->mutex);
}

static void free_slow(struct slow_backend *slow)
{
    WR_ASSERT(pthread_cond_destroy(&slow->changed) == 0);
    wr_mutex_fini(&slow->mutex);
    free(slow);
}

static void slow_backend_destroy(struct wr_backend *backend)
{
    struct slow_backend *const slow = (struct slow_backend *) backend;

    wr_mutex_lock(&slow->mutex);
    slow->is_stopping = true;
    WR_ASSERT(pthread_cond_signal(&slow->changed) == 0);
    wr_mutex_unlock(&slow->mutex);
    wr_thread_join(&slow->thread);
    wr_backend_destroy(slow->inner);
    free_slow(slow);
}

static const struct wr_backend_ops slow_backend_ops = {
    .take = slow_backend_take,
    .destroy = slow_backend_destroy,
};

static void init_changed(struct slow_backend *slow)
{
    pthread_condattr_t attributes;

    WR_ASSERT(pthread_condattr_init(&attributes) == 0);
    WR_ASSERT(pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) == 0);
    WR_ASSERT(pthread_cond_init(&slow->changed, &attributes) == 0);
    WR_ASSERT(pthread_condattr_destroy(&attributes) == 0);
}

enum wr_err wr_slow_backend_new(const struct wr_slow_options *options, struct wr_backend **inner,
                                struct wr_metrics *metrics, struct wr_backend **out_backend)
{
    WR_ASSERT(options->timeout_us > 0);

    struct slow_backend *const slow = calloc(1, sizeof *slow);

    if (slow == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    slow->backend.ops = &slow_backend_ops;
    slow->options = *options;
    slow->random = options->seed | 1;
    slow->inner = *inner;
    wr_mutex_init(&slow->mutex, WR_LOCK_TEST);
    init_changed(slow);
    slow->metrics = wr_metrics_block_new(metrics);

    const enum wr_err err = slow->metrics == NULL
                                ? WR_ERR_NO_MEMORY
                                : wr_thread_start(&slow->thread, "slow-store", run, slow);

    if (err != WR_OK) {
        free_slow(slow);
        return err;
    }
    *inner = NULL;
    *out_backend = &slow->backend;
    return WR_OK;
}
