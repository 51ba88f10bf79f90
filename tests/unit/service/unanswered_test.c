/* SPDX-License-Identifier: Apache-2.0 */
#include "service/unanswered.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/capture.h"

#define MAX_SUBJECTS 4

/* One descriptor: what its rule says, and what came from the store. */
struct part {
    enum wr_take_answer answer;
    bool is_degraded, is_shadow, is_unlimited;
    bool has_mode;
    enum wr_failure_mode mode;
};

/* A decision put together by hand, between its batch and its response. */
struct desk {
    struct wr_metrics *metrics;
    struct wr_settings settings;
    struct wr_log_limit line;
    struct wr_request request;
    struct wr_rule rules[MAX_SUBJECTS];
    struct wr_take takes[MAX_SUBJECTS];
    struct wr_layer layers[MAX_SUBJECTS];
    struct wr_subject subjects[MAX_SUBJECTS];
    struct wr_descriptor_status statuses[MAX_SUBJECTS];
    struct wr_decision decision;
};

static void desk_init(struct desk *desk, enum wr_failure_mode server, const struct part *parts,
                      size_t n)
{
    *desk = (struct desk){.metrics = wr_metrics_new(),
                          .settings = {.failure_mode = server},
                          .request = {.n_descriptors = n}};
    desk->decision = (struct wr_decision){
        .frame = {.settings = &desk->settings,
                  .metrics = wr_metrics_block_new(desk->metrics),
                  .store_line = &desk->line,
                  .now = {.mono_us = 5000000}},
        .request = &desk->request,
        .subjects = desk->subjects,
    };
    for (size_t i = 0; i < n; i++) {
        desk->rules[i] = (struct wr_rule){
            .is_shadow = parts[i].is_shadow,
            .policy = {.has_failure_mode = parts[i].has_mode, .failure_mode = parts[i].mode},
        };
        desk->takes[i] =
            (struct wr_take){.answer = parts[i].answer, .is_degraded = parts[i].is_degraded};
        desk->subjects[i] = (struct wr_subject){
            .kind = parts[i].is_unlimited ? WR_SUBJECT_UNLIMITED : WR_SUBJECT_LIMITED,
            .rule = &desk->rules[i],
            .layers = &desk->layers[i],
            .n_layers = 1,
        };
        desk->layers[i] = (struct wr_layer){
            .rule = &desk->rules[i],
            .policy = &desk->rules[i].policy,
            .take = parts[i].is_unlimited ? NULL : &desk->takes[i],
        };
        desk->statuses[i] = parts[i].is_unlimited || parts[i].answer == WR_TAKE_DECIDED
                                ? (struct wr_descriptor_status){.code = WR_CODE_OK}
                                : wr_unanswered_status(&desk->decision, &desk->subjects[i]);
    }
}

static void desk_fini(struct desk *desk)
{
    wr_metrics_destroy(desk->metrics);
}

Test(unanswered, the_mode_of_the_rule_goes_over_that_of_the_server)
{
    static const struct {
        enum wr_failure_mode server;
        struct part part;
        enum wr_code code;
        enum wr_metric metric;
    } rows[] = {
        {WR_FAILURE_ERROR, {.has_mode = false}, WR_CODE_UNKNOWN, WR_METRIC_FAILURE_ERROR},
        {WR_FAILURE_DENY, {.has_mode = false}, WR_CODE_OVER_LIMIT, WR_METRIC_FAILURE_DENY},
        {WR_FAILURE_LOCAL, {.has_mode = false}, WR_CODE_UNKNOWN, WR_METRIC_FAILURE_ERROR},
        {WR_FAILURE_ERROR,
         {.has_mode = true, .mode = WR_FAILURE_ALLOW},
         WR_CODE_OK,
         WR_METRIC_FAILURE_ALLOW},
        {WR_FAILURE_ALLOW,
         {.has_mode = true, .mode = WR_FAILURE_DENY},
         WR_CODE_OVER_LIMIT,
         WR_METRIC_FAILURE_DENY},
        {WR_FAILURE_ALLOW,
         {.has_mode = true, .mode = WR_FAILURE_ERROR},
         WR_CODE_UNKNOWN,
         WR_METRIC_FAILURE_ERROR},
        {WR_FAILURE_ALLOW,
         {.has_mode = true, .mode = WR_FAILURE_LOCAL},
         WR_CODE_UNKNOWN,
         WR_METRIC_FAILURE_ERROR},
        {WR_FAILURE_ERROR,
         {.is_shadow = true, .has_mode = true, .mode = WR_FAILURE_DENY},
         WR_CODE_OK,
         WR_METRIC_FAILURE_ALLOW},
    };
    static const enum wr_take_answer answers[] = {WR_TAKE_FULL, WR_TAKE_NO_MEMORY, WR_TAKE_TIMEOUT,
                                                  WR_TAKE_AWAY, WR_TAKE_FAILED,    WR_TAKE_LATE};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t a = 0; a < sizeof answers / sizeof answers[0]; a++) {
            struct part part = rows[i].part;
            struct desk desk;

            part.answer = answers[a];
            desk_init(&desk, rows[i].server, &part, 1);
            cr_assert_eq(desk.statuses[0].code, rows[i].code, "row %zu, answer %zu", i, a);
            cr_assert_not(desk.statuses[0].has_limit, "row %zu, answer %zu", i, a);
            wr_unanswered_count(&desk.decision, &desk.subjects[0]);
            cr_assert_eq(wr_metrics_sum(desk.metrics, rows[i].metric), 1, "row %zu", i);
            desk_fini(&desk);
        }
    }
}

