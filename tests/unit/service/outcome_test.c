/* SPDX-License-Identifier: Apache-2.0 */
#include "service/decision.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/rules_text.h"

static const char *const yaml =
    "domain: d\n"
    "descriptors:\n"
    "  - {key: r, metadata: {m: r}, rate_limit: {unit: hour, requests_per_unit: 10, name: rule}}\n"
    "  - {key: s, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 10}}\n"
    "  - {key: q, quota_mode: true, rate_limit: {unit: hour, requests_per_unit: 10}}\n"
    "  - {key: b, shadow_mode: true, quota_mode: true,\n"
    "     rate_limit: {unit: hour, requests_per_unit: 10}}\n"
    "  - {key: u, rate_limit: {unlimited: true}}\n"
    "  - {key: e, rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: error}}\n"
    "  - {key: a, rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: allow}}\n"
    "  - {key: d, rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: deny}}\n"
    "  - {key: l, rate_limit: {unit: hour, requests_per_unit: 10, failure_mode: local}}\n"
    "  - {key: t, limits: [{unit: hour, requests_per_unit: 10}, {window: 2s, requests_per_unit: "
    "5},\n"
    "     {window: 1500ms, requests_per_unit: 4, name: tight, failure_mode: allow}]}\n"
    "  - {key: w, shadow_mode: true, limits: [{unit: hour, requests_per_unit: 10},\n"
    "     {window: 100ms, requests_per_unit: 5}]}\n";

/* How a descriptor comes out of the store. */
enum fate {
    PASS,
    OVER,
    LOST,  /* no answer */
    SHARE, /* passes by memory's share, 4 */
    SPENT, /* over it */
};

/* One call: a letter a descriptor is its key, '-' one that matches nothing; fates of its takes. */
struct call {
    const char *keys;
    enum fate fates[4];
    bool global_shadow, global_quota;
    enum wr_failure_mode mode;
};

struct desk {
    struct wr_arena arena;
    struct wr_metrics *metrics;
    struct wr_settings settings;
    struct wr_rules *rules;
    struct wr_log_limit line;
    struct wr_response response;
    struct wr_failure failure;
};

static void desk_init(struct desk *desk)
{
    *desk = (struct desk){.metrics = wr_metrics_new(), .rules = wr_rules_of_text(yaml)};
    wr_arena_init(&desk->arena, 1024);
}

static void desk_fini(struct desk *desk)
{
    wr_rules_release(desk->rules);
    wr_arena_fini(&desk->arena);
    wr_metrics_destroy(desk->metrics);
}

static void answer(struct wr_batch *batch, const enum fate *fates)
{
    for (size_t i = 0; i < batch->n_takes; i++) {
        struct wr_take *const take = &batch->takes[i];

        take->answer = fates[i] == LOST ? WR_TAKE_TIMEOUT : WR_TAKE_DECIDED;
        take->is_degraded = fates[i] == SHARE || fates[i] == SPENT;
        take->limit.requests = take->is_degraded ? 4 : take->limit.requests;
        take->verdict = (struct wr_verdict){
            .over = fates[i] == OVER || fates[i] == SPENT,
            .remaining = fates[i] == OVER || fates[i] == SPENT ? 0 : 9 - i,
            .reset_us = 1500000,
            .enforced = take->limit.requests,
        };
    }
}

static enum wr_err play(struct desk *desk, const struct call *call)
{
    const size_t n = strlen(call->keys);
    struct wr_entry *const entries = wr_arena_calloc(&desk->arena, n, sizeof *entries);
    struct wr_descriptor *const descriptors = wr_arena_calloc(&desk->arena, n, sizeof *descriptors);
    struct wr_request *const request = wr_arena_calloc(&desk->arena, 1, sizeof *request);
    struct wr_decision *decision = NULL;

