/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters in memory, lock-striped: a power of two of stripes, each on its own cache line with its
 * own mutex and open-addressing table. The keyed 128-bit hash of the canonical key is the identity.
 * Expired counters are reused in passing and swept in small bounded steps that ride along with
 * takes; tables grow in small steps and shrink.
 *
 * Invariant: a live counter is never thrown away, save that all are dropped when the clock was set
 * back by over an hour (see base/clock.h), and no more than `max_counters` are live. Each stripe
 * has an equal share of them: a hit on a new counter is answered WR_TAKE_FULL when all of its
 * stripe's share are live, after everything in the stripe that has expired was removed. A look or a
 * refund needs no counter and so is never refused.
 * Answers inline. One stripe is locked at a time and nothing is called under it.
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
