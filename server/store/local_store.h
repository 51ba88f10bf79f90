/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters in memory, lock-striped: a power of two of stripes, each on its own cache line with its
 * own mutex and open-addressing table. The keyed 128-bit hash of the canonical key is the identity.
 * Expired counters are reused in passing and swept in small bounded steps that ride along with
 * takes; tables grow in small steps and shrink.
 *
 * Invariant: a live counter is never thrown away, save that all that go by wall time are dropped
 * when the clock was set back by over an hour (see base/clock.h), and no more than `max_counters`
 * are live. Those of sliding_buckets and sliding_log count as several, by their size (see
 * store/stripe.h). Each stripe has an equal share: a hit on a new counter, or on one that has to
 * grow, is answered WR_TAKE_FULL when all of its stripe's share are live, after everything in the
 * stripe that has expired was removed; unless it is over the limit and not booked, which needs no
 * room. Nor does a look, nor a refund, save on buckets that have become more since they were hit.
 * Answers inline. One stripe is locked at a time and nothing is called under it, save for a group
 * that has a take of WR_COUNT_ALL_OR_NOTHING, and for WR_CHARGE_STOP: then all stripes of the takes
 * are locked at once, in ascending order. Needs the batch's arena for these, and answers every take
 * WR_TAKE_NO_MEMORY when it has none left. `must_book` and `has_local_fallback` mean nothing here.
 *
 * Groups: one after the other, in ascending order of their numbers. To its group, a take that is
 * answered WR_TAKE_FULL or WR_TAKE_NO_MEMORY is one that does not fit: an enforced one refuses it,
 * and the others are looked at; a shadow is left out. In a refused group those over by the sum of
 * their key's hits are all shown as over.
 * STOP: every take is judged by the count before the batch, as the incumbent does; hits of one key
 * do not add up. A take without room is answered so, and has no say in the others.
 * Threads: take from any thread; new and destroy by the owner.
 */
#ifndef WR_STORE_LOCAL_STORE_H
#define WR_STORE_LOCAL_STORE_H

#include <stdint.h>

#include "base/err.h"
#include "store/backend.h"

struct wr_local_store_options {
    uint64_t max_counters; /* live at once, > 0; rounded up to a multiple of the stripes */
    unsigned n_stripes;    /* a power of two; 0: chosen from the number of cores */
};

/* WR_ERR_NO_MEMORY, WR_ERR_SYSTEM (no random key). The caller destroys it by wr_backend_destroy. */
WR_MUST_USE enum wr_err wr_local_store_new(const struct wr_local_store_options *options,
                                           struct wr_backend **out_backend);

struct wr_local_store_stats {
    uint64_t n_counters;   /* slots in use, live or expired and not yet swept */
    uint64_t memory_bytes; /* of the tables */
};

/* Locks one stripe after the other. `backend` must be a local store. */
void wr_local_store_stats(struct wr_backend *backend, struct wr_local_store_stats *out_stats);

#endif