    desk->settings.has_shadow_mode = call->global_shadow;
    desk->settings.has_quota_mode = call->global_quota;
    desk->settings.failure_mode = call->mode;
    for (size_t i = 0; i < n; i++) {
        entries[i] = (struct wr_entry){{&call->keys[i], 1}, WR_STR("v")};
        descriptors[i] = (struct wr_descriptor){.entries = &entries[i], .n_entries = 1};
    }
    *request =
        (struct wr_request){.domain = WR_STR("d"), .descriptors = descriptors, .n_descriptors = n};

    const struct wr_decision_frame frame = {
        .settings = &desk->settings,
        .rules = desk->rules,
        .arena = &desk->arena,
        .metrics = wr_metrics_block_new(desk->metrics),
        .store_line = &desk->line,
    };

    cr_assert_eq(wr_decision_begin(&frame, request, &decision, &desk->failure), WR_OK);
    answer(wr_decision_batch(decision), call->fates);
    return wr_decision_finish(decision, &desk->response, &desk->failure);
}

Test(outcome, shapes_of_statuses)
{
    struct desk desk;

    desk_init(&desk);
    cr_assert_eq(play(&desk, &(struct call){.keys = "r-urs", .fates = {PASS, OVER, OVER}}), WR_OK);

    const struct wr_descriptor_status *const s = desk.response.statuses;

    cr_assert_eq(desk.response.n_statuses, 5);
    cr_assert_eq(s[0].code, WR_CODE_OK);
    cr_assert_eq(s[0].limit_remaining, 9);
    cr_assert_eq(s[0].requests_per_unit, 10);
    cr_assert_eq(s[0].unit, WR_UNIT_HOUR);
    cr_assert(wr_str_equal(s[0].name, wr_str_of("rule")));
    cr_assert_eq(s[0].reset_us, 2000000, "whole seconds, rounded up");
    cr_assert_eq(s[1].code, WR_CODE_OK);
    cr_assert_not(s[1].has_limit);
    cr_assert_eq(s[1].limit_remaining, 0);
    cr_assert_eq(s[2].code, WR_CODE_OK);
    cr_assert_not(s[2].has_limit);
    cr_assert_eq(s[2].limit_remaining, UINT32_MAX);
    cr_assert_eq(s[3].code, WR_CODE_OVER_LIMIT);
    cr_assert(s[3].has_limit);
    cr_assert_eq(s[3].limit_remaining, 0);
    cr_assert_eq(s[4].code, WR_CODE_OK, "a shadow rule that is over shows OK");
    cr_assert(s[4].has_limit);
    cr_assert_eq(s[4].limit_remaining, 0);
    desk_fini(&desk);
}

Test(outcome, overall_code_with_quota_and_shadow)
{
    static const struct {
        struct call call;
        enum wr_code want;
    } rows[] = {
        {{.keys = "r", .fates = {PASS}}, WR_CODE_OK},
        {{.keys = "r", .fates = {OVER}}, WR_CODE_OVER_LIMIT},
        {{.keys = "rr", .fates = {PASS, OVER}}, WR_CODE_OVER_LIMIT},
        {{.keys = "s", .fates = {OVER}}, WR_CODE_OK},
        {{.keys = "q", .fates = {OVER}}, WR_CODE_OVER_LIMIT},
        {{.keys = "qq", .fates = {OVER, PASS}}, WR_CODE_OK},
        {{.keys = "qq", .fates = {OVER, OVER}}, WR_CODE_OVER_LIMIT},
        {{.keys = "qr", .fates = {OVER, PASS}}, WR_CODE_OVER_LIMIT},
        {{.keys = "qqr", .fates = {OVER, PASS, OVER}}, WR_CODE_OVER_LIMIT},
        {{.keys = "q-", .fates = {OVER}}, WR_CODE_OVER_LIMIT},
        {{.keys = "qu", .fates = {OVER}}, WR_CODE_OVER_LIMIT},
        {{.keys = "qb", .fates = {OVER, OVER}}, WR_CODE_OK},
        {{.keys = "rr", .fates = {OVER, PASS}, .global_quota = true}, WR_CODE_OK},
        {{.keys = "rr", .fates = {OVER, OVER}, .global_quota = true}, WR_CODE_OVER_LIMIT},
        {{.keys = "r-", .fates = {OVER}, .global_quota = true}, WR_CODE_OK},
        {{.keys = "ru", .fates = {OVER}, .global_quota = true}, WR_CODE_OVER_LIMIT},
        {{.keys = "r", .fates = {OVER}, .global_shadow = true}, WR_CODE_OK},
    };
    struct desk desk;

    desk_init(&desk);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(play(&desk, &rows[i].call), WR_OK, "row %zu", i);
        cr_assert_eq(desk.response.overall_code, rows[i].want, "row %zu: %s gave %d", i,
                     rows[i].call.keys, (int) desk.response.overall_code);
    }
    desk_fini(&desk);
}

