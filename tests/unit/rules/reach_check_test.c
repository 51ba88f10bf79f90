/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/reach_check.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/rules.h"
#include "tests/unit/rules/texts.h"

#define FIRST                                                                                      \
    "this rule is never found: the one at f.yaml:3:6 comes first, and takes all that it would "
#define MOVE "; move it above that one, or remove it\n"
#define REMOVE "; remove one of the two\n"
#define ANY                                                                                        \
    "this rule is never found: the one at f.yaml:%s takes every value, and a `*` goes before a "   \
    "rule without a value (in d.k); remove one of the two\n"

/* Two rules of one level, the second of which may never be found. */
struct row {
    const char *first, *second;
    const char *path; /* of the second when it is never found; NULL: it is found */
};

static const struct row rows[] = {
    {"key: k, value: '*'", "key: k, value: '/a*'", "d.k_/a*"},
    {"key: k, value: '/a*'", "key: k, value: '/ab*'", "d.k_/ab*"},
    {"key: k, value: '/a*'", "key: k, value: '/a*b'", "d.k_/a*b"},
    {"key: k, value: '*a*'", "key: k, value: 'b*xax*c'", "d.k_b*xax*c"},
    {"key: 'k*'", "key: k, value: 'a*'", "d.k_a*"},
    {"key: 'k*'", "key: 'k*', value: 'a'", "d.k*_a"},
    {"key: 'k*'", "key: 'kl*', value: 'a*'", "d.kl*_a*"},
    {"key: 'k*', value: '*'", "key: 'kl*'", "d.kl*"},
    {"key: 'k*', value: 'a*'", "key: 'kl*', value: 'ab*'", "d.kl*_ab*"},
    /* in the other order, or not quite */
    {"key: k, value: '/a*'", "key: k, value: '*'", NULL},
    {"key: k, value: '/ab*'", "key: k, value: '/a*'", NULL},
    {"key: k, value: '/a*b'", "key: k, value: '/a*'", NULL},
    {"key: k, value: '/a*'", "key: k, value: '/b*'", NULL},
    {"key: k, value: 'ab*b'", "key: k, value: 'ab*'", NULL},
    {"key: k, value: 'a*a'", "key: k, value: 'a*'", NULL},
    {"key: k, value: '*'", "key: l, value: '/a*'", NULL},
    {"key: 'k*', value: 'a*'", "key: 'k*', value: 'b*'", NULL},
    {"key: 'k*', value: 'a*'", "key: 'kl*'", NULL},
    {"key: 'kl*'", "key: k, value: 'a*'", NULL},
    /* exact pairs go first, wherever they stand */
    {"key: k, value: '*'", "key: k, value: '/a'", NULL},
    {"key: 'k*'", "key: k, value: '/a'", NULL},
    /* a rule without a value comes behind patterns that leave something over */
    {"key: k, value: '/a*'", "key: k", NULL},
    {"key: 'l*'", "key: k", NULL},
    {"key: 'k*', value: 'a*'", "key: k", NULL},
};

/* Each of two takes what the other would. */
static const struct row mutual[] = {
    {"key: k, value: '*'", "key: k, value: '**'", "d.k_**"},
    {"key: k, value: '**'", "key: k, value: '*'", "d.k_*"},
    {"key: k, value: 'x*y'", "key: k, value: 'x**y'", "d.k_x**y"},
    {"key: 'k*'", "key: 'k*', value: '*'", "d.k*_*"},
    {"key: 'k*'", "key: 'k**'", "d.k**"},
};

static void write_text(char text[512], const struct row *row)
{
    (void) snprintf(text, 512, "domain: d\ndescriptors:\n  - {%s}\n  - {%s}\n", row->first,
                    row->second);
}

