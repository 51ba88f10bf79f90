/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/tree.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/rules/texts.h"

/* A request's entries, up to the first without a key, and the requests of the rule they reach; -1:
 * a node without a limit, -2: no node. */
struct row {
    struct {
        const char *key, *value;
    } entries[4];
    int requests;
};

static int reached(const struct wr_rules *rules, const struct row *row)
{
    struct wr_entry entries[4];
    size_t n = 0;

    while (n < 4 && row->entries[n].key != NULL) {
        entries[n] = entry_of(row->entries[n].key, row->entries[n].value);
        n++;
    }

    const struct wr_node *const node =
        wr_domain_match(wr_rules_domain(rules, wr_str_of("d")), entries, n);

    if (node == NULL) {
        return -2;
    }
    return node->n_rules == 0 ? -1 : (int) node->rules->limit.requests;
}

static void assert_rows(const char *rules_text, const struct row *rows, size_t n)
{
    struct wr_rules *const rules = rules_of(rules_text);

    for (size_t i = 0; i < n; i++) {
        const int got = reached(rules, &rows[i]);

        cr_assert_eq(got, rows[i].requests, "row %zu: %d", i, got);
    }
    wr_rules_release(rules);
}

Test(tree, tells_how_far_the_rules_go)
{
    static const struct {
        const char *keys[3];
        size_t n, n_matched;
        const char *last; /* key of the node */
    } rows[] = {
        {{"a", "b", "c"}, 3, 3, "c"},  {{"a", "b", "x"}, 3, 2, "b"}, {{"a", "x", "c"}, 3, 1, "a"},
        {{"x", "b", "c"}, 3, 0, NULL}, {{"a", "b"}, 2, 2, "b"},      {{"a"}, 0, 0, NULL},
    };
    struct wr_rules *const rules =
        rules_of("domain: d\n"
                 "descriptors: [{key: a, descriptors: [{key: b, descriptors: [{key: c}]}]}]\n");

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_entry entries[3];
        size_t n_matched;

        for (size_t k = 0; k < rows[i].n; k++) {
            entries[k] = entry_of(rows[i].keys[k], "v");
        }

        const struct wr_node *const node =
            wr_domain_reach(wr_rules_domain(rules, wr_str_of("d")), entries, rows[i].n, &n_matched);

        cr_assert_eq(n_matched, rows[i].n_matched, "row %zu: %zu", i, n_matched);
        cr_assert_eq(node == NULL, rows[i].last == NULL, "row %zu", i);
        cr_assert(node == NULL || wr_str_equal(node->key, wr_str_of(rows[i].last)), "row %zu", i);
    }
    wr_rules_release(rules);
}

#define ASSERT_ROWS(text, rows) assert_rows((text), (rows), sizeof(rows) / sizeof((rows)[0]))
#define LIMIT(n) "rate_limit: {unit: hour, requests_per_unit: " #n "}"

Test(tree, exact_then_wildcards_in_order_then_any_value)
{
    static const struct row rows[] = {
        {{{"k", "v"}}, 1},    {{{"k", "abc"}}, 2},  {{{"k", "a"}}, 2},   {{{"k", "xyz"}}, 4},
        {{{"k", "q"}}, 5},    {{{"k", ""}}, 5},     {{{"l", "v"}}, -2},  {{{"", ""}}, -2},
        {{{"k", "abc*"}}, 3}, {{{"k", "abcd"}}, 2}, {{{"k*", "a"}}, -2},
    };

    ASSERT_ROWS(
        "domain: d\n"
        "descriptors:\n"
        "  - {key: k, " LIMIT(5) "}\n"
                                 "  - {key: k, value: 'a*', " LIMIT(
                                     2) "}\n"
                                        "  - {key: k, value: 'abc*', " LIMIT(
                                            3) "}\n"
                                               "  - {key: k, value: '*z', " LIMIT(
                                                   4) "}\n"
                                                      "  - {key: k, value: v, " LIMIT(1) "}\n",
        rows);
}

Test(tree, an_empty_value_tries_the_wildcards_first)
{
    static const struct row rows[] = {{{{"a", ""}}, 6}, {{{"a", "1"}}, 6}, {{{"b", ""}}, 5}};

    ASSERT_ROWS("domain: d\n"
                "descriptors:\n"
                "  - {key: a, " LIMIT(5) "}\n"
                                         "  - {key: a, value: '*', " LIMIT(
                                             6) "}\n"
                                                "  - {key: b, " LIMIT(
                                                    5) "}\n"
                                                       "  - {key: b, value: 'x*', " LIMIT(6) "}\n",
                rows);
}

Test(tree, the_spelling_of_a_wildcard_finds_it_before_those_ahead_of_it)
{
    static const struct row rows[] = {
        {{{"k", "abc*"}}, 2},
        {{{"k", "abcd"}}, 1},
        {{{"h-*", "x"}}, 4},
        {{{"h-1", "x"}}, 3},
    };

    ASSERT_ROWS("domain: d\n"
                "descriptors:\n"
                "  - {key: k, value: 'a*', " LIMIT(
                    1) "}\n"
                       "  - {key: k, value: 'abc*', " LIMIT(
                           2) "}\n"
                              "  - {key: 'h*', value: x, " LIMIT(
                                  3) "}\n"
                                     "  - {key: 'h-*', value: x, " LIMIT(4) "}\n",
                rows);
}