Test(outcome, global_shadow_keeps_the_statuses_as_they_are)
{
    struct desk desk;

    desk_init(&desk);
    cr_assert_eq(play(&desk, &(struct call){.keys = "r", .fates = {OVER}, .global_shadow = true}),
                 WR_OK);
    cr_assert_eq(desk.response.statuses[0].code, WR_CODE_OVER_LIMIT);
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_GLOBAL_SHADOW), 1);
    desk_fini(&desk);
}

Test(outcome, failure_modes_and_a_certain_refusal)
{
    static const struct {
        struct call call;
        enum wr_err err;
        enum wr_code overall, first;
        enum wr_metric metric;
    } rows[] = {
        {{.keys = "r", .fates = {LOST}, .mode = WR_FAILURE_ERROR},
         WR_ERR_IO,
         WR_CODE_OK,
         WR_CODE_OK,
         WR_METRIC_FAILURE_ERROR},
        {{.keys = "r", .fates = {LOST}, .mode = WR_FAILURE_ALLOW},
         WR_OK,
         WR_CODE_OK,
         WR_CODE_OK,
         WR_METRIC_FAILURE_ALLOW},
        {{.keys = "r", .fates = {LOST}, .mode = WR_FAILURE_DENY},
         WR_OK,
         WR_CODE_OVER_LIMIT,
         WR_CODE_OVER_LIMIT,
         WR_METRIC_FAILURE_DENY},
        {{.keys = "rr", .fates = {LOST, OVER}, .mode = WR_FAILURE_ERROR},
         WR_OK,
         WR_CODE_OVER_LIMIT,
         WR_CODE_UNKNOWN,
         WR_METRIC_FAILURE_ERROR},
        {{.keys = "rr", .fates = {LOST, OVER}, .mode = WR_FAILURE_ALLOW},
         WR_OK,
         WR_CODE_OVER_LIMIT,
         WR_CODE_OK,
         WR_METRIC_FAILURE_ALLOW},
        {{.keys = "s", .fates = {LOST}, .mode = WR_FAILURE_DENY},
         WR_OK,
         WR_CODE_OK,
         WR_CODE_OK,
         WR_METRIC_FAILURE_ALLOW},
        {{.keys = "r", .fates = {LOST}, .mode = WR_FAILURE_ERROR, .global_shadow = true},
         WR_OK,
         WR_CODE_OK,
         WR_CODE_OK,
         WR_METRIC_FAILURE_ALLOW},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        desk_init(&desk);
        cr_assert_eq(play(&desk, &rows[i].call), rows[i].err, "row %zu", i);
        cr_assert_eq(wr_metrics_sum(desk.metrics, rows[i].metric), 1, "row %zu: metric", i);
        if (rows[i].err == WR_OK) {
            cr_assert_eq(desk.response.overall_code, rows[i].overall, "row %zu: overall", i);
            cr_assert_eq(desk.response.statuses[0].code, rows[i].first, "row %zu: status", i);
            cr_assert_not(desk.response.statuses[0].has_limit, "row %zu: limit", i);
        } else {
            cr_assert_eq(desk.failure.status, WR_STATUS_UNAVAILABLE, "row %zu", i);
            cr_assert_gt(desk.failure.retry_us, 0, "row %zu", i);
        }
        desk_fini(&desk);
    }
}

