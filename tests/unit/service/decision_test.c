/* SPDX-License-Identifier: Apache-2.0 */
#include "service/decision.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/support/rules_text.h"

static const char *const yaml =
    "domain: d\n"
    "descriptors:\n"
    "  - {key: plain, rate_limit: {unit: minute, requests_per_unit: 5, name: p}}\n"
    "  - {key: hour, rate_limit: {unit: hour, requests_per_unit: 7}}\n"
    "  - {key: free, rate_limit: {unlimited: true, name: f, replaces: [{name: p}]}}\n"
    "  - {key: one, rate_limit: {unit: hour, requests_per_unit: 1, name: a, replaces: [{name: "
    "b}]}}\n"
    "  - {key: two, rate_limit: {unit: hour, requests_per_unit: 1, name: b, replaces: [{name: "
    "a}]}}\n"
    "  - {key: shadow, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}\n"
    "  - {key: quota, quota_mode: true, rate_limit: {unit: hour, requests_per_unit: 1}}\n"
    "  - {key: white}\n"
    "  - {key: files, value: 'f/*', share_threshold: true,\n"
    "     rate_limit: {unit: hour, requests_per_unit: 9}}\n"
    "  - {key: layers, limits: [{unit: hour, requests_per_unit: 9, name: h},\n"
    "     {window: 2s, requests_per_unit: 3, name: w, algorithm: token_bucket},\n"
    "     {window: 60m, requests_per_unit: 8, count: all, failure_mode: local}]}\n"
    "  - {key: trial, shadow_mode: true, limits: [{unit: hour}, {unit: day}]}\n"
    "  - {key: no-hour, rate_limit: {unit: hour, replaces: [{name: h}]}}\n"
    "  - {key: no-pair, rate_limit: {unit: hour, replaces: [{name: pair}]}}\n"
    "  - {key: pair, limits: [{unit: hour, name: pair}, {unit: day, name: pair}]}\n"
    "  - {key: bucket, rate_limit: {unit: hour, requests_per_unit: 100, burst: 7,\n"
    "     algorithm: token_bucket}}\n"
    "  - {key: ip, group_ip: {ipv6: 64}, rate_limit: {unit: hour, requests_per_unit: 9},\n"
    "     descriptors: [{key: path, rate_limit: {unit: minute, requests_per_unit: 9}}]}\n";

/* What one test works with. */
struct desk {
    struct wr_arena arena;
    struct wr_metrics *metrics;
    struct wr_settings settings;
    struct wr_log_limit line;
    struct wr_decision_frame frame;
    struct wr_decision *decision;
    struct wr_failure failure;
};

static void desk_init(struct desk *desk)
{
    *desk = (struct desk){.metrics = wr_metrics_new()};
    wr_arena_init(&desk->arena, 1024);
    desk->frame = (struct wr_decision_frame){
        .settings = &desk->settings,
        .rules = wr_rules_of_text(yaml),
        .arena = &desk->arena,
        .metrics = wr_metrics_block_new(desk->metrics),
        .store_line = &desk->line,
        .now = {.wall_us = 1000, .mono_us = 5},
        .deadline_mono_us = 77,
    };
}

static void desk_fini(struct desk *desk)
{
    wr_rules_release(desk->frame.rules);
    wr_arena_fini(&desk->arena);
    wr_metrics_destroy(desk->metrics);
}

static struct wr_descriptor of_entry(struct wr_entry *entry)
{
    return (struct wr_descriptor){.entries = entry, .n_entries = 1};
}

static enum wr_err begin(struct desk *desk, const char *domain,
                         const struct wr_descriptor *descriptors, size_t n, uint32_t hits)
{
    struct wr_request *const request = wr_arena_calloc(&desk->arena, 1, sizeof *request);

    *request = (struct wr_request){.domain = wr_str_of(domain),
                                   .descriptors = descriptors,
                                   .n_descriptors = n,
                                   .hits_addend = hits};
    return wr_decision_begin(&desk->frame, request, &desk->decision, &desk->failure);
}

