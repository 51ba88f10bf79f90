/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between deciding and counting: a backend takes a batch and answers it once.
 *
 * Invariant: `done` is called exactly once a batch, inline or from any thread, in time: a backend
 * that waits for something ends the wait itself. A batch handed over is charged whatever becomes
 * of its caller.
 * Threads: take from any thread; `done` says where it runs.
 */
#ifndef WR_STORE_BACKEND_H
#define WR_STORE_BACKEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/str.h"
#include "limit/limit.h"
#include "metrics/metrics.h"

/* What the takes of one batch have to do with each other. More modes come with more kinds. */
enum wr_charge_mode {
    WR_CHARGE_ALL, /* nothing: each is charged whatever the others say */
};

/* Whether a take was decided, and why not. */
enum wr_take_answer {
    WR_TAKE_DECIDED,   /* the verdict holds */
    WR_TAKE_FULL,      /* a new counter, and there are as many live ones as allowed */
    WR_TAKE_NO_MEMORY, /* nothing was charged */
    WR_TAKE_TIMEOUT,   /* the store did not answer in time; whether it charged is not known */
};

struct wr_take {
    struct wr_str key;     /* canonical identity of the counter (design: identity); borrowed */
    struct wr_limit limit; /* what is allowed */
    uint64_t hits;         /* 0 looks and takes nothing */
    bool is_refund;        /* gives hits back */
    bool is_enforced;      /* neither shadow nor quota: its refusal refuses the call */
    /* set by the backend */
    enum wr_take_answer answer;
    struct wr_verdict verdict; /* when decided */
};

struct wr_batch;

/* Hands the batch back to its owner; may run inline in take. `context` is the batch's. */
typedef void (*wr_batch_done_fn)(struct wr_batch *batch, void *context);

struct wr_batch {
    struct wr_take *takes; /* borrowed from the call arena, as all below, until done */
    size_t n_takes;
    struct wr_now now;
    int64_t deadline_mono_us; /* the caller's; INT64_MAX when there is none */
    enum wr_charge_mode mode;
    struct wr_metrics_block *metrics; /* of the thread that calls take; used only inside take */
    wr_batch_done_fn done;
    void *context;         /* of done */
    struct wr_batch *next; /* for the backend's own queues */
};

struct wr_backend;

struct wr_backend_ops {
    void (*take)(struct wr_backend *backend, struct wr_batch *batch);
    void (*destroy)(struct wr_backend *backend);
};

/* First member of every backend. */
struct wr_backend {
    const struct wr_backend_ops *ops;
};

/* Judges and charges all takes of `batch`, in order, and calls its `done` once. */
static inline void wr_backend_take(struct wr_backend *backend, struct wr_batch *batch)
{
    backend->ops->take(backend, batch);
}

/* Frees the backend; no batch may be out. NULL is fine. */
static inline void wr_backend_destroy(struct wr_backend *backend)
{
    if (backend != NULL) {
        backend->ops->destroy(backend);
    }
}

#endif