#define LOST(how)                                                                                  \
    {                                                                                              \
        .answer = WR_TAKE_AWAY, .has_mode = true, .mode = (how)                                    \
    }

Test(unanswered, the_strictest_mode_that_decided_is_named)
{
    static const struct {
        struct part parts[MAX_SUBJECTS];
        size_t n;
        const char *decider;
    } rows[] = {
        {{{.answer = WR_TAKE_DECIDED}, {.is_unlimited = true}}, 2, ""},
        {{LOST(WR_FAILURE_ERROR)}, 1, ""},
        {{LOST(WR_FAILURE_LOCAL)}, 1, ""},
        {{LOST(WR_FAILURE_ALLOW)}, 1, "allow"},
        {{LOST(WR_FAILURE_DENY)}, 1, "deny"},
        {{{.is_degraded = true}}, 1, "local"},
        {{{.is_degraded = true}, LOST(WR_FAILURE_ALLOW)}, 2, "local"},
        {{LOST(WR_FAILURE_ALLOW), {.is_degraded = true}}, 2, "local"},
        {{LOST(WR_FAILURE_ALLOW), {.is_degraded = true}, LOST(WR_FAILURE_DENY)}, 3, "deny"},
        {{LOST(WR_FAILURE_DENY), LOST(WR_FAILURE_ERROR)}, 2, "deny"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        desk_init(&desk, WR_FAILURE_ERROR, rows[i].parts, rows[i].n);

        const struct wr_str decider = wr_unanswered_decider(&desk.decision);

        cr_assert(wr_str_equal(decider, wr_str_of(rows[i].decider)), "row %zu: %.*s", i,
                  (int) decider.len, decider.ptr);
        desk_fini(&desk);
    }
}

Test(unanswered, a_call_fails_for_the_reason_of_what_is_unknown)
{
    static const struct part parts[] = {
        {.answer = WR_TAKE_TIMEOUT, .has_mode = true, .mode = WR_FAILURE_ALLOW},
        {.is_unlimited = true},
        {.answer = WR_TAKE_LATE, .has_mode = true, .mode = WR_FAILURE_ERROR},
    };
    struct wr_failure failure;
    struct desk desk;

    desk_init(&desk, WR_FAILURE_DENY, parts, 3);
    cr_assert_eq(wr_unanswered_fail(&desk.decision, desk.statuses, &failure), WR_ERR_IO);
    cr_assert_eq(failure.status, WR_STATUS_UNAVAILABLE);
    cr_assert_gt(failure.retry_us, 0);
    cr_assert(wr_str_equal(
        failure.message, wr_str_of("the counter store came to it too late, and counted nothing")));
    desk_fini(&desk);
}

Test(unanswered, an_error_out_of_the_script_is_no_lost_time)
{
    static const struct part part = {.answer = WR_TAKE_FAILED};
    struct wr_failure failure;
    struct desk desk;

    desk_init(&desk, WR_FAILURE_ERROR, &part, 1);
    cr_assert_eq(wr_unanswered_fail(&desk.decision, desk.statuses, &failure), WR_ERR_IO);
    cr_assert(wr_str_equal(failure.message, wr_str_of("the counter store refused the script")));
    desk_fini(&desk);
}

Test(unanswered, the_log_names_the_mode_of_the_first_that_is_lost)
{
    static const struct {
        struct part parts[MAX_SUBJECTS];
        const char *said; /* NULL: nothing */
    } rows[] = {
        {{{.answer = WR_TAKE_DECIDED}, LOST(WR_FAILURE_DENY)}, "failure mode deny decides"},
        {{LOST(WR_FAILURE_LOCAL), LOST(WR_FAILURE_DENY)},
         "failure mode local decides as error until Redis has told how many replicas share the "
         "limits; --replicas (WEIR_REPLICAS) tells it at once"},
        {{{.answer = WR_TAKE_FULL, .mode = WR_FAILURE_LOCAL, .has_mode = true},
          LOST(WR_FAILURE_DENY)},
         "failure mode local has no room in memory either, and decides as error"},
        {{{.answer = WR_TAKE_DECIDED}, {.is_degraded = true}}, NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct capture capture;
        struct desk desk;

        desk_init(&desk, WR_FAILURE_ERROR, rows[i].parts, 2);
        capture_start(&capture);
        wr_unanswered_log(&desk.decision);
        wr_unanswered_log(&desk.decision);
        capture_stop(&capture);

        const char *const said = rows[i].said == NULL ? NULL : strstr(capture.text, rows[i].said);

        cr_assert_eq(said == NULL, rows[i].said == NULL, "row %zu: %s", i, capture.text);
        if (said == NULL) {
            cr_assert_str_eq(capture.text, "", "row %zu", i);
        } else {
            cr_assert_null(strstr(said + strlen(rows[i].said), "decides"), "row %zu: once a second",
                           i);
        }
        desk_fini(&desk);
    }
}
