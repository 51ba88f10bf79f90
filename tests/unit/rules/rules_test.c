/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rules.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/rules/texts.h"

static void assert_str(struct wr_str got, const char *want)
{
    cr_assert(wr_str_equal(got, wr_str_of(want)), "%.*s is not %s", (int) got.len, got.ptr, want);
}

static const struct wr_node *match(const struct wr_rules *rules, const char *domain,
                                   const struct wr_entry *entries, size_t n)
{
    const struct wr_domain *const found = wr_rules_domain(rules, wr_str_of(domain));

    cr_assert_not_null(found, "%s", domain);
    return wr_domain_match(found, entries, n);
}

Test(rules, a_snapshot_holds_all_that_the_draft_said)
{
    struct wr_rules *const rules =
        rules_of("domain: d\n"
                 "descriptors:\n"
                 "  - key: a\n"
                 "    value: 'x*'\n"
                 "    share_threshold: true\n"
                 "    value_to_metric: true\n"
                 "    descriptors:\n"
                 "      - key: b\n"
                 "        shadow_mode: true\n"
                 "        quota_mode: true\n"
                 "        detailed_metric: true\n"
                 "        metadata: {team: red, list: [1, {a: b}]}\n"
                 "        rate_limit:\n"
                 "          unit: MINUTE\n"
                 "          requests_per_unit: 7\n"
                 "          name: n\n"
                 "          replaces: [{name: x}, {name: y}]\n"
                 "          failure_mode: allow\n"
                 "  - {key: u, rate_limit: {unlimited: true, unit: ''}}\n");
    const struct wr_entry entries[] = {entry_of("a", "x1"), entry_of("b", "2")};
    const struct wr_node *const b = match(rules, "d", entries, 2);

    cr_assert_not_null(b);
    assert_str(b->key, "b");
    assert_str(b->value, "");
    cr_assert_not(b->has_share_threshold || b->has_value_to_metric);
    cr_assert_not_null(b->parent);
    assert_str(b->parent->key, "a");
    assert_str(b->parent->value, "x*");
    cr_assert(b->parent->has_share_threshold && b->parent->has_value_to_metric);
    cr_assert_null(b->parent->parent);
    cr_assert_eq(b->parent->n_rules, 0u);

    const struct wr_rule *const rule = b->rules;

    cr_assert_eq(rule->unit, WR_UNIT_MINUTE);
    cr_assert_eq(rule->limit.requests, 7u);
    cr_assert_eq(rule->limit.length_us, 60000000);
    cr_assert_eq(rule->limit.count, WR_COUNT_ALL);
    assert_str(rule->name, "n");
    assert_str(rule->path, "d.a_x*.b");
    cr_assert_eq(rule->n_replaces, 2u);
    assert_str(rule->replaces[1], "y");
    cr_assert(rule->policy.has_failure_mode && !rule->policy.has_count);
    cr_assert_eq(rule->policy.failure_mode, WR_FAILURE_ALLOW);
    cr_assert(rule->is_shadow && rule->is_quota && rule->has_detailed_metric);
    cr_assert_not(rule->is_unlimited);
    assert_str(wr_value_get(rule->metadata, wr_str_of("team"))->as.string, "red");
    cr_assert_eq(wr_value_get(rule->metadata, wr_str_of("list"))->as.list.n, 2u);

    const struct wr_entry u = entry_of("u", "1");

    cr_assert(match(rules, "d", &u, 1)->rules->is_unlimited);
    cr_assert_eq(match(rules, "d", &u, 1)->rules->unit, WR_UNIT_UNKNOWN);
    cr_assert_null(match(rules, "d", &u, 1)->rules->metadata);
    cr_assert_eq(wr_rules_domain_count(rules), 1u);
    cr_assert_eq(wr_rules_limit_count(rules), 2u);
    wr_rules_release(rules);
}

Test(rules, domains_are_found_by_their_whole_name)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "1.yaml", "domain: one\ndescriptors: [{key: a, rate_limit: {unit: day}}]\n");
    texts_add(&texts, "2.yaml", "domain: one_more\n");
    texts_add(&texts, "3.yaml", "domain: ' odd / name:| '\n");
    texts_add(&texts, "4.yaml", "domain: bad\ndescriptors: [{key: ''}]\n");

    struct wr_rules *const rules = texts_rules(&texts, false);

    texts_fini(&texts);
    cr_assert_eq(wr_rules_domain_count(rules), 3u);
    cr_assert_eq(wr_rules_limit_count(rules), 1u);
    cr_assert_not_null(wr_rules_domain(rules, wr_str_of("one")));
    cr_assert_not_null(wr_rules_domain(rules, wr_str_of("one_more")));
    cr_assert_not_null(wr_rules_domain(rules, wr_str_of(" odd / name:| ")));
    cr_assert_null(wr_rules_domain(rules, wr_str_of("bad")));
    cr_assert_null(wr_rules_domain(rules, wr_str_of("on")));
    cr_assert_null(wr_rules_domain(rules, wr_str_of("")));
    wr_rules_release(rules);
}