/* Begins with one descriptor of one entry a key, value "v". */
static const struct wr_batch *batch_of(struct desk *desk, const char *const *keys, size_t n)
{
    struct wr_entry *const entries = wr_arena_calloc(&desk->arena, n, sizeof *entries);
    struct wr_descriptor *const descriptors = wr_arena_calloc(&desk->arena, n, sizeof *descriptors);

    for (size_t i = 0; i < n; i++) {
        entries[i] = (struct wr_entry){wr_str_of(keys[i]), wr_str_of("v")};
        descriptors[i] = of_entry(&entries[i]);
    }
    cr_assert_eq(begin(desk, "d", descriptors, n, 0), WR_OK);
    return wr_decision_batch(desk->decision);
}

Test(decision, refuses_a_request_without_domain_descriptors_or_rules)
{
    struct desk desk;
    struct wr_entry entry = {WR_STR("plain"), WR_STR("v")};
    const struct wr_descriptor descriptor = of_entry(&entry);

    desk_init(&desk);
    cr_assert_eq(begin(&desk, "", &descriptor, 1, 0), WR_ERR_INVALID);
    cr_assert_eq(desk.failure.status, WR_STATUS_INVALID_ARGUMENT);
    cr_assert(wr_str_equal(desk.failure.field, wr_str_of("domain")));
    cr_assert_eq(begin(&desk, "d", NULL, 0, 0), WR_ERR_INVALID);
    cr_assert(wr_str_equal(desk.failure.field, wr_str_of("descriptors")));

    struct wr_rules *const rules = desk.frame.rules;

    desk.frame.rules = NULL;
    cr_assert_eq(begin(&desk, "d", &descriptor, 1, 0), WR_ERR_NOT_FOUND);
    cr_assert_eq(desk.failure.status, WR_STATUS_UNAVAILABLE);
    cr_assert_gt(desk.failure.retry_us, 0);
    desk.frame.rules = rules;
    desk_fini(&desk);
}

Test(decision, hands_now_and_deadline_to_the_store)
{
    struct desk desk;

    desk_init(&desk);

    const struct wr_batch *const batch = batch_of(&desk, (const char *const[]){"plain"}, 1);

    cr_assert_eq(batch->now.wall_us, 1000);
    cr_assert_eq(batch->deadline_mono_us, 77);
    cr_assert_eq(batch->mode, WR_CHARGE_BY_COUNT);
    desk_fini(&desk);
}

Test(decision, takes_only_where_a_limit_applies)
{
    struct desk desk;

    desk_init(&desk);

    const struct wr_batch *const batch =
        batch_of(&desk, (const char *const[]){"hour", "white", "none", "shadow", "quota"}, 5);

    cr_assert_eq(batch->n_takes, 3);
    cr_assert_eq(batch->takes[0].limit.requests, 7);
    cr_assert_eq(batch->takes[0].limit.length_us, INT64_C(3600000000));
    cr_assert(batch->takes[0].is_enforced);
    cr_assert_not(batch->takes[1].is_enforced, "a shadow rule is not enforced");
    cr_assert_not(batch->takes[2].is_enforced, "a quota rule is not enforced");
    desk_fini(&desk);
}

Test(decision, hits_have_three_states_a_descriptor)
{
    static const struct {
        uint32_t request_hits;
        bool has_hits;
        uint64_t hits;
        bool is_negative;
        uint64_t want;
    } rows[] = {
        {0, false, 0, false, 1},
        {3, false, 0, false, 3},
        {3, true, 0, false, 0},
        {3, true, 300, false, 300},
        {0, true, UINT64_MAX, false, UINT64_MAX},
        {0, false, 0, true, 1},
        {4, false, 0, true, 4},
        {4, true, 5, true, 5},
        {4, true, 0, true, 0},
    };
    struct desk desk;

    desk_init(&desk);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_entry entry = {WR_STR("plain"), WR_STR("v")};
        struct wr_descriptor descriptor = of_entry(&entry);

        descriptor.has_hits_addend = rows[i].has_hits;
        descriptor.hits_addend = rows[i].hits;
        descriptor.is_negative_hits = rows[i].is_negative;
        cr_assert_eq(begin(&desk, "d", &descriptor, 1, rows[i].request_hits), WR_OK);

        const struct wr_take *const take = wr_decision_batch(desk.decision)->takes;

        cr_assert_eq(take->hits, rows[i].want, "row %zu: hits", i);
        cr_assert_eq(take->is_refund, rows[i].is_negative, "row %zu: refund", i);
    }
    desk_fini(&desk);
}