Test(outcome, rules_have_failure_modes_of_their_own)
{
    static const struct {
        struct call call;
        enum wr_err err;
        enum wr_code overall;
    } rows[] = {
        {{.keys = "e", .fates = {LOST}, .mode = WR_FAILURE_ALLOW}, WR_ERR_IO, WR_CODE_OK},
        {{.keys = "a", .fates = {LOST}, .mode = WR_FAILURE_ERROR}, WR_OK, WR_CODE_OK},
        {{.keys = "a", .fates = {LOST}, .mode = WR_FAILURE_DENY}, WR_OK, WR_CODE_OK},
        {{.keys = "d", .fates = {LOST}, .mode = WR_FAILURE_ALLOW}, WR_OK, WR_CODE_OVER_LIMIT},
        {{.keys = "ea", .fates = {LOST, LOST}}, WR_ERR_IO, WR_CODE_OK},
        {{.keys = "ed", .fates = {LOST, LOST}}, WR_OK, WR_CODE_OVER_LIMIT},
        {{.keys = "er", .fates = {LOST, OVER}}, WR_OK, WR_CODE_OVER_LIMIT},
        {{.keys = "ar", .fates = {LOST, PASS}}, WR_OK, WR_CODE_OK},
        {{.keys = "l", .fates = {LOST}, .mode = WR_FAILURE_ALLOW}, WR_ERR_IO, WR_CODE_OK},
        {{.keys = "l", .fates = {SHARE}}, WR_OK, WR_CODE_OK},
        {{.keys = "l", .fates = {SPENT}}, WR_OK, WR_CODE_OVER_LIMIT},
        {{.keys = "le", .fates = {SPENT, LOST}}, WR_OK, WR_CODE_OVER_LIMIT},
        {{.keys = "le", .fates = {SHARE, LOST}}, WR_ERR_IO, WR_CODE_OK},
        {{.keys = "r", .fates = {LOST}, .mode = WR_FAILURE_LOCAL}, WR_ERR_IO, WR_CODE_OK},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        desk_init(&desk);
        cr_assert_eq(play(&desk, &rows[i].call), rows[i].err, "row %zu", i);
        if (rows[i].err == WR_OK) {
            cr_assert_eq(desk.response.overall_code, rows[i].overall, "row %zu", i);
        } else {
            cr_assert_eq(desk.failure.status, WR_STATUS_UNAVAILABLE, "row %zu", i);
        }
        desk_fini(&desk);
    }
}

Test(outcome, a_status_by_memory_shows_its_share_and_is_counted)
{
    struct desk desk;

    desk_init(&desk);
    cr_assert_eq(play(&desk, &(struct call){.keys = "lrl", .fates = {SHARE, PASS, SPENT}}), WR_OK);
    cr_assert_eq(desk.response.statuses[0].requests_per_unit, 4);
    cr_assert_eq(desk.response.statuses[1].requests_per_unit, 10);
    cr_assert_eq(desk.response.statuses[2].requests_per_unit, 4);
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_FAILURE_LOCAL), 2);
    desk_fini(&desk);
}

