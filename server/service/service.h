/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Deciding as a transport sees it: a question is put, and answered at once or, when the store takes
 * its time, after a wake.
 *
 *     put ── failed ──► failure
 *      │
 *      ├── is_answered ───────────────────────────────► answer
 *      └── not yet: leave ──► … store done ──► wake ──► answer
 *
 * Invariant: a question that was left is woken exactly once, and keeps its rules until answered.
 * Threads: init and fini by the owner; a question belongs to the worker that put it, only the wake
 * function is called from elsewhere.
 */
#ifndef WR_SERVICE_SERVICE_H
#define WR_SERVICE_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "metrics/metrics.h"
#include "service/failure.h"
#include "service/request.h"
#include "service/response.h"
#include "service/settings.h"

struct wr_backend;
struct wr_current_rules;
struct wr_service_worker;
struct wr_question;

/* All borrowed, and alive as long as the service. */
struct wr_service_options {
    const struct wr_settings *settings;
    struct wr_current_rules *rules;
    struct wr_backend *backend;
    size_t n_workers; /* threads that put questions */
};

struct wr_service {
    struct wr_service_options options;
    struct wr_service_worker *workers; /* owned; one a worker, each used by its thread alone */
    struct wr_log_limit store_line;    /* of the log line about a store without an answer */
};

/* WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_service_init(struct wr_service *service,
                                        const struct wr_service_options *options);

/* No question may be open. */
void wr_service_fini(struct wr_service *service);

/* False when a late call has nothing to book, whatever it asks. For the thread of `worker`. */
bool wr_service_has_bookings(struct wr_service *service, size_t worker);

/* Tells the owner thread of a question that was left to answer it now. From any thread. */
typedef void (*wr_wake_fn)(void *context);

/* What a question borrows from its call. */
struct wr_question_frame {
    size_t worker;                    /* of the calling thread, from 0 */
    struct wr_arena *arena;           /* of the call */
    struct wr_metrics_block *metrics; /* of the calling thread */
    struct wr_now now;
    int64_t deadline_mono_us; /* INT64_MAX when there is none */
    bool is_late;             /* it had passed on arrival */
    wr_wake_fn wake;
    void *context; /* of wake */
};

/*
 * Matches `request` and hands its takes to the store. `request` and the arena must live until the
 * answer. Of a late call only what must be booked even so is handed over, and the answer is not to
 * be fetched. WR_ERR_INVALID, WR_ERR_NOT_FOUND (no rules yet), WR_ERR_TOO_LARGE (more takes than
 * the settings allow), WR_ERR_NO_MEMORY: `*out_failure` says what to tell the caller, and nothing
 * was charged.
 */
WR_MUST_USE enum wr_err wr_question_put(struct wr_service *service,
                                        const struct wr_question_frame *frame,
                                        const struct wr_request *request,
                                        struct wr_question **out_question,
                                        struct wr_failure *out_failure);

/* True when the answer can be fetched now. */
bool wr_question_is_answered(struct wr_question *question);

/* Lets the calling thread go on to something else: wake will be called, perhaps at once. */
void wr_question_leave(struct wr_question *question);

/*
 * Fetches the answer, once. WR_ERR_NO_MEMORY, or WR_ERR_IO when the store gave no answer and the
 * failure mode is to fail the call: `*out_failure` is set. What the response borrows from the
 * rules is valid until wr_question_end.
 */
WR_MUST_USE enum wr_err wr_question_answer(struct wr_question *question,
                                           struct wr_response *out_response,
                                           struct wr_failure *out_failure);

/* After the answer was used. */
void wr_question_end(struct wr_question *question);

#endif