Test(decision, an_override_keeps_the_counter_of_a_rule_with_its_unit)
{
    struct desk desk;
    struct wr_entry entry = {WR_STR("plain"), WR_STR("v")};
    struct wr_descriptor descriptors[] = {of_entry(&entry), of_entry(&entry), of_entry(&entry)};

    descriptors[1].has_override = true;
    descriptors[1].override = (struct wr_override){.requests_per_unit = 50, .unit = WR_UNIT_MINUTE};
    descriptors[2].has_override = true;
    descriptors[2].override = (struct wr_override){.requests_per_unit = 50, .unit = WR_UNIT_HOUR};
    desk_init(&desk);
    cr_assert_eq(begin(&desk, "d", descriptors, 3, 0), WR_OK);

    const struct wr_take *const takes = wr_decision_batch(desk.decision)->takes;

    cr_assert(wr_str_equal(takes[0].key, takes[1].key));
    cr_assert_not(wr_str_equal(takes[0].key, takes[2].key));
    cr_assert_eq(takes[1].limit.requests, 50);
    desk_fini(&desk);
}

Test(decision, a_bad_override_fails_the_call_and_names_the_field)
{
    static const int32_t units[] = {0, 8, 99, -1, INT32_MIN};
    struct desk desk;
    struct wr_entry entry = {WR_STR("plain"), WR_STR("v")};

    desk_init(&desk);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        struct wr_descriptor descriptors[] = {of_entry(&entry), of_entry(&entry)};

        descriptors[1].has_override = true;
        descriptors[1].override.unit = units[i];
        cr_assert_eq(begin(&desk, "d", descriptors, 2, 0), WR_ERR_INVALID, "unit %d", units[i]);
        cr_assert_eq(desk.failure.status, WR_STATUS_INVALID_ARGUMENT);
        cr_assert(wr_str_equal(desk.failure.field, wr_str_of("descriptors[1].limit.unit")));
        cr_assert_eq(begin(&desk, "elsewhere", descriptors, 2, 0), WR_OK,
                     "an unknown domain is OK whatever the override says");
        cr_assert_eq(wr_decision_batch(desk.decision)->n_takes, 0);
    }
    desk_fini(&desk);
}

/* Three layers, one of another rule, an override, and what needs no take. */
static const struct {
    const char *key;
    bool has_override;
} many[] = {{"layers", false}, {"plain", false}, {"free", false}, {"white", false}, {"none", true}};

#define N_MANY (sizeof many / sizeof many[0])
#define N_MANY_TAKES 5

