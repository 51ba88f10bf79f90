/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/doubts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/rules/texts.h"

#define HINT "; write how many, `requests_per_unit: 0` if nobody is to pass\n"

Test(doubts, a_limit_without_a_number_refuses_everybody)
{
    static const struct {
        const char *rule, *notes;
    } rows[] = {
        {"rate_limit: {unit: hour, requests_per_unit: 0}", ""},
        {"rate_limit: {unlimited: true}", ""},
        {"rate_limit: {unit: hour}",
         "f.yaml:2:36: warning: `rate_limit` has no `requests_per_unit`, and so refuses everybody "
         "(in d.a)" HINT},
        {"rate_limit: {unit: hour, requests_per_unit: ~}",
         "f.yaml:2:36: warning: `rate_limit` has no `requests_per_unit`, and so refuses everybody "
         "(in d.a)" HINT},
        {"limits: [{unit: hour, requests_per_unit: 0}, {unit: day}]",
         "f.yaml:2:69: warning: an element of `limits` has no `requests_per_unit`, and so refuses "
         "everybody (in d.a)" HINT},
        {"descriptors: [{key: b, rate_limit: {window: 1s}}]",
         "f.yaml:2:59: warning: `rate_limit` has no `requests_per_unit`, and so refuses everybody "
         "(in d.a.b)" HINT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];

        (void) snprintf(text, sizeof text, "domain: d\ndescriptors: [{key: a, %s}]\n",
                        rows[i].rule);

        char *const notes = doubts_of(text);

        cr_assert_str_eq(notes, rows[i].notes, "%s%s", text, notes);
        free(notes);
    }
}

static void look(struct texts *texts, bool merges_domains)
{
    struct wr_draft *drafts[] = {&texts->drafts[0], &texts->drafts[1]};

    cr_assert(wr_drafts_doubt(drafts, 2, merges_domains, &texts->diag));
}

/* What was told of a file is told again only when another of its domain is new. */
Test(doubts, domains_without_a_fresh_draft_are_passed_over)
{
    static const char first[] = "domain: d\ndescriptors: [{key: a, rate_limit: {unit: hour}}]\n";
    static const char second[] = "domain: d\ndescriptors: [{key: b, rate_limit: {unit: hour}}]\n";
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "a.yaml", first);
    texts_add(&texts, "b.yaml", second);
    look(&texts, true);
    cr_assert_eq(texts.diag.n_warnings, 0u);
    texts.drafts[1].is_fresh = true;
    look(&texts, false);
    cr_assert_eq(texts.diag.n_warnings, 1u);
    cr_assert_not(texts.drafts[0].has_warning);
    cr_assert(texts.drafts[1].has_warning);
    look(&texts, true);
    cr_assert_eq(texts.diag.n_warnings, 3u);
    cr_assert(texts.drafts[0].has_warning);
    texts_fini(&texts);
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
        is_done = wr_drafts_doubt(&draft, 1, false, &diag);
        failing_malloc_stop();
        n_failed += !is_done;
        wr_diag_fini(&diag);
        texts_fini(&texts);
    }
    cr_assert_gt(n_failed, 1u);
}
