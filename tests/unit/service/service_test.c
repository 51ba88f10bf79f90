/* SPDX-License-Identifier: Apache-2.0 */
#include "service/service.h"

#include <criterion/criterion.h>

#include "rules/current.h"
#include "tests/support/fake_backend.h"
#include "tests/support/rules_text.h"

static const char *const yaml =
    "domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 2}}]\n";

struct desk {
    struct wr_settings settings;
    struct wr_current_rules current;
    struct wr_fake_backend fake;
    struct wr_service service;
    struct wr_metrics *metrics;
    struct wr_arena arena;
    struct wr_question_frame frame;
    struct wr_question *question;
    struct wr_failure failure;
    int n_wakes;
};

static void wake(void *context)
{
    ((struct desk *) context)->n_wakes++;
}

static void publish_text(struct desk *desk, const char *text)
{
    struct wr_rules *rules = wr_rules_of_text(text);

    wr_current_rules_publish(&desk->current, &rules);
}

static void publish(struct desk *desk)
{
    publish_text(desk, yaml);
}

static void desk_init(struct desk *desk)
{
    *desk = (struct desk){.metrics = wr_metrics_new()};
    wr_arena_init(&desk->arena, 1024);
    wr_current_rules_init(&desk->current);
    wr_fake_backend_init(&desk->fake);
    cr_assert_eq(wr_service_init(&desk->service,
                                 &(struct wr_service_options){
                                     .settings = &desk->settings,
                                     .rules = &desk->current,
                                     .backend = &desk->fake.backend,
                                     .n_workers = 2,
                                 }),
                 WR_OK);
    desk->frame = (struct wr_question_frame){
        .worker = 1,
        .arena = &desk->arena,
        .metrics = wr_metrics_block_new(desk->metrics),
        .deadline_mono_us = INT64_MAX,
        .wake = wake,
        .context = desk,
    };
}

static void desk_fini(struct desk *desk)
{
    wr_service_fini(&desk->service);
    wr_current_rules_fini(&desk->current);
    wr_arena_fini(&desk->arena);
    wr_metrics_destroy(desk->metrics);
}

static enum wr_err put(struct desk *desk, const char *key)
{
    struct wr_entry *const entry = wr_arena_calloc(&desk->arena, 1, sizeof *entry);
    struct wr_descriptor *const descriptor = wr_arena_calloc(&desk->arena, 1, sizeof *descriptor);
    struct wr_request *const request = wr_arena_calloc(&desk->arena, 1, sizeof *request);

    *entry = (struct wr_entry){wr_str_of(key), WR_STR("v")};
    *descriptor = (struct wr_descriptor){.entries = entry, .n_entries = 1};
    *request =
        (struct wr_request){.domain = WR_STR("d"), .descriptors = descriptor, .n_descriptors = 1};
    return wr_question_put(&desk->service, &desk->frame, request, &desk->question, &desk->failure);
}

static void check_answer(struct desk *desk, bool has_limit)
{
    struct wr_response response;

    cr_assert_eq(wr_question_answer(desk->question, &response, &desk->failure), WR_OK);
    cr_assert_eq(response.overall_code, WR_CODE_OK);
    cr_assert_eq(response.n_statuses, 1);
    cr_assert_eq(response.statuses[0].has_limit, has_limit);
    wr_question_end(desk->question);
}

Test(service, has_no_answer_before_the_first_rules)
{
    struct desk desk;

    desk_init(&desk);
    cr_assert_eq(put(&desk, "k"), WR_ERR_NOT_FOUND);
    cr_assert_eq(desk.failure.status, WR_STATUS_UNAVAILABLE);
    publish(&desk);
    cr_assert_eq(put(&desk, "k"), WR_OK, "new rules are seen at the next question");
    check_answer(&desk, true);
    desk_fini(&desk);
}

Test(service, answers_at_once_when_the_store_does)
{
    struct desk desk;

    desk_init(&desk);
    publish(&desk);
    cr_assert_eq(put(&desk, "k"), WR_OK);
    cr_assert(wr_question_is_answered(desk.question));
    check_answer(&desk, true);
    cr_assert_eq(desk.n_wakes, 0);
    desk_fini(&desk);
}

Test(service, asks_the_store_only_when_there_is_something_to_count)
{
    struct desk desk;

    desk_init(&desk);
    publish(&desk);
    cr_assert_eq(put(&desk, "unknown"), WR_OK);
    cr_assert(wr_question_is_answered(desk.question));
    check_answer(&desk, false);
    cr_assert_eq(desk.fake.n_batches, 0);
    desk_fini(&desk);
}

Test(service, wakes_once_when_the_store_answers_after_the_owner_left)
{
    struct desk desk;

    desk_init(&desk);
    publish(&desk);
    desk.fake.holds = true;
    cr_assert_eq(put(&desk, "k"), WR_OK);
    cr_assert_not(wr_question_is_answered(desk.question));
    wr_question_leave(desk.question);
    cr_assert_eq(desk.n_wakes, 0);
    wr_fake_backend_release(&desk.fake);
    cr_assert_eq(desk.n_wakes, 1);
    check_answer(&desk, true);
    desk_fini(&desk);
}

Test(service, wakes_at_once_when_the_store_answers_before_the_owner_left)
{
    struct desk desk;

    desk_init(&desk);
    publish(&desk);
    desk.fake.holds = true;
    cr_assert_eq(put(&desk, "k"), WR_OK);
    wr_fake_backend_release(&desk.fake);
    cr_assert_eq(desk.n_wakes, 0);
    wr_question_leave(desk.question);
    cr_assert_eq(desk.n_wakes, 1);
    check_answer(&desk, true);
    desk_fini(&desk);
}

Test(service, a_question_keeps_its_rules_over_a_change)
{
    struct desk desk;

    desk_init(&desk);
    publish(&desk);
    desk.fake.holds = true;
    cr_assert_eq(put(&desk, "k"), WR_OK);
    wr_question_leave(desk.question);

    struct wr_question *const waiting = desk.question;

    publish(&desk);
    cr_assert_eq(put(&desk, "unknown"), WR_OK, "this question renews the worker's view");
    check_answer(&desk, false);
    wr_fake_backend_release(&desk.fake);
    desk.question = waiting;
    check_answer(&desk, true);
    desk_fini(&desk);
}

static const char *const booking =
    "domain: d\n"
    "descriptors: [{key: k, rate_limit: {unit: hour, requests_per_unit: 2, count: all}}]\n";

Test(service, knows_whether_a_late_call_can_have_something_to_book)
{
    struct desk desk;

    desk_init(&desk);
    cr_assert_not(wr_service_has_bookings(&desk.service, 1), "no rules yet");
    publish(&desk);
    cr_assert_not(wr_service_has_bookings(&desk.service, 1));
    publish_text(&desk, booking);
    cr_assert(wr_service_has_bookings(&desk.service, 1));
    desk_fini(&desk);
}

Test(service, a_late_question_hands_over_what_must_be_booked)
{
    struct desk desk;

    desk_init(&desk);
    publish_text(&desk, booking);
    desk.frame.is_late = true;
    cr_assert_eq(put(&desk, "unknown"), WR_OK);
    cr_assert(wr_question_is_answered(desk.question));
    cr_assert_eq(desk.fake.n_batches, 0);
    cr_assert_eq(put(&desk, "k"), WR_OK);
    cr_assert(wr_question_is_answered(desk.question));
    cr_assert_eq(desk.fake.n_batches, 1);
    cr_assert(desk.fake.seen[0].must_book);
    wr_question_end(desk.question);
    desk_fini(&desk);
}