Test(rules, files_of_one_domain_add_up_in_their_order)
{
    const struct wr_entry a = entry_of("a", "1"), b = entry_of("b", "1"), w = entry_of("w", "xyz");
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "1.yaml",
              "domain: d\n"
              "descriptors:\n"
              "  - {key: a, rate_limit: {unit: hour, requests_per_unit: 1}}\n"
              "  - {key: w, value: 'x*', rate_limit: {unit: hour, requests_per_unit: 3}}\n");
    texts_add(&texts, "2.yaml", "domain: d\ndescriptors: [{key: a, shadow_mode: 1}]\n");
    texts_add(&texts, "3.yaml",
              "domain: d\n"
              "descriptors:\n"
              "  - {key: w, value: 'xy*', rate_limit: {unit: hour, requests_per_unit: 4}}\n"
              "  - {key: b, rate_limit: {unit: hour, requests_per_unit: 2}}\n");

    struct wr_rules *const rules = texts_rules(&texts, true);

    cr_assert_eq(wr_rules_domain_count(rules), 1u);
    cr_assert_eq(match(rules, "d", &a, 1)->rules->limit.requests, 1u);
    cr_assert_eq(match(rules, "d", &b, 1)->rules->limit.requests, 2u);
    cr_assert_eq(match(rules, "d", &w, 1)->rules->limit.requests, 3u);
    wr_rules_release(rules);
    texts_fini(&texts);
}

Test(rules, the_count_of_a_rule_goes_over_that_of_its_domain)
{
    static const struct {
        const char *domain, *rule; /* what each says */
        enum wr_count count;       /* of the rule */
        bool is_group, has_bookings;
    } rows[] = {
        {"", "", WR_COUNT_ALL, false, false},
        {"", ", count: all", WR_COUNT_ALL, false, true},
        {"", ", count: admitted", WR_COUNT_ADMITTED, false, false},
        {"", ", count: all_or_nothing", WR_COUNT_ALL_OR_NOTHING, true, false},
        {"count: all\n", "", WR_COUNT_ALL, false, false},
        {"count: admitted\n", "", WR_COUNT_ADMITTED, false, false},
        {"count: admitted\n", ", count: all", WR_COUNT_ALL, false, true},
        {"count: all_or_nothing\n", "", WR_COUNT_ALL_OR_NOTHING, true, false},
        {"count: all_or_nothing\n", ", count: admitted", WR_COUNT_ADMITTED, true, false},
        {"count: all_or_nothing\n", ", count: all", WR_COUNT_ALL, true, true},
    };
    const struct wr_entry entries[] = {entry_of("a", "1"), entry_of("b", "1")};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];

        (void) snprintf(text, sizeof text,
                        "domain: d\n%sdescriptors: [{key: a, descriptors: [{key: b, rate_limit: "
                        "{unit: day%s}}]}]\n",
                        rows[i].domain, rows[i].rule);

        struct wr_rules *const rules = rules_of(text);
        const struct wr_domain *const domain = wr_rules_domain(rules, wr_str_of("d"));
        const struct wr_rule *const rule = wr_domain_match(domain, entries, 2)->rules;

        cr_assert_eq(rule->limit.count, rows[i].count, "row %zu", i);
        cr_assert_eq(wr_domain_is_group(domain), rows[i].is_group, "row %zu", i);
        cr_assert_eq(wr_rules_have_bookings(rules), rows[i].has_bookings, "row %zu", i);
        wr_rules_release(rules);
    }
}

Test(rules, any_file_of_a_domain_may_say_its_count)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "1.yaml", "domain: d\ndescriptors: [{key: a, rate_limit: {unit: day}}]\n");
    texts_add(&texts, "2.yaml", "domain: d\ncount: admitted\n");
    texts_add(&texts, "3.yaml", "domain: e\n");

    struct wr_rules *const rules = texts_rules(&texts, true);
    const struct wr_entry a = entry_of("a", "1");

    cr_assert_eq(match(rules, "d", &a, 1)->rules->limit.count, WR_COUNT_ADMITTED);
    cr_assert_eq(wr_domain_count(wr_rules_domain(rules, wr_str_of("d"))), WR_COUNT_ADMITTED);
    cr_assert_eq(wr_domain_count(wr_rules_domain(rules, wr_str_of("e"))), WR_COUNT_ALL);
    wr_rules_release(rules);
    texts_fini(&texts);
}

Test(rules, no_drafts_make_an_empty_snapshot)
{
    struct wr_rules *rules = NULL;

    cr_assert_eq(wr_rules_new(NULL, 0, &rules), WR_OK);
    cr_assert_eq(wr_rules_domain_count(rules), 0u);
    cr_assert_eq(wr_rules_limit_count(rules), 0u);
    cr_assert_null(wr_rules_domain(rules, wr_str_of("d")));
    wr_rules_release(rules);
}

Test(rules, the_last_reference_frees)
{
    struct wr_rules *const rules = rules_of("domain: d\n");

    cr_assert_eq(wr_rules_acquire(rules), rules);
    wr_rules_release(rules);
    cr_assert_eq(wr_rules_domain_count(rules), 1u);
    wr_rules_release(rules);
    wr_rules_release(NULL);
}

/* Forty levels, as deep as the vectors go. */
Test(rules, a_deep_path_is_followed_to_its_end)
{
    enum { N = 40 };
    static char text[N * (2 * N + 40)];
    struct wr_entry entries[N];
    size_t len = (size_t) snprintf(text, sizeof text, "domain: d\n");

    for (int i = 0; i < N; i++) {
        len += (size_t) snprintf(text + len, sizeof text - len, "%*sdescriptors:\n%*s- key: k\n",
                                 2 * i, "", 2 * i, "");
        entries[i] = entry_of("k", "v");
    }
    (void) snprintf(text + len, sizeof text - len, "%*srate_limit: {unit: day}\n", 2 * N, "");

    struct wr_rules *const rules = rules_of(text);

    cr_assert_eq(match(rules, "d", entries, N)->n_rules, 1u);
    cr_assert_eq(match(rules, "d", entries, N - 1)->n_rules, 0u);
    wr_rules_release(rules);
}