Test(decision, limits_met_by_a_call_are_bounded_before_anything_is_made)
{
    static const struct {
        size_t max_takes;
        enum wr_err err;
    } rows[] = {
        {0, WR_OK}, /* no bound */
        {N_MANY_TAKES, WR_OK},
        {N_MANY_TAKES - 1, WR_ERR_TOO_LARGE},
        {1, WR_ERR_TOO_LARGE},
    };
    struct desk desk;
    struct wr_entry entries[N_MANY];
    struct wr_descriptor descriptors[N_MANY];

    desk_init(&desk);
    for (size_t i = 0; i < N_MANY; i++) {
        entries[i] = (struct wr_entry){wr_str_of(many[i].key), WR_STR("v")};
        descriptors[i] = of_entry(&entries[i]);
        descriptors[i].has_override = many[i].has_override;
        descriptors[i].override.unit = WR_UNIT_HOUR;
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char want[96];

        desk.settings.max_takes = rows[i].max_takes;
        desk.failure = (struct wr_failure){0};
        cr_assert_eq(begin(&desk, "d", descriptors, N_MANY, 0), rows[i].err, "row %zu", i);
        if (rows[i].err == WR_OK) {
            continue;
        }
        (void) snprintf(want, sizeof want,
                        "descriptors meet more than %zu limits, this server's --max-takes",
                        rows[i].max_takes);
        cr_assert_eq(desk.failure.status, WR_STATUS_RESOURCE_EXHAUSTED, "row %zu", i);
        cr_assert(wr_str_equal(desk.failure.message, wr_str_of(want)), "row %zu", i);
        cr_assert(wr_str_equal(desk.failure.field, wr_str_of("descriptors")), "row %zu", i);
    }
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_DESCRIPTORS), 2 * N_MANY,
                 "what is refused is not counted as decided");
    desk_fini(&desk);
}

Test(decision, a_replaced_rule_is_not_counted)
{
    struct desk desk;

    desk_init(&desk);

    /* free replaces p, though it is unlimited itself; one and two replace each other. */
    const struct wr_batch *const batch =
        batch_of(&desk, (const char *const[]){"plain", "free", "one", "two", "hour"}, 5);

    cr_assert_eq(batch->n_takes, 1);
    cr_assert_eq(batch->takes[0].limit.requests, 7);
    desk_fini(&desk);
}

Test(decision, values_that_share_a_threshold_share_a_counter)
{
    struct desk desk;
    struct wr_entry entries[] = {{WR_STR("files"), WR_STR("f/1")},
                                 {WR_STR("files"), WR_STR("f/2")},
                                 {WR_STR("hour"), WR_STR("f/1")},
                                 {WR_STR("hour"), WR_STR("f/2")}};
    struct wr_descriptor descriptors[4];

    for (size_t i = 0; i < 4; i++) {
        descriptors[i] = of_entry(&entries[i]);
    }
    desk_init(&desk);
    cr_assert_eq(begin(&desk, "d", descriptors, 4, 0), WR_OK);

    const struct wr_take *const takes = wr_decision_batch(desk.decision)->takes;

    cr_assert(wr_str_equal(takes[0].key, takes[1].key));
    cr_assert_not(wr_str_equal(takes[2].key, takes[3].key));
    desk_fini(&desk);
}

Test(decision, a_descriptor_without_entries_has_no_limit)
{
    const struct wr_descriptor descriptor = {.n_entries = 0};
    struct desk desk;

    desk_init(&desk);
    cr_assert_eq(begin(&desk, "d", &descriptor, 1, 0), WR_OK);
    cr_assert_eq(wr_decision_batch(desk.decision)->n_takes, 0);
    desk_fini(&desk);
}

static void use_rules(struct desk *desk, const char *text)
{
    wr_rules_release(desk->frame.rules);
    desk->frame.rules = wr_rules_of_text(text);
}

static const char *const mixed =
    "domain: d\n"
    "descriptors:\n"
    "  - {key: none, rate_limit: {unit: hour, requests_per_unit: 9}}\n"
    "  - {key: all, rate_limit: {unit: hour, requests_per_unit: 9, count: all}}\n"
    "  - {key: fit, rate_limit: {unit: hour, requests_per_unit: 9, count: admitted}}\n"
    "  - {key: local, rate_limit: {unit: hour, requests_per_unit: 9, failure_mode: local}}\n"
    "  - {key: error, rate_limit: {unit: hour, requests_per_unit: 9, failure_mode: error}}\n"
    "  - {key: free, rate_limit: {unlimited: true, count: all, failure_mode: local}}\n";

