/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/doubts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/rules/texts.h"

#define HINT "; write how many, `requests_per_unit: 0` if nobody is to pass\n"

/* Of a rule `a` of which the text is a part. */
static void expect_doubts(const struct notes_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[512];

        (void) snprintf(text, sizeof text, "domain: d\ndescriptors: [{key: a, %s}]\n",
                        rows[i].text);

        char *const notes = doubts_of(text);

        cr_assert_str_eq(notes, rows[i].notes, "%s%s", text, notes);
        free(notes);
    }
}

Test(doubts, a_limit_without_a_number_is_told_of)
{
    static const struct notes_row rows[] = {
        {"rate_limit: {unit: hour, requests_per_unit: 0}", ""},
        {"rate_limit: {unlimited: true}", ""},
        {"rate_limit: {unit: hour}",
         "f.yaml:2:36: warning: `rate_limit` has no `requests_per_unit`: left out it is 0 "
         "(in d.a)" HINT},
        {"rate_limit: {unit: hour, requests_per_unit: ~}",
         "f.yaml:2:36: warning: `rate_limit` has no `requests_per_unit`: left out it is 0 "
         "(in d.a)" HINT},
        {"limits: [{unit: hour, requests_per_unit: 0}, {unit: day}]",
         "f.yaml:2:69: warning: an element of `limits` has no `requests_per_unit`: left out it is "
         "0 (in d.a)" HINT},
        {"descriptors: [{key: b, rate_limit: {window: 1s}}]",
         "f.yaml:2:59: warning: `rate_limit` has no `requests_per_unit`: left out it is 0 "
         "(in d.a.b)" HINT},
    };

    expect_doubts(rows, sizeof rows / sizeof rows[0]);
}

Test(doubts, addresses_that_do_not_count_as_such_are_told_of)
{
#define TEXT "is compared letter by letter: no address is within it (in d.a_"
#define REMEDY                                                                                     \
    "); `group_ip` without a value counts addresses by prefix, and `10.*` is a pattern for those " \
    "that begin with it\n"
#define ALONE                                                                                      \
    "f.yaml:2:34: warning: `group_ip` is on a rule without a limit and without `descriptors`: it " \
    "matters to limits that requests bring along alone (in d.a"
    static const struct notes_row rows[] = {
        {"value: 10.0.0.0/8",
         "f.yaml:2:16: warning: `value: 10.0.0.0/8` " TEXT "10.0.0.0/8" REMEDY},
        {"value: '2001:db8::/32', rate_limit: {unlimited: true}",
         "f.yaml:2:16: warning: `value: 2001:db8::/32` " TEXT "2001:db8::/32" REMEDY},
        {"value: 10.0.0.0", ""},
        {"value: 10.0.0.0/33", ""},
        {"value: 10.0.0.0/", ""},
        {"value: /8", ""},
        {"value: docs/8", ""},
        {"value: 10.0.0.0/8/index", ""},
        {"value: 10.*", ""},
        {"group_ip: {ipv4: 24}", ALONE "); add a `rate_limit`, or remove it\n"},
        {"group_ip: {ipv4: 24}, value: 'x*'", ALONE "_x*); add a `rate_limit`, or remove it\n"},
        {"group_ip: {ipv4: 24}, rate_limit: {unlimited: true}", ""},
        {"group_ip: {ipv4: 24}, limits: [{unlimited: true}]", ""},
        {"group_ip: {ipv4: 24}, descriptors: [{key: b}]", ""},
    };
#undef TEXT
#undef REMEDY
#undef ALONE

    expect_doubts(rows, sizeof rows / sizeof rows[0]);
}

static void look(struct texts *texts)
{
    struct wr_draft *drafts[] = {&texts->drafts[0], &texts->drafts[1]};

    cr_assert(wr_drafts_doubt(drafts, 2, &texts->diag));
}

/* What was told of two files is told again only when one of their domain is new. */
Test(doubts, domains_without_a_fresh_draft_are_passed_over)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "a.yaml", "domain: d\ndescriptors: [{key: a, value: '*'}]\n");
    texts_add(&texts, "b.yaml",
              "domain: d\ndescriptors: [{key: a, value: 'x*', rate_limit: {unit: hour}}]\n");
    look(&texts);
    cr_assert_eq(texts.diag.n_warnings, 0u);
    texts.drafts[0].is_fresh = true;
    look(&texts);
    cr_assert_eq(texts.diag.n_warnings, 1u);
    texts_fini(&texts);
}

