/* SPDX-License-Identifier: Apache-2.0 */
#include "service/service.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "rules/current.h"
#include "service/decision.h"
#include "store/backend.h"

#define CACHE_LINE 64

struct wr_service_worker {
    alignas(CACHE_LINE) struct wr_rules_view view;
};

/*
 * Who sees to the answer of a question whose batch is with the store. The owner thread and the
 * store each make one step, and whoever comes second knows it:
 *
 *     ASKED ── store done ──► ANSWERED ── owner looks ──► the owner answers inline
 *       │                        │
 *       │                        └─────── owner leaves ─► the owner wakes itself
 *       └── owner leaves ───► LEFT ────── store done ───► the store wakes the owner
 */
enum handoff {
    HANDOFF_ASKED,
    HANDOFF_ANSWERED,
    HANDOFF_LEFT,
};

struct wr_question {
    struct wr_decision *decision;
    struct wr_rules *rules; /* borrowed from the worker's view; owned once `is_left` */
    bool is_left;
    wr_wake_fn wake;
    void *context;
    atomic_int handoff; /* enum handoff; its exchanges pair the verdicts with their reader */
};

enum wr_err wr_service_init(struct wr_service *service, const struct wr_service_options *options)
{
    struct wr_service_worker *const workers =
        aligned_alloc(CACHE_LINE, options->n_workers * sizeof *workers);

    if (workers == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i < options->n_workers; i++) {
        workers[i] = (struct wr_service_worker){0};
    }
    *service = (struct wr_service){.options = *options, .workers = workers};
    return WR_OK;
}

void wr_service_fini(struct wr_service *service)
{
    for (size_t i = 0; i < service->options.n_workers; i++) {
        wr_rules_view_fini(&service->workers[i].view);
    }
    free(service->workers);
    service->workers = NULL;
}

static struct wr_rules *renew_rules(struct wr_service *service, size_t worker)
{
    return wr_rules_view_renew(&service->workers[worker].view, service->options.rules);
}

bool wr_service_has_bookings(struct wr_service *service, size_t worker)
{
    const struct wr_rules *const rules = renew_rules(service, worker);

    return rules != NULL && wr_rules_have_bookings(rules);
}

static void batch_done(struct wr_batch *batch, void *context)
{
    struct wr_question *const question = context;

    (void) batch;
    if (atomic_exchange_explicit(&question->handoff, HANDOFF_ANSWERED, memory_order_acq_rel) ==
        HANDOFF_LEFT) {
        question->wake(question->context);
    }
}

static void ask_store(struct wr_question *question, struct wr_backend *backend)
{
    struct wr_batch *const batch = wr_decision_batch(question->decision);

    batch->done = batch_done;
    batch->context = question;
    atomic_init(&question->handoff, HANDOFF_ASKED);
    if (batch->n_takes == 0) {
        batch_done(batch, question);
        return;
    }
    wr_backend_take(backend, batch);
}

enum wr_err wr_question_put(struct wr_service *service, const struct wr_question_frame *frame,
                            const struct wr_request *request, struct wr_question **out_question,
                            struct wr_failure *out_failure)
{
    struct wr_rules *const rules = renew_rules(service, frame->worker);
    const struct wr_decision_frame decision_frame = {
        .settings = service->options.settings,
        .rules = rules,
        .arena = frame->arena,
        .metrics = frame->metrics,
        .now = frame->now,
        .deadline_mono_us = frame->deadline_mono_us,
        .is_late = frame->is_late,
        .store_line = &service->store_line,
    };
    struct wr_question *const question = wr_arena_calloc(frame->arena, 1, sizeof *question);

    if (question == NULL) {
        return wr_fail_no_memory(out_failure);
    }
    question->rules = rules;
    question->wake = frame->wake;
    question->context = frame->context;

    const enum wr_err err =
        wr_decision_begin(&decision_frame, request, &question->decision, out_failure);

    if (err != WR_OK) {
        return err;
    }
    ask_store(question, service->options.backend);
    *out_question = question;
    return WR_OK;
}

bool wr_question_is_answered(struct wr_question *question)
{
    return atomic_load_explicit(&question->handoff, memory_order_acquire) == HANDOFF_ANSWERED;
}

void wr_question_leave(struct wr_question *question)
{
    question->rules = wr_rules_acquire(question->rules);
    question->is_left = true;
    if (atomic_exchange_explicit(&question->handoff, HANDOFF_LEFT, memory_order_acq_rel) ==
        HANDOFF_ANSWERED) {
        question->wake(question->context);
    }
}

enum wr_err wr_question_answer(struct wr_question *question, struct wr_response *out_response,
                               struct wr_failure *out_failure)
{
    return wr_decision_finish(question->decision, out_response, out_failure);
}

void wr_question_end(struct wr_question *question)
{
    if (question->is_left) {
        wr_rules_release(question->rules);
    }
}