Test(outcome, a_degraded_answer_says_so_to_who_asks)
{
    static const struct {
        struct call call;
        const char *said; /* NULL: nothing */
    } rows[] = {
        {{.keys = "r", .fates = {PASS}}, NULL},
        {{.keys = "-u"}, NULL},
        {{.keys = "lr", .fates = {SHARE, PASS}}, "local"},
        {{.keys = "ra", .fates = {PASS, LOST}}, "allow"},
        {{.keys = "rd", .fates = {PASS, LOST}}, "deny"},
        {{.keys = "er", .fates = {LOST, OVER}}, NULL},
    };

    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        const struct call *const call = &rows[i / 2].call;
        const char *const said = rows[i / 2].said;
        const bool asks = i % 2 == 1;
        struct desk desk;

        desk_init(&desk);
        desk.settings.has_dynamic_metadata = true;
        desk.settings.degraded_header = wr_str_of(asks ? "x-degraded" : "");
        cr_assert_eq(play(&desk, call), WR_OK, "row %zu", i / 2);
        cr_assert_eq(desk.response.n_headers, asks && said != NULL ? 1 : 0, "row %zu", i / 2);
        if (desk.response.n_headers > 0) {
            cr_assert(wr_str_equal(desk.response.headers[0].name, wr_str_of("x-degraded")));
            cr_assert(wr_str_equal(desk.response.headers[0].value, wr_str_of(said)));
        }

        const struct wr_value *const told =
            wr_value_get(desk.response.dynamic_metadata, wr_str_of("degraded"));

        cr_assert_eq(told != NULL, said != NULL, "row %zu", i / 2);
        cr_assert(told == NULL || wr_str_equal(told->as.string, wr_str_of(said)), "row %zu", i / 2);
        desk_fini(&desk);
    }
}

Test(outcome, headers_show_the_fewest_left_or_the_last_that_refuses)
{
    static const struct {
        struct call call;
        const char *remaining; /* NULL: no headers */
    } rows[] = {
        {{.keys = "rrr", .fates = {PASS, PASS, PASS}}, "7"},
        {{.keys = "rr", .fates = {OVER, PASS}}, "0"},
        {{.keys = "-u"}, NULL},
        {{.keys = "rs", .fates = {PASS, OVER}}, "0"},
    };
    struct desk desk;

    desk_init(&desk);
    desk.settings.has_response_headers = true;
    desk.settings.limit_header = wr_str_of("L");
    desk.settings.remaining_header = wr_str_of("R");
    desk.settings.reset_header = wr_str_of("S");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(play(&desk, &rows[i].call), WR_OK, "row %zu", i);
        if (rows[i].remaining == NULL) {
            cr_assert_eq(desk.response.n_headers, 0, "row %zu", i);
            continue;
        }
        cr_assert_eq(desk.response.n_headers, 3, "row %zu", i);
        cr_assert(wr_str_equal(desk.response.headers[0].value, wr_str_of("10")), "row %zu", i);
        cr_assert(wr_str_equal(desk.response.headers[1].value, wr_str_of(rows[i].remaining)),
                  "row %zu", i);
        cr_assert(wr_str_equal(desk.response.headers[2].value, wr_str_of("2")), "row %zu", i);
    }
    desk_fini(&desk);
}

Test(outcome, metadata_of_what_passed_only)
{
    struct desk desk;

    desk_init(&desk);
    desk.settings.has_dynamic_metadata = true;
    cr_assert_eq(play(&desk, &(struct call){.keys = "r", .fates = {PASS}}), WR_OK);
    cr_assert_not_null(wr_value_get(desk.response.dynamic_metadata, wr_str_of("metadata")));
    cr_assert_eq(play(&desk, &(struct call){.keys = "r", .fates = {OVER}}), WR_OK);
    cr_assert_null(wr_value_get(desk.response.dynamic_metadata, wr_str_of("metadata")));
    desk_fini(&desk);
}

Test(outcome, a_store_without_an_answer_is_said_to_be_why)
{
    struct desk desk;

    desk_init(&desk);
    cr_assert_eq(play(&desk, &(struct call){.keys = "r", .fates = {LOST}}), WR_ERR_IO);
    cr_assert(wr_str_equal(desk.failure.message,
                           wr_str_of("the counter store did not answer in time (--redis-timeout, "
                                     "or what the call's deadline left)")));
    desk_fini(&desk);
}