Test(decision, a_domain_stands_together_when_it_or_a_rule_of_it_says_so)
{
    static const struct {
        const char *more; /* behind the rules */
        bool is_group;
        enum wr_count count; /* of the rule that says none */
    } rows[] = {
        {"", false, WR_COUNT_ALL},
        {"count: all\n", false, WR_COUNT_ALL},
        {"count: admitted\n", false, WR_COUNT_ADMITTED},
        {"count: all_or_nothing\n", true, WR_COUNT_ALL_OR_NOTHING},
        {"  - {key: k, rate_limit: {unit: day, count: all_or_nothing}}\n", true, WR_COUNT_ALL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[2048];
        struct desk desk;

        (void) snprintf(text, sizeof text, "%s%s", mixed, rows[i].more);
        desk_init(&desk);
        use_rules(&desk, text);

        const struct wr_take *const takes =
            batch_of(&desk, (const char *const[]){"none", "all", "fit"}, 3)->takes;

        cr_assert_eq(takes[0].limit.count, rows[i].count, "row %zu", i);
        cr_assert_eq(takes[1].limit.count, WR_COUNT_ALL, "row %zu: the rule's own", i);
        cr_assert_eq(takes[2].limit.count, WR_COUNT_ADMITTED, "row %zu: the rule's own", i);
        for (size_t k = 0; k < 3; k++) {
            cr_assert_eq(takes[k].group, rows[i].is_group ? 0 : k, "row %zu, take %zu", i, k);
            cr_assert_eq(takes[k].is_domain_group, rows[i].is_group, "row %zu, take %zu", i, k);
        }
        desk_fini(&desk);
    }
}

Test(decision, an_override_is_charged_as_the_rule_on_its_path_or_its_domain_says)
{
    static const struct {
        const char *more, *key;
        enum wr_count count;
        bool must_book, has_local_fallback;
    } rows[] = {
        {"", "none", WR_COUNT_ALL, false, false},
        {"", "all", WR_COUNT_ALL, true, false},
        {"", "fit", WR_COUNT_ADMITTED, false, false},
        {"", "local", WR_COUNT_ALL, false, true},
        {"", "free", WR_COUNT_ALL, true, true},
        {"", "nowhere", WR_COUNT_ALL, false, false},
        {"count: admitted\n", "nowhere", WR_COUNT_ADMITTED, false, false},
        {"count: admitted\n", "none", WR_COUNT_ADMITTED, false, false},
        {"count: all_or_nothing\n", "nowhere", WR_COUNT_ALL_OR_NOTHING, false, false},
        {"count: all_or_nothing\n", "all", WR_COUNT_ALL, true, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_entry entry = {wr_str_of(rows[i].key), WR_STR("v")};
        struct wr_descriptor descriptor = of_entry(&entry);
        char text[2048];
        struct desk desk;

        (void) snprintf(text, sizeof text, "%s%s", mixed, rows[i].more);
        descriptor.has_override = true;
        descriptor.override = (struct wr_override){.requests_per_unit = 50, .unit = WR_UNIT_MINUTE};
        desk_init(&desk);
        use_rules(&desk, text);
        cr_assert_eq(begin(&desk, "d", &descriptor, 1, 0), WR_OK);

        const struct wr_take *const take = wr_decision_batch(desk.decision)->takes;

        cr_assert_eq(take->limit.requests, 50, "row %zu", i);
        cr_assert_eq(take->limit.length_us, 60000000, "row %zu", i);
        cr_assert_eq(take->limit.count, rows[i].count, "row %zu", i);
        cr_assert_eq(take->must_book, rows[i].must_book, "row %zu", i);
        cr_assert_eq(take->has_local_fallback, rows[i].has_local_fallback, "row %zu", i);
        desk_fini(&desk);
    }
}

Test(decision, memory_decides_for_lack_of_a_store_where_rule_or_server_say_so)
{
    static const struct {
        const char *key;
        enum wr_failure_mode server;
        bool want;
    } rows[] = {
        {"none", WR_FAILURE_ERROR, false}, {"none", WR_FAILURE_ALLOW, false},
        {"none", WR_FAILURE_LOCAL, true},  {"local", WR_FAILURE_ERROR, true},
        {"local", WR_FAILURE_DENY, true},  {"error", WR_FAILURE_LOCAL, false},
    };
    struct desk desk;

    desk_init(&desk);
    use_rules(&desk, mixed);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        desk.settings.failure_mode = rows[i].server;
        cr_assert_eq(batch_of(&desk, &rows[i].key, 1)->takes[0].has_local_fallback, rows[i].want,
                     "row %zu", i);
    }
    desk_fini(&desk);
}

Test(decision, only_spent_costs_must_be_booked)
{
    static const struct {
        const char *key;
        bool has_hits;
        uint64_t hits;
        bool is_negative, want;
    } rows[] = {
        {"all", false, 0, false, true},  {"all", true, 7, false, true},
        {"all", true, 0, false, false},  {"all", true, 7, true, false},
        {"none", true, 7, false, false}, {"fit", true, 7, false, false},
    };
    struct desk desk;

    desk_init(&desk);
    use_rules(&desk, mixed);
    for (size_t late = 0; late < 2; late++) {
        desk.frame.is_late = late == 1;
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
            struct wr_entry entry = {wr_str_of(rows[i].key), WR_STR("v")};
            struct wr_descriptor descriptor = of_entry(&entry);

            descriptor.has_hits_addend = rows[i].has_hits;
            descriptor.hits_addend = rows[i].hits;
            descriptor.is_negative_hits = rows[i].is_negative;
            cr_assert_eq(begin(&desk, "d", &descriptor, 1, 0), WR_OK);

            const struct wr_batch *const batch = wr_decision_batch(desk.decision);

            if (late == 1) {
                cr_assert_eq(batch->n_takes, rows[i].want ? 1 : 0, "row %zu, late", i);
                cr_assert_eq(batch->deadline_mono_us, INT64_MAX, "nobody waits");
            } else {
                cr_assert_eq(batch->n_takes, 1, "row %zu", i);
                cr_assert_eq(batch->takes[0].must_book, rows[i].want, "row %zu", i);
            }
        }
    }
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_DESCRIPTORS_BOOKED_LATE), 2);
    cr_assert_eq(wr_metrics_sum(desk.metrics, WR_METRIC_DESCRIPTORS), 6, "late ones are no load");
    desk_fini(&desk);
}