/* Whether a draft is marked never depends on others. */
Test(doubts, what_takes_several_drafts_marks_none)
{
    static const struct {
        const char *first, *second;
        size_t n_warnings; /* of which none marks */
    } rows[] = {
        {"{key: k, value: '*'}", "{key: k, value: 'x*'}", 1},
        {"{key: k, value: '*'}", "{key: k}", 1},
        {"{key: a, rate_limit: {unlimited: true, name: x, replaces: [{name: y}]}}",
         "{key: b, rate_limit: {unlimited: true, name: y, replaces: [{name: x}]}}", 1},
        {"{key: a, rate_limit: {unlimited: true, replaces: [{name: y}]}}", "{key: b}", 1},
        {"{key: a, rate_limit: {unlimited: true, replaces: [{name: y}]}}",
         "{key: b, rate_limit: {unlimited: true, name: y}}", 0},
        {"{key: a, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1, replaces: "
         "[{name: y}]}}",
         "{key: b, rate_limit: {unit: hour, requests_per_unit: 1, name: y}}", 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct texts texts;
        char first[256], second[256];

        (void) snprintf(first, sizeof first, "domain: d\ndescriptors: [%s]\n", rows[i].first);
        (void) snprintf(second, sizeof second, "domain: d\ndescriptors: [%s]\n", rows[i].second);
        texts_init(&texts);
        texts_add(&texts, "a.yaml", first);
        texts_add(&texts, "b.yaml", second);
        texts_doubt(&texts, true);
        cr_assert_eq(texts.diag.n_warnings, rows[i].n_warnings, "row %zu: %s", i,
                     texts_notes(&texts));
        cr_assert_not(texts.drafts[0].has_warning, "row %zu", i);
        cr_assert_not(texts.drafts[1].has_warning, "row %zu", i);
        texts_fini(&texts);
    }
}

/* Beside another that has the same as well, it is told for itself only. */
Test(doubts, what_takes_one_draft_marks_it)
{
    static const char *const rows[] = {
        "{key: k, value: '*'}, {key: k, value: 'x*'}",
        "{key: a, rate_limit: {unlimited: true, name: x, replaces: [{name: y}]}}, {key: b, "
        "rate_limit: {unlimited: true, name: y, replaces: [{name: x}]}}",
        "{key: a, shadow_mode: true, rate_limit: {unit: hour, requests_per_unit: 1, replaces: "
        "[{name: y}]}}, {key: b, rate_limit: {unit: hour, requests_per_unit: 1, name: y}}",
        "{key: a, rate_limit: {unit: hour}}",
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct texts texts;
        char text[512];

        (void) snprintf(text, sizeof text, "domain: d\ndescriptors: [%s]\n", rows[i]);
        texts_init(&texts);
        texts_add(&texts, "a.yaml", text);
        texts_add(&texts, "b.yaml",
                  "domain: d\ndescriptors: [{key: l, rate_limit: {unit: hour, requests_per_unit: "
                  "1, name: y}}]\n");
        texts_doubt(&texts, true);
        cr_assert_eq(texts.diag.n_warnings, 1u, "row %zu: %s", i, texts_notes(&texts));
        cr_assert(texts.drafts[0].has_warning, "row %zu", i);
        cr_assert_not(texts.drafts[1].has_warning, "row %zu", i);
        texts_fini(&texts);
    }
}

Test(doubts, without_memory_nothing_is_known)
{
    static const char *const text =
        "domain: d\n"
        "descriptors:\n"
        "  - {key: k, value: '*', rate_limit: {unit: hour, requests_per_unit: 1, name: x}}\n"
        "  - key: k\n"
        "    value: a*\n"
        "    rate_limit: {unit: hour, requests_per_unit: 1, replaces: [{name: x}]}\n"
        "    descriptors: [{key: l, value: 'b*'}]\n";
    bool is_done = false;
    size_t n_failed = 0;

    for (size_t n = 0; !is_done; n++) {
        struct wr_draft *draft;
        struct wr_diag diag;
        struct texts texts;

        texts_init(&texts);
        wr_diag_init(&diag, 100);
        texts_add(&texts, "f.yaml", text);
        draft = &texts.drafts[0];
        draft->is_fresh = true;
        failing_malloc_start(n);
        is_done = wr_draft_doubt(draft, false, &diag) && wr_drafts_doubt(&draft, 1, &diag);
        failing_malloc_stop();
        n_failed += !is_done;
        wr_diag_fini(&diag);
        texts_fini(&texts);
    }
    cr_assert_gt(n_failed, 1u);
}
