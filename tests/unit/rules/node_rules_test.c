/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/node_rules.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "limit/calendar.h"
#include "tests/unit/rules/texts.h"

#define S INT64_C(1000000)

/* The node of key a in a domain with that line at its top, and that descriptor. */
static const struct wr_node *build(const char *top, const char *rule, struct wr_rules **out_rules)
{
    const struct wr_entry entry = entry_of("a", "x");
    struct texts texts;
    char text[512];

    (void) snprintf(text, sizeof text, "domain: d\n%s\ndescriptors: [{key: a, %s}]\n", top, rule);
    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);
    *out_rules = texts_rules(&texts, false);
    cr_assert_eq(texts.diag.n_errors, 0u, "%s", texts_notes(&texts));
    texts_fini(&texts);
    return wr_domain_match(wr_rules_domain(*out_rules, wr_str_of("d")), &entry, 1);
}

Test(node_rules, what_a_refused_hit_costs)
{
    static const struct {
        const char *top, *rule;
        enum wr_count count;
        bool is_group;
    } rows[] = {
        {"", "rate_limit: {unit: hour}", WR_COUNT_ALL, false},
        {"", "rate_limit: {unit: hour, align: first_hit}", WR_COUNT_ALL, false},
        {"", "rate_limit: {unit: hour, algorithm: sliding_window}", WR_COUNT_ADMITTED, false},
        {"", "rate_limit: {unit: hour, algorithm: token_bucket}", WR_COUNT_ADMITTED, false},
        {"", "rate_limit: {unit: hour, algorithm: token_bucket, count: all}", WR_COUNT_ALL, false},
        {"count: all", "rate_limit: {unit: hour, algorithm: sliding_log}", WR_COUNT_ALL, false},
        {"count: all_or_nothing", "rate_limit: {unit: hour}", WR_COUNT_ALL_OR_NOTHING, true},
        {"", "limits: [{unit: hour}]", WR_COUNT_ALL, false},
        {"", "limits: [{unit: hour}, {unit: day}]", WR_COUNT_ALL_OR_NOTHING, false},
        {"count: admitted", "limits: [{unit: hour}, {unit: day}]", WR_COUNT_ALL_OR_NOTHING, false},
        {"", "limits: [{unit: hour, count: all}, {unit: day}]", WR_COUNT_ALL, false},
        {"", "limits: [{unit: hour, count: all_or_nothing}, {unit: day}]", WR_COUNT_ALL_OR_NOTHING,
         true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_rules *rules;
        const struct wr_node *const node = build(rows[i].top, rows[i].rule, &rules);

        cr_assert_eq(node->rules[0].limit.count, rows[i].count, "row %zu", i);
        cr_assert_eq(wr_domain_is_group(wr_rules_domain(rules, wr_str_of("d"))), rows[i].is_group,
                     "row %zu", i);
        wr_rules_release(rules);
    }
}

Test(node_rules, the_unit_is_the_nearest_and_the_window_is_told_when_that_is_not_it)
{
    static const struct {
        const char *limit;
        int64_t length_us;
        enum wr_unit unit;
        const char *window;
    } rows[] = {
        {"unit: minute", 60 * S, WR_UNIT_MINUTE, ""},
        {"window: 60s", 60 * S, WR_UNIT_MINUTE, ""},
        {"window: 100ms", S / 10, WR_UNIT_SECOND, "100ms"},
        {"window: 7s", 7 * S, WR_UNIT_SECOND, "7s"},
        {"window: 8s", 8 * S, WR_UNIT_MINUTE, "8s"},
        {"unit: minute, unit_multiplier: 5", 300 * S, WR_UNIT_MINUTE, "5m"},
        {"window: 12h", 43200 * S, WR_UNIT_DAY, "12h"},
        {"window: 2w", 1209600 * S, WR_UNIT_WEEK, "2w"},
        {"unit: year, unit_multiplier: 100", INT64_C(36500) * 86400 * S, WR_UNIT_YEAR, "36500d"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[128];
        struct wr_rules *rules;

        (void) snprintf(text, sizeof text, "rate_limit: {%s}", rows[i].limit);

        const struct wr_rule *const rule = build("", text, &rules)->rules;

        cr_assert_eq(rule->limit.length_us, rows[i].length_us, "%s", text);
        cr_assert_eq(rule->unit, rows[i].unit, "%s", text);
        cr_assert(wr_str_equal(rule->window, wr_str_of(rows[i].window)), "%s", text);
        wr_rules_release(rules);
    }
}

Test(node_rules, layers_that_count_alike_are_told_apart)
{
    static const uint32_t layers[] = {0, 0, 1, 0, 0, 2, 0, 0, 1, 1};
    struct wr_rules *rules;
    const struct wr_node *const node =
        build("",
              "metadata: {k: v}, shadow_mode: true, limits: [{unit: hour}, {unit: day}, "
              "{window: 1h}, {unit: hour, align: first_hit}, "
              "{unit: hour, algorithm: sliding_window}, {window: 60m, requests_per_unit: 5}, "
              "{unit: day, align: calendar}, "
              "{unit: day, align: calendar, time_zone: Asia/Tokyo}, "
              "{unit: day, align: calendar, time_zone: Asia/Tokyo}, "
              "{unit: day, align: calendar, time_zone: UTC}]",
              &rules);

    cr_assert_eq(node->n_rules, 10u);
    for (size_t i = 0; i < node->n_rules; i++) {
        cr_assert_eq(node->rules[i].layer, layers[i], "layer %zu", i);
        cr_assert(node->rules[i].is_shadow && node->rules[i].metadata == node->rules[0].metadata);
    }
    cr_assert_not_null(node->rules[0].metadata);
    cr_assert_eq(wr_rules_limit_count(rules), 10u);
    wr_rules_release(rules);
}

Test(node_rules, calendars_have_the_zone_of_their_rule)
{
    /* 2026-07-01 00:30 in Paris, which is June by UTC */
    static const int64_t july_us = 1782858600 * S;
    static const int64_t starts_us[] = {1782856800 * S, 1780272000 * S};
    static const char *const names[] = {"Europe/Paris", ""};
    struct wr_rules *rules;
    const struct wr_node *const node =
        build("",
              "limits: [{unit: month, align: calendar, time_zone: Europe/Paris}, "
              "{unit: month, align: calendar, requests_per_unit: 5}]",
              &rules);

    for (size_t i = 0; i < node->n_rules; i++) {
        const struct wr_limit *const limit = &node->rules[i].limit;

        cr_assert_not_null(limit->calendar, "layer %zu", i);
        cr_assert_eq(limit->calendar->unit, WR_UNIT_MONTH, "layer %zu", i);
        cr_assert(wr_str_equal(limit->calendar->zone_name, wr_str_of(names[i])), "layer %zu", i);
        cr_assert_eq(wr_calendar_window_of(limit->calendar, july_us).start_us, starts_us[i],
                     "layer %zu", i);
    }
    wr_rules_release(rules);
}