Test(decision, a_late_call_books_what_it_must_and_no_more)
{
    struct desk desk;

    desk_init(&desk);
    use_rules(&desk, mixed);
    desk.frame.is_late = true;

    const struct wr_batch *const batch =
        batch_of(&desk, (const char *const[]){"none", "fit", "all", "free", "nowhere"}, 5);

    cr_assert_eq(batch->n_takes, 1);
    cr_assert(batch->takes[0].must_book);
    cr_assert_eq(batch->takes[0].limit.count, WR_COUNT_ALL);
    desk_fini(&desk);
}

Test(decision, stop_is_the_mode_of_every_batch)
{
    struct desk desk;

    desk_init(&desk);
    desk.settings.stops_when_over = true;
    cr_assert_eq(batch_of(&desk, (const char *const[]){"plain"}, 1)->mode, WR_CHARGE_STOP);
    desk_fini(&desk);
}

static const char *const fates =
    "domain: d\n"
    "descriptors:\n"
    "  - {key: none, rate_limit: {unit: hour, requests_per_unit: 9}}\n"
    "  - {key: error, rate_limit: {unit: hour, requests_per_unit: 9, failure_mode: error}}\n"
    "  - {key: deny, rate_limit: {unit: hour, requests_per_unit: 9, failure_mode: deny}}\n"
    "  - {key: allow, rate_limit: {unit: hour, requests_per_unit: 9, failure_mode: allow}}\n"
    "  - {key: local, rate_limit: {unit: hour, requests_per_unit: 9, failure_mode: local}}\n"
    "  - {key: shadow, shadow_mode: true, rate_limit: {unit: hour, failure_mode: deny}}\n"
    "  - {key: quota, quota_mode: true, rate_limit: {unit: hour, failure_mode: deny}}\n"
    "  - {key: tried, shadow_mode: true, limits: [{unit: hour, failure_mode: deny}, {unit: day}]}\n"
    "  - {key: layers, limits: [{unit: hour, failure_mode: deny}, {unit: day}]}\n";

