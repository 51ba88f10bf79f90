/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One stripe of the local store: a lock and what it guards, many small tables of counters. Every
 * visit looks after one further table, so that what has expired goes as takes come by, and a table
 * that has something expired is swept before a counter is added to it.
 *
 * Of an algorithm it knows what limit/algorithm.h says of each. A key has one algorithm, so one
 * class (store/state_class.h); each class has tables of its own, from its first counter on.
 *
 * A counter takes one place of the stripe's share. One whose state grows takes as many as its size
 * comes to: it begins in a small slot when it fits, and moves to a wide one, and to a block of its
 * own (store/block.h), when it no longer does. So what a share can hold is bounded in memory, too.
 *
 * Takes are ordered by monotonic time: one whose clock was read before another's that came first is
 * late and counts at the other's time. When the clock was set back, which base/clock does by over
 * an hour or not at all, every counter that goes by wall time is dropped, so that windows of all
 * lengths begin anew. The others go on.
 *
 * Invariant: no more than `share` places are in use; until the clock is set back, a live counter is
 * never removed, and neither wall nor monotonic time, as the stripe sees it, goes back.
 * Threads: take, tend, measure and enter from any thread; what ends in _locked between enter and
 * leave; init and fini by the owner.
 */
#ifndef WR_STORE_STRIPE_H
#define WR_STORE_STRIPE_H

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/lock.h"
#include "store/backend.h"
#include "store/slot_table.h"
#include "store/state_class.h"

/* What a take of a known counter needs comes first. */
struct wr_stripe {
    alignas(64) struct wr_mutex mutex; /* rank WR_LOCK_STRIPE */
    struct wr_now latest; /* of the take whose clock was read last; guarded, as all below */
    uint64_t turn;        /* counts visits; says which table is next */
    struct wr_slot_table *tables[WR_STATE_CLASSES]; /* owned; or NULL */
    uint32_t table_mask;                            /* immutable; see wr_stripe_table_mask */
    enum wr_state_class tended;                     /* whose tables are looked after in turn */
    uint64_t n_used;                                /* places of the share */
    uint64_t share;                                 /* immutable */
    struct wr_now full_until; /* when full: nothing expires before, by either clock */
};

/* What happened besides the answers, for the metrics of the calling thread. */
struct wr_stripe_events {
    uint32_t n_contended; /* locks that another thread held */
    uint32_t n_restarts;  /* counters dropped because the clock was set back */
    uint32_t n_swept;     /* expired counters removed */
    uint64_t turn;        /* of the stripe visited last */
};

struct wr_stripe_size {
    uint64_t n_counters; /* live, or expired and not yet swept */
    uint64_t memory_bytes;
};

/* A stripe for `share` counters, > 0. WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_stripe_init(struct wr_stripe *stripe, uint64_t share);

void wr_stripe_fini(struct wr_stripe *stripe);

/* Judges and charges `take`, whose key has `hash`, at `now`; adds to `events`, as all below. */
void wr_stripe_take(struct wr_stripe *stripe, const struct wr_hash *hash, struct wr_take *take,
                    const struct wr_now *now, struct wr_stripe_events *events);

/*
 * Locks the stripe for several takes at one time, `now` or the latest time seen. A thread that
 * enters several stripes does so in ascending order of address.
 */
void wr_stripe_enter(struct wr_stripe *stripe, const struct wr_now *now,
                     struct wr_stripe_events *events) WR_ACQUIRE(stripe->mutex);

void wr_stripe_leave(struct wr_stripe *stripe, struct wr_stripe_events *events)
    WR_RELEASE(stripe->mutex);

/* What a take of `hits` would come to. */
struct wr_verdict wr_stripe_peek_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                        const struct wr_limit *limit, uint64_t hits)
    WR_REQUIRES(stripe->mutex);

/*
 * Makes sure that takes of `hash`, by `limit`, of `hits` in all find room. WR_TAKE_DECIDED: they
 * do, and `*out_is_kept` is set when a place is kept for them until release; no take in between
 * gets it, nor expires the counter. Else WR_TAKE_FULL or WR_TAKE_NO_MEMORY.
 */
WR_MUST_USE enum wr_take_answer wr_stripe_reserve_locked(
    struct wr_stripe *stripe, const struct wr_hash *hash, const struct wr_limit *limit,
    uint64_t hits, struct wr_stripe_events *events, bool *out_is_kept) WR_REQUIRES(stripe->mutex);

/* Gives up a place that is kept; the next take gets it. */
void wr_stripe_release_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                              const struct wr_limit *limit) WR_REQUIRES(stripe->mutex);

/* Judges and charges `take` as `limit` has it, which is the take's, maybe with another count. */
void wr_stripe_charge_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                             struct wr_take *take, const struct wr_limit *limit,
                             struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex);

/* Looks after the next table as a visit does, unless another thread is at work in the stripe. */
void wr_stripe_tend(struct wr_stripe *stripe, const struct wr_now *now,
                    struct wr_stripe_events *events);

struct wr_stripe_size wr_stripe_measure(struct wr_stripe *stripe);

#endif