Test(tree, a_star_in_the_key_is_tested_against_the_key_alone)
{
    static const struct row rows[] = {
        {{{"tenant", "acme"}}, 1}, {{{"ten", ""}}, 1},        {{{"te", "n"}}, -2},
        {{{"t", "en"}}, -2},       {{{"colour", "red"}}, -2}, {{{"co_ed", "x"}}, 2},
        {{{"coed", ""}}, 2},       {{{"head-1", "v9"}}, 3},   {{{"head-1", "w"}}, -2},
        {{{"tail1", "x"}}, 4},     {{{"tail1", "y"}}, -2},    {{{"tail", "x"}}, 4},
    };

    ASSERT_ROWS(
        "domain: d\n"
        "descriptors:\n"
        "  - {key: 'ten*', " LIMIT(1) "}\n"
                                      "  - {key: 'co*ed', " LIMIT(
                                          2) "}\n"
                                             "  - {key: 'head-*', value: 'v*', " LIMIT(
                                                 3) "}\n"
                                                    "  - {key: 'tail*', value: x, " LIMIT(4) "}\n",
        rows);
}

Test(tree, there_is_no_way_back)
{
    static const struct row rows[] = {
        {{{"a", "vip"}, {"b", "1"}}, -2},
        {{{"a", "x"}, {"b", "1"}}, 3},
        {{{"a", "vip"}}, -1},
        {{{"w", "vip"}, {"b", "1"}}, -2},
    };

    ASSERT_ROWS("domain: d\n"
                "descriptors:\n"
                "  - {key: a, descriptors: [{key: b, " LIMIT(
                    3) "}]}\n"
                       "  - {key: a, value: vip}\n"
                       "  - {key: w, value: 'v*'}\n"
                       "  - {key: w, descriptors: [{key: b, " LIMIT(4) "}]}\n",
                rows);
}

Test(tree, the_last_entry_decides)
{
    static const struct row rows[] = {
        {{{"a", "1"}}, 50},
        {{{"a", "1"}, {"b", "2"}}, 5},
        {{{"a", "1"}, {"b", "2"}, {"c", "3"}}, -2},
        {{{"a", "1"}, {"c", "3"}}, -2},
        {{{"b", "2"}}, -2},
        {{{"b", "2"}, {"a", "1"}}, -2},
        {{{"p", "1"}}, -1},
        {{{NULL, NULL}}, -2},
    };

    ASSERT_ROWS("domain: d\n"
                "descriptors:\n"
                "  - {key: a, value: 1, " LIMIT(50) ", descriptors: [{key: b, " LIMIT(
                    5) "}]}\n"
                       "  - {key: p, descriptors: [{key: q, " LIMIT(6) "}]}\n",
                rows);
}

/* The incumbent joins key and value by '_', and so mixes these up. */
Test(tree, pairs_that_join_to_the_same_text_are_apart)
{
    static const struct row rows[] = {
        {{{"b", "c"}}, 2},         {{{"b_c", ""}}, 1},         {{{"b_c", "x"}}, 1},
        {{{"left", "right"}}, -2}, {{{"left_right", "x"}}, 3},
    };

    ASSERT_ROWS("domain: d\n"
                "descriptors:\n"
                "  - {key: b_c, " LIMIT(1) "}\n"
                                           "  - {key: b, value: c, " LIMIT(
                                               2) "}\n"
                                                  "  - {key: left_right, " LIMIT(3) "}\n",
                rows);
}

Test(tree, bytes_of_any_kind_are_ordinary)
{
    struct wr_rules *const rules = rules_of(
        "domain: d\n"
        "descriptors:\n"
        "  - {key: k, value: \"x\\0\", " LIMIT(1) "}\n"
                                                  "  - {key: k, value: \"x\", " LIMIT(2) "}\n");
    const struct wr_domain *const domain = wr_rules_domain(rules, wr_str_of("d"));
    const struct wr_entry with_nul = {.key = WR_STR("k"), .value = {.ptr = "x\0", .len = 2}};
    const struct wr_entry without = {.key = WR_STR("k"), .value = {.ptr = "x\0", .len = 1}};

    cr_assert_eq(wr_domain_match(domain, &with_nul, 1)->rules->limit.requests, 1u);
    cr_assert_eq(wr_domain_match(domain, &without, 1)->rules->limit.requests, 2u);
    wr_rules_release(rules);
}

Test(tree, many_siblings_are_each_found)
{
    enum { N = 3000 };
    char *text = NULL;
    size_t len = 0;
    FILE *const out = open_memstream(&text, &len);

    cr_assert_not_null(out);
    fprintf(out, "domain: d\ndescriptors:\n");
    for (int i = 0; i < N; i++) {
        fprintf(out, "- {key: k%d, value: v%d, rate_limit: {unit: day, requests_per_unit: %d}}\n",
                i % 40, i, i);
    }
    cr_assert_eq(fclose(out), 0);

    struct wr_rules *const rules = rules_of(text);

    for (int i = 0; i < N; i++) {
        char key[16], value[16];
        const struct row row = {{{key, value}}, i};

        (void) snprintf(key, sizeof key, "k%d", i % 40);
        (void) snprintf(value, sizeof value, "v%d", i);
        cr_assert_eq(reached(rules, &row), i);
        (void) snprintf(key, sizeof key, "k%d", (i + 1) % 40);
        cr_assert_eq(reached(rules, &row), -2);
    }
    wr_rules_release(rules);
    free(text);
}
