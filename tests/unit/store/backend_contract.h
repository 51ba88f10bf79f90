/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every store must do (store/backend.h), as one suite of requests and verdicts. It counts by
 * the real clock, waits for `done` from whichever thread, and lets no more than two short windows
 * pass. Each run has counters of its own, so that a store can be used again.
 *
 * Threads: one.
 */
#ifndef WR_TESTS_UNIT_STORE_BACKEND_CONTRACT_H
#define WR_TESTS_UNIT_STORE_BACKEND_CONTRACT_H

#include "metrics/metrics.h"
#include "store/backend.h"

/* `metrics` is a block of this thread. */
struct contract {
    struct wr_backend *backend;
    struct wr_metrics_block *metrics;
};

/* Verdicts by tables: windows in order, looks, refunds, every count, groups, STOP. */
void contract_verdicts(const struct contract *contract);

/* Random calls against the model. */
void contract_random(const struct contract *contract);

/* Windows end when they said, and begin anew. */
void contract_windows(const struct contract *contract);

/* Many batches at once: each is answered once, and as many are admitted as the limit says. */
void contract_many(const struct contract *contract);

#endif
