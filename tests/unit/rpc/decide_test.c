/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/decide.h"

#include <criterion/criterion.h>

#include "rules/current.h"
#include "tests/support/fake_backend.h"
#include "tests/support/fake_transport.h"
#include "tests/support/rules_text.h"

static const char *const yaml =
    "domain: edge\ndescriptors: [{key: k, rate_limit: {unit: minute, requests_per_unit: 10}}]\n";

/* Domain edge, one descriptor k=v. */
static const struct wr_str request = WR_STR("\x0a\x04"
                                            "edge\x12\x08\x0a\x06\x0a\x01k\x12\x01v");

static const char *const booking =
    "domain: edge\n"
    "descriptors:\n"
    "  - {key: k, rate_limit: {unit: minute, requests_per_unit: 10, count: all}}\n";

/* OK, 10 a minute, 1 left, 1 s. */
static const struct wr_str reply =
    WR_STR("\x08\x01\x12\x0e\x08\x01\x22\x04\x08\x0a\x10\x02\x18\x01\x22\x02\x08\x01");

static struct wr_now frozen(void *context)
{
    return *(struct wr_now *) context;
}

struct desk {
    struct wr_now now;
    struct wr_clock clock;
    struct wr_settings settings;
    struct wr_current_rules current;
    struct wr_fake_backend fake;
    struct wr_metrics *metrics;
    struct wr_service service;
    struct wr_decide decide;
    struct wr_method method;
    struct wr_fake_transport *transport;
};

static void desk_init(struct desk *desk)
{
    struct wr_rules *rules = wr_rules_of_text(yaml);

    *desk =
        (struct desk){.now = {.wall_us = 1000000000, .mono_us = 500}, .metrics = wr_metrics_new()};
    wr_clock_init(&desk->clock, frozen, &desk->now);
    wr_current_rules_init(&desk->current);
    wr_current_rules_publish(&desk->current, &rules);
    wr_fake_backend_init(&desk->fake);
    cr_assert_eq(wr_service_init(&desk->service,
                                 &(struct wr_service_options){
                                     .settings = &desk->settings,
                                     .rules = &desk->current,
                                     .backend = &desk->fake.backend,
                                     .n_workers = 1,
                                 }),
                 WR_OK);
    desk->decide = (struct wr_decide){.service = &desk->service,
                                      .clock = &desk->clock,
                                      .caps = {.max_descriptors = 2, .max_entries = 2}};
    desk->method = wr_decide_method(&desk->decide);
    desk->transport = wr_fake_transport_new(desk->metrics);
}

static void desk_fini(struct desk *desk)
{
    wr_fake_transport_destroy(desk->transport);
    wr_service_fini(&desk->service);
    wr_current_rules_fini(&desk->current);
    wr_metrics_destroy(desk->metrics);
}

static struct wr_fake_call *call_of(struct desk *desk, struct wr_str message, int64_t deadline_us)
{
    struct wr_fake_call *const call = wr_fake_call_new(desk->transport, &desk->method, deadline_us);

    if (message.ptr == NULL) {
        wr_fake_call_half_close(call);
    } else {
        wr_fake_call_message(call, message);
    }
    return call;
}

static void check_reply(const struct wr_fake_call *call)
{
    cr_assert(call->is_finished);
    cr_assert_eq(call->status, WR_STATUS_OK);
    cr_assert_eq(call->n_replies, 1);
    cr_assert_eq(call->replies[0].len, reply.len);
}

Test(decide, answers_inline_when_the_store_does)
{
    struct desk desk;

    desk_init(&desk);

    struct wr_fake_call *const call = call_of(&desk, request, INT64_MAX);

    check_reply(call);
    cr_assert(wr_str_has_prefix(call->replies[0], (struct wr_str) WR_STR("\x08\x01\x12\x0e")));
    cr_assert_eq(call->n_awaits, 0);
    cr_assert(wr_fake_call_is_over(call));
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS), 1);
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_OK), 1);
    wr_fake_call_free(call);
    desk_fini(&desk);
}

Test(decide, answers_after_a_wake_when_the_store_is_late)
{
    struct desk desk;

    desk_init(&desk);
    desk.fake.holds = true;

    struct wr_fake_call *const call = call_of(&desk, request, INT64_MAX);

    cr_assert_not(call->is_finished);
    cr_assert_eq(call->n_awaits, 1);
    wr_fake_backend_release(&desk.fake);
    cr_assert_eq(wr_fake_transport_run(desk.transport), 1);
    check_reply(call);
    cr_assert(wr_fake_call_is_over(call));
    wr_fake_call_free(call);
    desk_fini(&desk);
}

Test(decide, a_caller_that_leaves_leaves_nothing_behind)
{
    struct desk desk;

    desk_init(&desk);
    desk.fake.holds = true;

    struct wr_fake_call *const call = call_of(&desk, request, INT64_MAX);

    wr_fake_call_cancel(call);
    cr_assert_not(wr_fake_call_is_over(call), "the store still holds the batch");
    wr_fake_backend_release(&desk.fake);
    cr_assert_eq(wr_fake_transport_run(desk.transport), 1);
    cr_assert(wr_fake_call_is_over(call));
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_CANCELLED), 1);
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_OK), 0, "nobody was answered");
    wr_fake_call_free(call);
    desk_fini(&desk);
}

Test(decide, a_late_call_costs_nothing)
{
    struct desk desk;

    desk_init(&desk);

    struct wr_fake_call *const call = call_of(&desk, request, 500);

    cr_assert_eq(call->status, WR_STATUS_DEADLINE_EXCEEDED);
    cr_assert_eq(desk.fake.n_batches, 0);
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_LATE), 1);
    wr_fake_call_free(call);
    desk_fini(&desk);
}

