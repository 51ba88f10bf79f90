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

#include "base/arena.h"
#include "base/clock.h"
#include "base/str.h"
#include "limit/limit.h"
#include "metrics/metrics.h"

/*
 * What the takes of one batch have to do with each other.
 *
 * BY_COUNT: each take is charged as the count of its limit says. WR_COUNT_ALL: always.
 * WR_COUNT_ADMITTED: when it fits. WR_COUNT_ALL_OR_NOTHING: when every enforced take of its group
 * fits, of whatever count; those that are not charged are looked at, and one that is over itself
 * leaves what it would have left alone. Before the check the hits of takes with one key in one
 * group add up. Refunds are given always, and refuse nobody; a take of 0
 * hits refuses its group when it is over.
 *
 * STOP: when any take, enforced or not, would go over, those that would are charged and the others
 * looked at; else all are charged. Counts and groups have no say.
 *
 * An enforced take that the store has no answer for where it has one for the others (no room for a
 * new counter) refuses its group, or stops the others, as one that is over does: whoever is told
 * to come again is not charged for it.
 *
 * Groups and STOP are atomic: nobody sees, or comes between, a part of it. A store in which the
 * takes of a batch can lie apart has them so by parts, each for itself (redis/key.h).
 */
enum wr_charge_mode {
    WR_CHARGE_BY_COUNT,
    WR_CHARGE_STOP,
};

/* Whether a take was decided, and why not. */
enum wr_take_answer {
    WR_TAKE_DECIDED,   /* the verdict holds */
    WR_TAKE_FULL,      /* a new counter, and there are as many live ones as allowed */
    WR_TAKE_NO_MEMORY, /* nothing was charged */
    WR_TAKE_TIMEOUT,   /* the store did not answer in time; whether it charged is not known */
    WR_TAKE_AWAY,      /* the store cannot be reached, or refuses to work: nothing was charged */
    WR_TAKE_FAILED,    /* the store answered with an error; whether it charged is not known */
    WR_TAKE_LATE,      /* the store woke after the take's time was over: nothing was charged */
};

struct wr_take {
    struct wr_str key;       /* canonical identity of the counter (design: identity); borrowed */
    struct wr_limit limit;   /* what is allowed */
    uint64_t hits;           /* 0 looks and takes nothing */
    uint32_t group;          /* takes of one number stand or fall together; see wr_charge_mode */
    bool is_refund;          /* gives hits back */
    bool is_enforced;        /* neither shadow nor quota: its refusal refuses the call */
    bool is_further;         /* not of the first limit of its rule */
    bool is_domain_group;    /* its group goes across the paths of a domain */
    bool must_book;          /* a cost already spent: booked even when late or known to be over */
    bool has_local_fallback; /* without an answer of a remote store, memory decides */
    bool refuses_unanswered; /* without an answer it refuses its group, as one that is over does */
    /* set by the backend */
    enum wr_take_answer answer;
    bool is_degraded;          /* decided by memory in place of a remote store */
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
    /* both of the thread that calls take, and used only inside take */
    struct wr_metrics_block *metrics;
    struct wr_arena *arena; /* of the call: for what the backend needs until done */
    wr_batch_done_fn done;
    void *context;         /* of done */
    struct wr_batch *next; /* for the backend's own queues */
};

/* Ends the batch with the same answer, which is no decision, for all of its takes. */
static inline void wr_batch_end(struct wr_batch *batch, enum wr_take_answer answer)
{
    for (size_t i = 0; i < batch->n_takes; i++) {
        batch->takes[i].answer = answer;
    }
    batch->done(batch, batch->context);
}

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
