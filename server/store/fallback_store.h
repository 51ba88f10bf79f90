/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A remote store with memory behind it: takes with `has_local_fallback` that come back from the
 * remote store without a decision, whatever the reason, are taken again in memory, from a limit of
 * ceil(limit ÷ replicas). A take that memory decided is `is_degraded`, and its limit is the one
 * that memory enforced; the others of the batch keep what the remote store said.
 *
 * What is counted: memory counts what it decides, and nothing is handed to the remote store a
 * second time. A take that ended as WR_TAKE_TIMEOUT may have been charged by the remote store too;
 * then both count it, and too little is let through rather than too much. A refund without an
 * answer is given in memory, where it makes good no more than memory has counted.
 *
 * Groups, and the whole batch in WR_CHARGE_STOP: where one such take has no decision, all takes of
 * the group that have the fallback are judged anew in memory, as a whole; where memory has no room
 * for one, what the remote store said of it holds. But a refusal is certain and stands: by the
 * remote store, or by a take that refuses when nobody decides it (`refuses_unanswered`). What else
 * of the group has no decision is then judged in memory as in a refused group, and so not charged
 * save for what counts refused or not.
 *
 * Invariant: the remote store sees each take once.
 * Threads: take from any thread; memory is asked, and `done` runs, where the remote store answers;
 * new and destroy by the owner.
 */
#ifndef WR_STORE_FALLBACK_STORE_H
#define WR_STORE_FALLBACK_STORE_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/err.h"
#include "metrics/metrics.h"
#include "store/backend.h"

struct wr_fallback_options {
    const _Atomic uint32_t *replicas; /* borrowed; that share a limit; 0: not known, and so
                                         memory decides nothing */
    struct wr_metrics *metrics;       /* borrowed; where memory's work is counted */
};

/* Takes both over; `*local` answers inline; `out_backend` may be `remote`. WR_ERR_NO_MEMORY: they
 * stay the caller's. */
WR_MUST_USE enum wr_err wr_fallback_store_new(const struct wr_fallback_options *options,
                                              struct wr_backend **remote, struct wr_backend **local,
                                              struct wr_backend **out_backend);

#endif