/* What the store says of one layer. */
struct answer {
    enum wr_take_answer answer;
    bool over;
    uint64_t remaining;
    int64_t reset_us;
};

/* The status of one descriptor of that key, whose layers are answered so. */
static const struct wr_descriptor_status *status_of(struct desk *desk, const char *key,
                                                    const struct answer *answers, size_t n)
{
    struct wr_entry *const entry = wr_arena_calloc(&desk->arena, 1, sizeof *entry);
    struct wr_descriptor *const descriptor = wr_arena_calloc(&desk->arena, 1, sizeof *descriptor);
    struct wr_request *const request = wr_arena_calloc(&desk->arena, 1, sizeof *request);
    const struct wr_decision_frame frame = {
        .settings = &desk->settings,
        .rules = desk->rules,
        .arena = &desk->arena,
        .metrics = wr_metrics_block_new(desk->metrics),
        .store_line = &desk->line,
    };
    struct wr_decision *decision = NULL;

    *entry = (struct wr_entry){wr_str_of(key), WR_STR("v")};
    *descriptor = (struct wr_descriptor){.entries = entry, .n_entries = 1};
    *request =
        (struct wr_request){.domain = WR_STR("d"), .descriptors = descriptor, .n_descriptors = 1};
    cr_assert_eq(wr_decision_begin(&frame, request, &decision, &desk->failure), WR_OK);

    struct wr_batch *const batch = wr_decision_batch(decision);

    cr_assert_eq(batch->n_takes, n);
    for (size_t i = 0; i < n; i++) {
        struct wr_take *const take = &batch->takes[i];

        take->answer = answers[i].answer;
        take->verdict = (struct wr_verdict){.over = answers[i].over,
                                            .remaining = answers[i].remaining,
                                            .reset_us = answers[i].reset_us,
                                            .enforced = take->limit.requests};
    }
    return wr_decision_finish(decision, &desk->response, &desk->failure) == WR_OK
               ? desk->response.statuses
               : NULL;
}

