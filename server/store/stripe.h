/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stripe of the local store: a lock and what it guards, many small tables of counters. Every
 * take looks after one further table, so that what has expired goes as takes come by, and a table
 * that has something expired is swept before a counter is added to it.
 *
 * Takes are ordered by monotonic time: one whose clock was read before another's that came first is
 * late and counts at the other's wall time. When the clock was set back, which base/clock does by
 * over an hour or not at all, every counter is dropped, so that windows of all lengths begin anew.
 *
 * Invariant: no more than `share` counters are in the tables; until the clock is set back, a live
 * one is never removed, and wall time, as the stripe sees it, does not go back.
 * Threads: take and look from any thread; init and fini by the owner.
 */
#ifndef WR_STORE_STRIPE_H
#define WR_STORE_STRIPE_H

#include <stdalign.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/lock.h"
#include "store/backend.h"
#include "store/slot_table.h"

struct wr_stripe {
    alignas(64) struct wr_mutex mutex; /* rank WR_LOCK_STRIPE; stripes are locked one at a time */
    struct wr_slot_table *tables;      /* owned; `table_mask` + 1 of them; guarded, as all below */
    struct wr_now latest;              /* of the take whose clock was read last */
    uint64_t share;                    /* immutable; how many counters may be in use */
    uint64_t n_used;                   /* of the share */
    uint64_t turn;                     /* counts takes and tendings; says which table is next */
    uint32_t table_mask;               /* immutable */
    int64_t full_until_us;             /* when full: nothing expires before */
};

/* What happened besides the answers, for the metrics of the calling thread. */
struct wr_stripe_events {
    uint32_t n_contended; /* locks that another thread held */
    uint32_t n_restarts;  /* counters dropped because the clock was set back */
    uint32_t n_swept;     /* expired counters removed */
    uint64_t turn;        /* of the stripe at the latest take */
};

struct wr_stripe_size {
    uint64_t n_counters; /* in use */
    uint64_t memory_bytes;
};

/* A stripe for `share` counters, > 0. WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_stripe_init(struct wr_stripe *stripe, uint64_t share);

void wr_stripe_fini(struct wr_stripe *stripe);

/* Judges and charges `take`, whose key has `hash`, at `now`; adds to `events`. */
void wr_stripe_take(struct wr_stripe *stripe, const struct wr_hash *hash, struct wr_take *take,
                    const struct wr_now *now, struct wr_stripe_events *events);

/* Looks after the next table as a take does, unless another thread is at work in the stripe. */
void wr_stripe_tend(struct wr_stripe *stripe, const struct wr_now *now,
                    struct wr_stripe_events *events);

struct wr_stripe_size wr_stripe_measure(struct wr_stripe *stripe);

#endif