Test(decision, who_lacks_an_answer_refuses_the_others_where_its_mode_refuses)
{
    static const struct {
        const char *key;
        enum wr_failure_mode server;
        bool is_on_trial; /* the server */
        bool want;
    } rows[] = {
        {"none", WR_FAILURE_ERROR, false, true},   {"none", WR_FAILURE_DENY, false, true},
        {"none", WR_FAILURE_ALLOW, false, false},  {"none", WR_FAILURE_LOCAL, false, false},
        {"error", WR_FAILURE_LOCAL, false, true},  {"deny", WR_FAILURE_LOCAL, false, true},
        {"allow", WR_FAILURE_DENY, false, false},  {"local", WR_FAILURE_DENY, false, false},
        {"shadow", WR_FAILURE_DENY, false, false}, {"quota", WR_FAILURE_DENY, false, false},
        {"tried", WR_FAILURE_DENY, false, false},  {"layers", WR_FAILURE_LOCAL, false, true},
        {"deny", WR_FAILURE_DENY, true, false},    {"layers", WR_FAILURE_LOCAL, true, false},
    };
    struct desk desk;

    desk_init(&desk);
    use_rules(&desk, fates);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        desk.settings.failure_mode = rows[i].server;
        desk.settings.has_shadow_mode = rows[i].is_on_trial;
        cr_assert_eq(batch_of(&desk, &rows[i].key, 1)->takes[0].refuses_unanswered, rows[i].want,
                     "row %zu", i);
    }
    desk_fini(&desk);
}

Test(decision, layers_are_takes_of_one_group)
{
    struct desk desk;

    desk_init(&desk);

    const struct wr_batch *const batch =
        batch_of(&desk, (const char *const[]){"plain", "layers", "hour"}, 3);

    cr_assert_eq(batch->n_takes, 5);
    for (size_t i = 0; i < 3; i++) {
        const struct wr_take *const take = &batch->takes[1 + i];

        cr_assert_eq(take->group, 1u, "layer %zu", i);
        cr_assert_not(take->is_domain_group, "layer %zu", i);
        cr_assert_eq(take->limit.count, i == 2 ? WR_COUNT_ALL : WR_COUNT_ALL_OR_NOTHING,
                     "layer %zu", i);
        cr_assert_eq(take->must_book, i == 2, "layer %zu", i);
        cr_assert_eq(take->has_local_fallback, i == 2, "layer %zu", i);
        for (size_t k = 0; k < i; k++) {
            cr_assert_not(wr_str_equal(take->key, batch->takes[1 + k].key), "%zu and %zu", i, k);
        }
    }
    cr_assert_eq(batch->takes[4].group, 2u);
    desk_fini(&desk);
}

/* By themselves they would let a trial run on as if the tighter one was not there. */
Test(decision, layers_on_trial_refuse_each_other)
{
    struct desk desk;

    desk_init(&desk);

    const struct wr_batch *const batch =
        batch_of(&desk, (const char *const[]){"trial", "shadow"}, 2);

    cr_assert(batch->takes[0].is_enforced && batch->takes[1].is_enforced);
    cr_assert_not(batch->takes[2].is_enforced);
    desk_fini(&desk);
}

/* They would refuse the whole group. */
Test(decision, layers_on_trial_in_a_group_refuse_nobody)
{
    struct desk desk;

    desk_init(&desk);
    use_rules(&desk, "domain: d\ncount: all_or_nothing\ndescriptors:\n"
                     "  - {key: trial, shadow_mode: true, limits: [{unit: hour}, {unit: day}]}\n"
                     "  - {key: layers, limits: [{unit: hour}, {unit: day}]}\n");

    const struct wr_batch *const batch =
        batch_of(&desk, (const char *const[]){"trial", "layers"}, 2);

    cr_assert_eq(batch->n_takes, 4);
    cr_assert_not(batch->takes[0].is_enforced || batch->takes[1].is_enforced);
    cr_assert(batch->takes[2].is_enforced && batch->takes[3].is_enforced);
    desk_fini(&desk);
}