Test(outcome, of_several_layers_the_one_that_says_most_is_shown)
{
    static const struct {
        const char *key;
        struct answer answers[3];
        size_t n;
        enum wr_code code;
        uint32_t requests;
        enum wr_unit unit;
        const char *name;
        int64_t reset_us;
    } rows[] = {
        /* the fewest left */
        {"t",
         {{0, false, 4, 9}, {0, false, 3, 8}, {0, false, 3, 7}},
         3,
         WR_CODE_OK,
         5,
         WR_UNIT_SECOND,
         "2s",
         1000000},
        {"t",
         {{0, false, 2, 9}, {0, false, 3, 8}, {0, false, 3, 7}},
         3,
         WR_CODE_OK,
         10,
         WR_UNIT_HOUR,
         "",
         1000000},
        /* one refuses, the others have room */
        {"t",
         {{0, false, 1, 90000000}, {0, false, 1, 8}, {0, true, 0, 1400000}},
         3,
         WR_CODE_OVER_LIMIT,
         4,
         WR_UNIT_SECOND,
         "tight",
         2000000},
        /* one refuses, and what it left charged is full: the longer wait */
        {"t",
         {{0, false, 0, 90000000}, {0, false, 1, 8}, {0, true, 0, 1400000}},
         3,
         WR_CODE_OVER_LIMIT,
         10,
         WR_UNIT_HOUR,
         "",
         90000000},
        {"t",
         {{0, false, 0, 1300000}, {0, false, 1, 8}, {0, true, 0, 1400000}},
         3,
         WR_CODE_OVER_LIMIT,
         4,
         WR_UNIT_SECOND,
         "tight",
         2000000},
        {"t",
         {{0, false, 0, 1400000}, {0, true, 0, 1400000}, {0, false, 0, 1400000}},
         3,
         WR_CODE_OVER_LIMIT,
         5,
         WR_UNIT_SECOND,
         "2s",
         2000000},
        /* without an answer: no wait */
        {"t",
         {{0, true, 0, 1500000}, {0, false, 0, 1600000}, {WR_TAKE_TIMEOUT, false, 0, 90000000}},
         3,
         WR_CODE_OVER_LIMIT,
         5,
         WR_UNIT_SECOND,
         "2s",
         2000000},
        /* two refuse: the longest wait */
        {"t",
         {{0, true, 0, 90000000}, {0, true, 0, 8}, {0, false, 1, 7}},
         3,
         WR_CODE_OVER_LIMIT,
         10,
         WR_UNIT_HOUR,
         "",
         90000000},
        {"t",
         {{0, true, 0, 1500000}, {0, true, 0, 1600000}, {0, false, 1, 7}},
         3,
         WR_CODE_OVER_LIMIT,
         5,
         WR_UNIT_SECOND,
         "2s",
         2000000},
        /* on trial the numbers are those of what would have refused */
        {"w",
         {{0, false, 1, 9}, {0, true, 0, 70000}},
         2,
         WR_CODE_OK,
         5,
         WR_UNIT_SECOND,
         "100ms",
         70000},
        {"w",
         {{0, false, 0, 80000}, {0, true, 0, 70000}},
         2,
         WR_CODE_OK,
         10,
         WR_UNIT_HOUR,
         "",
         1000000},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        desk_init(&desk);

        const struct wr_descriptor_status *const status =
            status_of(&desk, rows[i].key, rows[i].answers, rows[i].n);

        cr_assert_not_null(status, "row %zu", i);
        cr_assert_eq(status->code, rows[i].code, "row %zu", i);
        cr_assert_eq(status->requests_per_unit, rows[i].requests, "row %zu", i);
        cr_assert_eq(status->unit, rows[i].unit, "row %zu", i);
        cr_assert(wr_str_equal(status->name, wr_str_of(rows[i].name)), "row %zu", i);
        cr_assert_eq(status->reset_us, rows[i].reset_us, "row %zu", i);
        desk_fini(&desk);
    }
}

Test(outcome, a_layer_that_refuses_goes_before_one_without_an_answer)
{
    static const struct {
        struct answer answers[3];
        bool has_status, has_limit; /* without a status the call fails */
        enum wr_code code;
    } rows[] = {
        {{{WR_TAKE_TIMEOUT, false, 0, 0}, {0, true, 0, 8}, {0, false, 1, 7}},
         true,
         true,
         WR_CODE_OVER_LIMIT},
        {{{WR_TAKE_TIMEOUT, false, 0, 0}, {0, false, 1, 8}, {0, false, 1, 7}},
         false,
         false,
         WR_CODE_UNKNOWN},
        {{{0, false, 1, 8}, {0, false, 1, 8}, {WR_TAKE_TIMEOUT, false, 0, 0}},
         true,
         true,
         WR_CODE_OK},
        {{{WR_TAKE_TIMEOUT, false, 0, 0}, {0, false, 1, 8}, {WR_TAKE_TIMEOUT, false, 0, 0}},
         false,
         false,
         WR_CODE_UNKNOWN},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        desk_init(&desk);

        const struct wr_descriptor_status *const status = status_of(&desk, "t", rows[i].answers, 3);

        cr_assert_eq(status != NULL, rows[i].has_status, "row %zu", i);
        if (status != NULL) {
            cr_assert_eq(status->code, rows[i].code, "row %zu", i);
            cr_assert_eq(status->has_limit, rows[i].has_limit, "row %zu", i);
        } else {
            cr_assert_eq(desk.failure.status, WR_STATUS_UNAVAILABLE, "row %zu", i);
        }
        desk_fini(&desk);
    }
}