static void assert_rows(const struct row *all, size_t n, const char *hint)
{
    for (size_t i = 0; i < n; i++) {
        char text[512], wanted[512] = "";

        write_text(text, &all[i]);
        if (all[i].path != NULL) {
            (void) snprintf(wanted, sizeof wanted, "f.yaml:4:6: warning: " FIRST "(in %s)%s",
                            all[i].path, hint);
        }

        char *const notes = doubts_of(text);

        cr_assert_str_eq(notes, wanted, "%s%s", text, notes);
        free(notes);
    }
}

Test(reach_check, a_pattern_behind_one_that_takes_all_that_it_would_is_never_found)
{
    assert_rows(rows, sizeof rows / sizeof rows[0], MOVE);
}

Test(reach_check, of_two_that_take_the_same_one_is_to_be_removed)
{
    assert_rows(mutual, sizeof mutual / sizeof mutual[0], REMOVE);
}

/* Whether a request of one entry finds the rule that has a limit. */
static bool finds(const struct wr_domain *domain, const char *key, const char *value)
{
    const struct wr_entry entry = entry_of(key, value);
    const struct wr_node *const node = wr_domain_match(domain, &entry, 1);

    return node != NULL && node->n_rules > 0;
}

/* Where something is said no text finds the second rule, and where nothing is, one does. */
Test(reach_check, matching_agrees)
{
    static const char *const keys[] = {"k", "l", "kl", "klm", "kx"};
    static const char *const values[] = {"",   "a",   "ab", "abb", "aba",  "b", "bxaxc",
                                         "/a", "/ab", "/b", "/",   "/axb", "x"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512], second[256];
        size_t n_found = 0;

        (void) snprintf(second, sizeof second, "%s, rate_limit: {unlimited: true}", rows[i].second);
        write_text(text, &(struct row){.first = rows[i].first, .second = second});

        struct wr_rules *const rules = rules_of(text);
        const struct wr_domain *const domain = wr_rules_domain(rules, wr_str_of("d"));

        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
                n_found += finds(domain, keys[k], values[v]);
            }
        }
        cr_assert_eq(n_found > 0, rows[i].path == NULL, "%s", text);
        wr_rules_release(rules);
    }
}

Test(reach_check, a_rule_without_a_value_is_never_found_beside_a_pattern_for_any)
{
    static const struct {
        const char *rules, *own, *other;
    } any[] = {
        {"  - {key: k}\n  - {key: k, value: '*'}\n", "3:6", "4:6"},
        {"  - {key: k, value: '*'}\n  - {key: k}\n", "4:6", "3:6"},
        {"  - {key: k}\n  - {key: 'k*'}\n", "3:6", "4:6"},
        {"  - {key: '*', value: '**'}\n  - {key: k}\n", "4:6", "3:6"},
    };

    for (size_t i = 0; i < sizeof any / sizeof any[0]; i++) {
        char text[512], wanted[512];

        (void) snprintf(text, sizeof text, "domain: d\ndescriptors:\n%s", any[i].rules);
        (void) snprintf(wanted, sizeof wanted, "f.yaml:%s: warning: " ANY, any[i].own,
                        any[i].other);

        char *const notes = doubts_of(text);

        cr_assert_str_eq(notes, wanted, "%s%s", text, notes);
        free(notes);
    }
}

Test(reach_check, levels_below_are_looked_at_as_well)
{
    char *const notes = doubts_of("domain: d\n"
                                  "descriptors:\n"
                                  "  - key: a\n"
                                  "    descriptors:\n"
                                  "      - {key: k, value: '*'}\n"
                                  "      - {key: k, value: 'x*'}\n"
                                  "  - {key: k, value: 'y*'}\n");

    cr_assert_str_eq(notes,
                     "f.yaml:6:10: warning: this rule is never found: the one at f.yaml:5:10 "
                     "comes first, and takes all that it would (in d.a.k_x*); move it above "
                     "that one, or remove it\n");
    free(notes);
}

