/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/decide.h"

#include "wire/error_details.h"
#include "wire/response.h"

/* What a call keeps between its message and its answer; in the call arena. */
struct pending {
    struct wr_request request;
    struct wr_question *question;
    bool is_late;       /* its deadline had passed on arrival: it is told no more than that */
    bool is_left_alone; /* the caller has gone: the answer is for nobody */
};

/* Says to the caller why its call fails. */
static void fail(struct wr_call *call, const struct wr_failure *failure)
{
    struct wr_str details = {0};

    /* Without memory for the details the code and the sentence still go out. */
    (void) wr_error_details_encode(failure, call->arena, &details);
    call->ops->finish(call, failure->status, failure->message, details);
}

/* The same, and counts it. */
static void refuse(struct wr_call *call, enum wr_metric metric, const struct wr_failure *failure)
{
    wr_metrics_add(call->metrics, metric, 1);
    fail(call, failure);
}

static void fail_late(struct wr_call *call)
{
    static const struct wr_failure late = {
        .status = WR_STATUS_DEADLINE_EXCEEDED,
        .message = WR_STR("the deadline had passed on arrival; nothing was counted but on rules "
                          "with `count: all`"),
    };

    fail(call, &late);
}

static enum wr_metric metric_of(enum wr_err err)
{
    switch (err) {
    case WR_ERR_TOO_LARGE:
        return WR_METRIC_CALLS_TOO_LARGE;
    case WR_ERR_NOT_FOUND:
        return WR_METRIC_CALLS_NO_RULES;
    case WR_ERR_IO:
        return WR_METRIC_CALLS_FAILED;
    case WR_ERR_NO_MEMORY:
        return WR_METRIC_CALLS_NO_MEMORY;
    case WR_OK:
    case WR_ERR_INVALID:
    case WR_ERR_MALFORMED:
    case WR_ERR_EXISTS:
    case WR_ERR_SYSTEM:
    default:
        return WR_METRIC_CALLS_INVALID;
    }
}

static void refuse_no_memory(struct wr_call *call)
{
    struct wr_failure failure;

    (void) wr_fail_no_memory(&failure);
    refuse(call, WR_METRIC_CALLS_NO_MEMORY, &failure);
}

static void answer(struct wr_call *call, struct wr_question *question)
{
    struct wr_response response;
    struct wr_failure failure;
    struct wr_str message;
    const enum wr_err err = wr_question_answer(question, &response, &failure);

    if (err != WR_OK) {
        refuse(call, metric_of(err), &failure);
    } else if (!wr_response_encode(&response, call->arena, &message)) {
        refuse_no_memory(call);
    } else {
        wr_metrics_add(
            call->metrics,
            response.overall_code == WR_CODE_OK ? WR_METRIC_CALLS_OK : WR_METRIC_CALLS_OVER, 1);
        call->ops->reply(call, message);
    }
}

/* Ends a call whose question is answered. */
static void settle(struct wr_call *call, struct pending *pending)
{
    if (pending->is_late) {
        fail_late(call);
    } else if (!pending->is_left_alone) {
        answer(call, pending->question);
    }
    wr_question_end(pending->question);
}

static void wake(void *context)
{
    struct wr_call *const call = context;

    call->ops->wake(call);
}

static bool is_late(const struct wr_call *call, const struct wr_now *now)
{
    return now->mono_us >= call->deadline_mono_us;
}

static void decide(struct wr_decide *row, struct wr_call *call, const struct wr_now *now,
                   struct wr_str message)
{
    struct pending *const pending = wr_arena_calloc(call->arena, 1, sizeof *pending);
    struct wr_failure failure;

    if (pending == NULL) {
        refuse_no_memory(call);
        return;
    }
    pending->is_late = is_late(call, now);

    enum wr_err err =
        wr_request_decode(message, &row->caps, call->arena, &pending->request, &failure);

    if (err == WR_OK) {
        const struct wr_question_frame frame = {
            .worker = call->worker,
            .arena = call->arena,
            .metrics = call->metrics,
            .now = *now,
            .deadline_mono_us = call->deadline_mono_us,
            .is_late = pending->is_late,
            .wake = wake,
            .context = call,
        };

        err =
            wr_question_put(row->service, &frame, &pending->request, &pending->question, &failure);
    }
    if (err != WR_OK && pending->is_late) {
        fail_late(call);
        return;
    }
    if (err != WR_OK) {
        refuse(call, metric_of(err), &failure);
        return;
    }
    if (wr_question_is_answered(pending->question)) {
        settle(call, pending);
        return;
    }
    call->state = pending;
    call->ops->await(call);
    wr_question_leave(pending->question);
}

static void on_message(void *context, struct wr_call *call, struct wr_str message)
{
    static const struct wr_failure absent = {
        .status = WR_STATUS_INVALID_ARGUMENT,
        .message = WR_STR("the call ended without its request message"),
    };
    struct wr_decide *const row = context;
    const struct wr_now now = wr_clock_read(row->clock);

    wr_metrics_add(call->metrics, WR_METRIC_CALLS, 1);
    if (is_late(call, &now)) {
        wr_metrics_add(call->metrics, WR_METRIC_CALLS_LATE, 1);
    }
    if (is_late(call, &now) &&
        (message.ptr == NULL || !wr_service_has_bookings(row->service, call->worker))) {
        fail_late(call);
    } else if (message.ptr == NULL) {
        refuse(call, WR_METRIC_CALLS_INVALID, &absent);
    } else {
        decide(row, call, &now, message);
    }
}

static void on_wake(void *context, struct wr_call *call)
{
    struct pending *const pending = call->state;

    (void) context;
    settle(call, pending);
}

static void on_close(void *context, struct wr_call *call, bool is_cancelled)
{
    struct pending *const pending = call->state;

    (void) context;
    if (is_cancelled) {
        wr_metrics_add(call->metrics, WR_METRIC_CALLS_CANCELLED, 1);
    }
    if (pending != NULL) {
        pending->is_left_alone = true;
    }
}

struct wr_method wr_decide_method(struct wr_decide *row)
{
    return (struct wr_method){
        .path = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
        .kind = WR_METHOD_UNARY,
        .context = row,
        .on_message = on_message,
        .on_wake = on_wake,
        .on_close = on_close,
    };
}