Test(decision, replacing_takes_a_layer_away_and_a_descriptor_when_it_was_the_last)
{
    static const struct {
        const char *keys[2];
        size_t n_takes;
    } rows[] = {
        {{"no-hour", "layers"}, 3},
        {{"no-pair", "pair"}, 1},
        {{"no-pair", "layers"}, 4},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct desk desk;

        desk_init(&desk);
        cr_assert_eq(batch_of(&desk, rows[i].keys, 2)->n_takes, rows[i].n_takes, "row %zu", i);
        desk_fini(&desk);
    }
}

Test(decision, a_late_call_books_the_layers_that_ask_for_it)
{
    struct desk desk;

    desk_init(&desk);
    desk.frame.is_late = true;

    const struct wr_batch *const batch = batch_of(&desk, (const char *const[]){"layers"}, 1);

    cr_assert_eq(batch->n_takes, 1);
    cr_assert_eq(batch->takes[0].limit.requests, 8u);
    desk_fini(&desk);
}

Test(decision, an_override_counts_as_the_rule_on_its_path_does)
{
    struct wr_entry entries[] = {{WR_STR("bucket"), WR_STR("v")}, {WR_STR("layers"), WR_STR("v")}};
    struct wr_descriptor descriptors[] = {of_entry(&entries[0]), of_entry(&entries[1])};
    struct desk desk;

    desk_init(&desk);
    for (size_t i = 0; i < 2; i++) {
        descriptors[i].has_override = true;
        descriptors[i].override = (struct wr_override){.requests_per_unit = 5, .unit = 2};
    }
    cr_assert_eq(begin(&desk, "d", descriptors, 2, 0), WR_OK);

    const struct wr_batch *const batch = wr_decision_batch(desk.decision);

    cr_assert_eq(batch->n_takes, 2);
    cr_assert_eq(batch->takes[0].limit.requests, 5u);
    cr_assert_eq(batch->takes[0].limit.length_us, 60000000);
    cr_assert_eq(batch->takes[0].limit.algorithm, WR_ALGORITHM_TOKEN_BUCKET);
    cr_assert_eq(batch->takes[0].limit.burst, 7u);
    cr_assert_eq(batch->takes[0].limit.count, WR_COUNT_ADMITTED);
    cr_assert_eq(batch->takes[1].limit.algorithm, WR_ALGORITHM_FIXED_WINDOW);
    desk_fini(&desk);
}

/* No rule knows `user` below `ip`. The limit is no less the request's for that. */
Test(decision, rotating_addresses_gains_nothing_where_an_override_goes_beyond_the_rules)
{
    struct wr_entry first[] = {{WR_STR("ip"), WR_STR("2001:db8::1")},
                               {WR_STR("user"), WR_STR("ann")}};
    struct wr_entry second[] = {{WR_STR("ip"), WR_STR("2001:db8::2")},
                                {WR_STR("user"), WR_STR("ann")}};
    struct wr_descriptor descriptors[2];
    struct desk desk;

    desk_init(&desk);
    for (size_t i = 0; i < 2; i++) {
        descriptors[i] = (struct wr_descriptor){
            .entries = i == 0 ? first : second,
            .n_entries = 2,
            .has_override = true,
            .override = {.requests_per_unit = 5, .unit = WR_UNIT_MINUTE},
        };
    }
    cr_assert_eq(begin(&desk, "d", descriptors, 2, 0), WR_OK);

    const struct wr_batch *const batch = wr_decision_batch(desk.decision);

    cr_assert_eq(batch->n_takes, 2u);
    cr_assert(wr_str_equal(batch->takes[0].key, batch->takes[1].key));
    cr_assert_eq(batch->takes[0].limit.requests, 5u);
    cr_assert_eq(batch->takes[0].limit.length_us, INT64_C(60000000));
    desk_fini(&desk);
}
