/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One decision: from a request to a batch of takes, and from their verdicts to a response.
 *
 *     begin ── failed ──► failure
 *       │
 *       ├── nothing to count ─────────────┐
 *       └── batch ──► store ──► answered ──┴──► finish ──► response, or failure
 *
 * Invariant: nothing is charged unless the whole request is good; each descriptor gets one status,
 * in order; a certain refusal beats an unknown.
 * Knows neither transport nor store nor clock: it gets `now` and hands out a batch.
 * Threads: a decision belongs to its call's owner thread.
 */
#ifndef WR_SERVICE_DECISION_H
#define WR_SERVICE_DECISION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "metrics/metrics.h"
#include "rules/rules.h"
#include "service/failure.h"
#include "service/request.h"
#include "service/response.h"
#include "service/settings.h"
#include "store/backend.h"

struct wr_decision;

/* What a decision borrows from its call. */
struct wr_decision_frame {
    const struct wr_settings *settings;
    struct wr_rules *rules; /* the snapshot in force; NULL: none yet */
    struct wr_arena *arena;
    struct wr_metrics_block *metrics; /* of the owner thread */
    struct wr_now now;
    int64_t deadline_mono_us;        /* INT64_MAX when there is none */
    bool is_late;                    /* it had passed on arrival */
    struct wr_log_limit *store_line; /* of the log line about a store without an answer */
};

/*
 * Matches every descriptor of `request` and makes the batch; of a late call only what must be
 * booked even so, and there is no finish. `request` and the frame's arena must live until finish;
 * the rules too: a call that outlives its worker's view keeps its own reference.
 *
 * WR_ERR_INVALID, WR_ERR_NOT_FOUND (no rules yet), WR_ERR_TOO_LARGE (more takes than the settings
 * allow), WR_ERR_NO_MEMORY: `*out_failure` is set and nothing is charged.
 */
WR_MUST_USE enum wr_err wr_decision_begin(const struct wr_decision_frame *frame,
                                          const struct wr_request *request,
                                          struct wr_decision **out_decision,
                                          struct wr_failure *out_failure);

/* The takes to be judged, with mode, now and deadline set; the caller sets `done` and `context`.
 * Without takes the store need not be asked. */
struct wr_batch *wr_decision_batch(struct wr_decision *decision);

/*
 * Makes the response once the batch is answered. WR_ERR_NO_MEMORY, or WR_ERR_IO when the store gave
 * no answer and the failure mode is to fail the call: `*out_failure` is set.
 */
WR_MUST_USE enum wr_err wr_decision_finish(struct wr_decision *decision,
                                           struct wr_response *out_response,
                                           struct wr_failure *out_failure);

#endif