Test(reach_check, files_of_one_domain_make_its_first_level_together)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "a.yaml", "domain: d\ndescriptors: [{key: k, value: '*'}]\n");
    texts_add(&texts, "b.yaml", "domain: d\ndescriptors: [{key: k, value: 'x*'}]\n");
    texts_doubt(&texts, true);
    cr_assert_str_eq(texts_notes(&texts),
                     "b.yaml:2:16: warning: this rule is never found: the one at a.yaml:2:16 comes "
                     "first, and takes all that it would (in d.k_x*); move it above that one, or "
                     "remove it\n");
    cr_assert_not(texts.drafts[0].has_warning);
    cr_assert_not(texts.drafts[1].has_warning);
    texts_fini(&texts);
}

Test(reach_check, what_a_file_makes_doubtful_by_itself_is_told_once_and_marks_it)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "a.yaml", "domain: d\ndescriptors: [{key: l}]\n");
    texts_add(&texts, "b.yaml",
              "domain: d\ndescriptors: [{key: k, value: '*'}, {key: k, value: 'x*'}]\n");
    texts_doubt(&texts, true);
    cr_assert_eq(texts.diag.n_warnings, 1u, "%s", texts_notes(&texts));
    cr_assert_not(texts.drafts[0].has_warning);
    cr_assert(texts.drafts[1].has_warning);
    texts_fini(&texts);
}

/* 20000 patterns of one level, each of which is held against all in the worst case. */
Test(reach_check, very_many_patterns_take_no_longer_than_the_bound_on_work)
{
    const size_t n = 20000;
    char *const text = malloc(n * 64 + 64);
    size_t len = (size_t) sprintf(text, "domain: d\ndescriptors:\n");
    struct texts texts;

    texts_init(&texts);
    texts.bounds.max_nodes = 1000000;
    texts.bounds.max_file_bytes = 10000000;
    for (size_t i = 0; i < n; i++) {
        len += (size_t) sprintf(text + len, "  - {key: k, value: '*%zu*'}\n", n + i);
    }
    len += (size_t) sprintf(text + len, "  - {key: k, value: '*%zux*'}\n", n);
    texts_add(&texts, "f.yaml", text);
    texts_doubt(&texts, false);
    cr_assert_str_eq(texts_notes(&texts), "");
    texts_fini(&texts);
    free(text);
}

/* What would take too long to compare is passed over, and what comes behind it is not. */
Test(reach_check, very_long_patterns_are_passed_over)
{
    enum { LEN = 200000 };
    static char letters[LEN + 1], text[2 * LEN + 512];
    struct texts texts;

    memset(letters, 'a', LEN);
    (void) snprintf(text, sizeof text,
                    "domain: d\n"
                    "descriptors:\n"
                    "  - {key: k, value: '*%s*'}\n"
                    "  - {key: k, value: '*%sb*'}\n"
                    "  - {key: k, value: '/a*'}\n"
                    "  - {key: k, value: '/ab*'}\n",
                    letters, letters);
    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);
    texts_doubt(&texts, false);
    cr_assert_str_eq(texts_notes(&texts),
                     "f.yaml:6:6: warning: this rule is never found: the one at f.yaml:5:6 comes "
                     "first, and takes all that it would (in d.k_/ab*)" MOVE);
    texts_fini(&texts);
}

/* A long text that many short patterns are looked for in, at each place. */
Test(reach_check, a_very_long_pattern_is_not_held_against_many)
{
    enum { LEN = 200000, N = 2000 };
    static char letters[LEN + 1], text[LEN + N * 64 + 64];
    size_t len = (size_t) sprintf(text, "domain: d\ndescriptors:\n");
    struct texts texts;

    memset(letters, 'a', LEN);
    for (size_t i = 0; i < N; i++) {
        len += (size_t) sprintf(text + len, "  - {key: k, value: '*a%zu*'}\n", N + i);
    }
    (void) sprintf(text + len, "  - {key: k, value: '%sa2000*'}\n", letters);
    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);
    texts_doubt(&texts, false);
    cr_assert_str_eq(texts_notes(&texts), "");
    texts_fini(&texts);
}