static void publish_booking(struct desk *desk)
{
    struct wr_rules *rules = wr_rules_of_text(booking);

    wr_current_rules_publish(&desk->current, &rules);
}

Test(decide, a_late_call_books_what_is_spent_and_is_told_that_it_was_late)
{
    static const struct {
        struct wr_str message;
        enum wr_take_answer answer;
        size_t n_batches;
    } rows[] = {
        {WR_STR("\x0a\x04"
                "edge\x12\x08\x0a\x06\x0a\x01k\x12\x01v"),
         WR_TAKE_DECIDED, 1},
        {WR_STR("\x0a\x04"
                "edge\x12\x08\x0a\x06\x0a\x01k\x12\x01v"),
         WR_TAKE_FULL, 1},
        {WR_STR("\x0a\x04"
                "edge\x12\x08\x0a\x06\x0a\x01n\x12\x01v"),
         WR_TAKE_DECIDED, 0},
        {WR_STR("\x0a\x7f"), WR_TAKE_DECIDED, 0},
        {{NULL, 0}, WR_TAKE_DECIDED, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        desk_init(&desk);
        publish_booking(&desk);
        desk.fake.answers[0] = rows[i].answer;

        struct wr_fake_call *const call = call_of(&desk, rows[i].message, 500);

        cr_assert_eq(call->status, WR_STATUS_DEADLINE_EXCEEDED, "row %zu", i);
        cr_assert_eq(call->n_replies, 0, "row %zu", i);
        cr_assert_eq(desk.fake.n_batches, rows[i].n_batches, "row %zu", i);
        cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS), 1, "row %zu", i);
        cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_LATE), 1, "row %zu", i);
        cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_INVALID), 0, "row %zu", i);
        cr_assert(wr_fake_call_is_over(call), "row %zu", i);
        wr_fake_call_free(call);
        desk_fini(&desk);
    }
}

Test(decide, a_late_call_that_the_store_holds_is_told_after_the_wake_unless_it_left)
{
    for (int leaves = 0; leaves < 2; leaves++) {
        struct desk desk;

        desk_init(&desk);
        publish_booking(&desk);
        desk.fake.holds = true;

        struct wr_fake_call *const call = call_of(&desk, request, 500);

        cr_assert_eq(desk.fake.n_batches, 1);
        cr_assert_not(call->is_finished);
        if (leaves == 1) {
            wr_fake_call_cancel(call);
        }
        wr_fake_backend_release(&desk.fake);
        cr_assert_eq(wr_fake_transport_run(desk.transport), 1);
        cr_assert(wr_fake_call_is_over(call));
        cr_assert_eq(call->n_replies, 0);
        cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_LATE), 1);
        if (leaves == 0) {
            cr_assert_eq(call->status, WR_STATUS_DEADLINE_EXCEEDED);
        }
        wr_fake_call_free(call);
        desk_fini(&desk);
    }
}

Test(decide, a_call_in_time_is_answered_where_late_ones_book)
{
    struct desk desk;

    desk_init(&desk);
    publish_booking(&desk);

    struct wr_fake_call *const call = call_of(&desk, request, 501);

    check_reply(call);
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_LATE), 0);
    wr_fake_call_free(call);
    desk_fini(&desk);
}

Test(decide, refusals_have_their_codes_and_are_counted)
{
    static const struct {
        struct wr_str message;
        enum wr_status status;
        enum wr_metric metric;
    } rows[] = {
        {{NULL, 0}, WR_STATUS_INVALID_ARGUMENT, WR_METRIC_CALLS_INVALID},
        {WR_STR(""), WR_STATUS_INVALID_ARGUMENT, WR_METRIC_CALLS_INVALID},
        {WR_STR("\x0a\x7f"), WR_STATUS_INVALID_ARGUMENT, WR_METRIC_CALLS_INVALID},
        {WR_STR("\x0a\x01x\x12\x00\x12\x00\x12\x00"), WR_STATUS_RESOURCE_EXHAUSTED,
         WR_METRIC_CALLS_TOO_LARGE},
        {WR_STR("\x0a\x04"
                "edge\x12\x08\x0a\x06\x0a\x01k\x12\x01v\x12\x08\x0a\x06\x0a\x01k\x12\x01w"),
         WR_STATUS_RESOURCE_EXHAUSTED, WR_METRIC_CALLS_TOO_LARGE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        desk_init(&desk);
        desk.settings.max_takes = 1;

        struct wr_fake_call *const call = call_of(&desk, rows[i].message, INT64_MAX);

        cr_assert_eq(call->status, rows[i].status, "row %zu: %d", i, (int) call->status);
        cr_assert_eq(wr_metrics_sum(desk.metrics, rows[i].metric), 1, "row %zu", i);
        cr_assert_eq(desk.fake.n_batches, 0, "row %zu", i);
        cr_assert_gt(call->message.len, 0, "row %zu", i);
        wr_fake_call_free(call);
        desk_fini(&desk);
    }
}

Test(decide, a_store_without_an_answer_is_unavailable_with_details)
{
    struct desk desk;

    desk_init(&desk);
    desk.fake.answers[0] = WR_TAKE_TIMEOUT;

    struct wr_fake_call *const call = call_of(&desk, request, INT64_MAX);

    cr_assert_eq(call->status, WR_STATUS_UNAVAILABLE);
    cr_assert_gt(call->details.len, 0);
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_CALLS_FAILED), 1);
    wr_fake_call_free(call);
    desk_fini(&desk);
}
