/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/draft.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rules/texts.h"

/* Around a rule of domain d, in flow style. */
#define BEFORE "domain: d\ndescriptors: [{"
#define BEHIND "}]\n"

#define UNITS "one of second, minute, hour, day, week, month, year; or `window: 90s` in its place"

Test(draft, units)
{
    static const struct notes_row rows[] = {
        {"key: a, rate_limit: {unit: SECOND}", ""},
        {"key: a, rate_limit: {unit: Week, requests_per_unit: 1}", ""},
        {"key: a, rate_limit: {}",
         "f.yaml:2:36: error: `rate_limit` has no `unit` (in d.a); " UNITS "\n"},
        {"key: a, rate_limit: {unit: ''}",
         "f.yaml:2:43: error: `rate_limit` has no `unit` (in d.a); " UNITS "\n"},
        {"key: a, rate_limit: {unit: hours}",
         "f.yaml:2:43: error: `hours` is not a unit (in d.a); did you mean `hour`?\n"},
        {"key: a, rate_limit: {unit: unknown}",
         "f.yaml:2:43: error: `unknown` is not a unit (in d.a); " UNITS "\n"},
        {"key: a, rate_limit: {unit: 'hour '}",
         "f.yaml:2:43: error: `hour ` is not a unit (in d.a); did you mean `hour`?\n"},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

Test(draft, unlimited)
{
    static const struct notes_row rows[] = {
        {"key: a, rate_limit: {unlimited: true}", ""},
        {"key: a, rate_limit: {unlimited: true, count: all, failure_mode: deny, name: x}", ""},
        {"key: a, rate_limit: {unlimited: true, requests_per_unit: ~}", ""},
        {"key: a, rate_limit: {unlimited: true, requests_per_unit: 5}",
         "f.yaml:2:36: warning: `requests_per_unit: 5` beside `unlimited: true` has no effect (in "
         "d.a); remove one of the two\n"},
        {"key: a, rate_limit: {unlimited: true, requests_per_unit: 0}",
         "f.yaml:2:36: warning: `requests_per_unit: 0` beside `unlimited: true` has no effect (in "
         "d.a); remove one of the two\n"},
        {"key: a, rate_limit: {unlimited: true, unit: hour}",
         "f.yaml:2:60: error: `unit` must not stand beside `unlimited: true` (in d.a); remove one "
         "of the two\n"},
        {"key: a, rate_limit: {unlimited: true, unit: fortnight}",
         "f.yaml:2:60: warning: `unit: fortnight` beside `unlimited: true` has no effect, and is "
         "not a unit (in d.a); remove it\n"},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

#define ESCAPE                                                                                     \
    "f.yaml:2:55: warning: `name` holds a quote, a backslash or a control character, which "       \
    "response headers cannot show as they are (in d.a); use letters, digits, blanks and "          \
    "punctuation\n"

Test(draft, replaces_and_names)
{
    static const struct notes_row rows[] = {
        {"key: a, rate_limit: {unit: hour, name: me, replaces: [{name: you}]}", ""},
        {"key: a, rate_limit: {unit: hour, replaces: [{}]}",
         "f.yaml:2:60: error: an entry of `replaces` has no `name` (in d.a); as in `replaces: "
         "[{name: other}]`\n"},
        {"key: a, rate_limit: {unit: hour, name: me, replaces: [{name: me}]}",
         "f.yaml:2:70: error: a rule must not replace itself, `me` (in d.a); name another rule\n"},
        {"key: a, rate_limit: {unlimited: true, name: me, replaces: [{name: me}]}",
         "f.yaml:2:75: error: a rule must not replace itself, `me` (in d.a); name another rule\n"},
        {"key: a, rate_limit: {unit: hour, name: 'kilo limit/1 é'}", ""},
        {"key: a, rate_limit: {unit: hour, name: 'a\"b'}", ESCAPE},
        {"key: a, rate_limit: {unit: hour, name: 'a\\b'}", ESCAPE},
        {"key: a, rate_limit: {unit: hour, name: \"a\\tb\"}", ESCAPE},
        {"key: a, rate_limit: {unit: hour, name: \"a\\x7f\"}", ESCAPE},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

Test(draft, share_threshold_needs_a_wildcard)
{
    static const struct notes_row rows[] = {
        {"key: a, value: 'x*', share_threshold: true", ""},
        {"key: 'a*', share_threshold: true", ""},
        {"key: a, value: b, share_threshold: false", ""},
        {"key: a, share_threshold: true",
         "f.yaml:2:16: error: `share_threshold` needs a `*` in `value` (in d.a); as in `value: "
         "\"docs/*\"`\n"},
        {"key: a, value: b, share_threshold: true",
         "f.yaml:2:16: error: `share_threshold` needs a `*` in `value` (in d.a_b); as in `value: "
         "\"docs/*\"`\n"},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

#define AGAIN "join the two into one rule, and their `descriptors` into one list of children\n"

Test(draft, each_pair_stands_once_on_a_level)
{
    static const struct notes_row rows[] = {
        {"key: a}, {key: a, value: x}, {key: a, value: y}, {key: b, value: x", ""},
        {"key: b_c}, {key: b, value: c", ""},
        {"key: a, descriptors: [{key: a}]}, {key: c", ""},
        {"key: a}, {key: b}, {key: a, value: ''",
         "f.yaml:2:36: error: key `a` with no value is already defined at f.yaml:2:16 (in "
         "d.a); " AGAIN},
        {"key: a, value: 'x*'}, {key: a, value: 'x*'",
         "f.yaml:2:39: error: key `a` with value `x*` is already defined at f.yaml:2:16 (in "
         "d.a_x*); " AGAIN},
        {"key: a, descriptors: [{key: c}, {key: c}]",
         "f.yaml:2:49: error: key `c` with no value is already defined at f.yaml:2:39 (in "
         "d.a.c); " AGAIN},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

Test(draft, a_third_of_the_same_is_measured_by_the_first)
{
    char *const notes = notes_of("domain: d\ndescriptors:\n- key: a\n- key: a\n- key: a\n");

    cr_assert_not_null(strstr(notes, "f.yaml:4:3: error"), "%s", notes);
    cr_assert_not_null(strstr(notes, "f.yaml:5:3: error"), "%s", notes);
    cr_assert_null(strstr(notes, "at f.yaml:4:3"), "%s", notes);
    free(notes);
}

Test(draft, a_domain_has_a_name)
{
    const char *const texts[] = {"domain: ''\n", "domain:\n", "descriptors: []\n", "{}\n"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char *const notes = notes_of(texts[i]);

        cr_assert_not_null(strstr(notes, "the file has no `domain`"), "%s\n%s", texts[i], notes);
        free(notes);
    }
}

static const char first[] = "domain: d\ndescriptors: [{key: a}]\n";
static const char second[] = "domain: d\ndescriptors: [{key: b}, {key: c, value: x}]\n";
static const char third[] = "domain: d\ndescriptors: [{key: c, value: x}, {key: a, value: z}]\n";

Test(draft, without_merging_the_later_file_of_a_domain_is_refused)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "1.yaml", first);
    texts_add(&texts, "2.yaml", second);
    texts_check(&texts, false);
    cr_assert_str_eq(texts_notes(&texts),
                     "2.yaml:1:9: error: domain `d` has its rules already, at 1.yaml:1:9; join the "
                     "files, or set --merge-domain-config\n");
    cr_assert_not(texts.drafts[0].is_refused);
    cr_assert(texts.drafts[1].is_refused);
    texts_fini(&texts);
}

Test(draft, with_merging_the_later_file_of_a_pair_is_refused)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "1.yaml", first);
    texts_add(&texts, "2.yaml", second);
    texts_add(&texts, "3.yaml", third);
    texts_check(&texts, true);
    cr_assert_str_eq(texts_notes(&texts),
                     "3.yaml:2:16: error: key `c` with value `x` is already defined at "
                     "2.yaml:2:26 (in d.c_x); " AGAIN);
    cr_assert_not(texts.drafts[0].is_refused);
    cr_assert_not(texts.drafts[1].is_refused);
    cr_assert(texts.drafts[2].is_refused);
    texts_fini(&texts);
}

Test(draft, with_merging_a_domain_has_one_count)
{
    static const struct {
        const char *texts[3];
        size_t refused; /* the file; 3: none */
    } rows[] = {
        {{"domain: d\n", "domain: d\ncount: admitted\n", "domain: d\n"}, 3},
        {{"domain: d\ncount: admitted\n", "domain: d\n", "domain: d\ncount: admitted\n"}, 3},
        {{"domain: d\n", "domain: d\ncount: admitted\n", "domain: d\ncount: all\n"}, 2},
        {{"domain: d\ncount: all\n", "count: admitted\ndomain: d\n", "domain: d\n"}, 1},
        {{"domain: d\ncount: all\n", "domain: e\ncount: admitted\n", "domain: d\n"}, 3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct texts texts;

        texts_init(&texts);
        texts_add(&texts, "1.yaml", rows[i].texts[0]);
        texts_add(&texts, "2.yaml", rows[i].texts[1]);
        texts_add(&texts, "3.yaml", rows[i].texts[2]);
        texts_check(&texts, true);
        for (size_t k = 0; k < 3; k++) {
            cr_assert_eq(texts.drafts[k].is_refused, k == rows[i].refused, "row %zu: %s", i,
                         texts_notes(&texts));
        }
        texts_fini(&texts);
    }
}

Test(draft, another_count_is_told_with_the_place_of_the_first)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "1.yaml", "domain: d\ncount: all_or_nothing\n");
    texts_add(&texts, "2.yaml", "domain: d\ncount: admitted\n");
    texts_check(&texts, true);
    cr_assert_str_eq(texts_notes(&texts),
                     "2.yaml:2:8: error: domain `d` has `count: all_or_nothing` already, at "
                     "1.yaml:2:8; one domain has one `count`, in one or in all of its files\n");
    texts_fini(&texts);
}

Test(draft, one_bad_file_leaves_the_others_alone)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "1.yaml", "domain: x\ndescriptors: [{key: a}, {key: a}]\n");
    texts_add(&texts, "2.yaml", "domain: y\ndescriptors: [\n");
    texts_add(&texts, "3.yaml", "domain: z\n");
    texts_check(&texts, false);
    cr_assert(texts.drafts[0].is_refused);
    cr_assert(texts.drafts[1].is_refused);
    cr_assert_not(texts.drafts[2].is_refused);
    cr_assert_eq(texts.diag.n_errors, 2u);
    texts_fini(&texts);
}

Test(draft, patterns_have_a_bound_on_stars)
{
    for (size_t n = WR_STARS_MAX; n <= WR_STARS_MAX + 1; n++) {
        char stars[WR_STARS_MAX + 2] = "", text[1024], *notes;

        memset(stars, '*', n);
        (void) snprintf(text, sizeof text, "domain: d\ndescriptors: [{key: 'k%s'}]\n", stars);
        notes = notes_of(text);
        cr_assert_eq(strstr(notes, "error: `key` has 256 `*`, more than 255") != NULL,
                     n > WR_STARS_MAX, "%s", notes);
        free(notes);
        (void) snprintf(text, sizeof text, "domain: d\ndescriptors: [{key: k, value: 'v%s'}]\n",
                        stars);
        notes = notes_of(text);
        cr_assert_eq(strstr(notes, "error: `value` has 256 `*`, more than 255") != NULL,
                     n > WR_STARS_MAX, "%s", notes);
        free(notes);
    }
}
