/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/replace_check.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rules/texts.h"

#define LIMIT "unit: hour, requests_per_unit: 1"
#define NONE "; it is the `name` of a limit of this domain, by case\n"
#define TRIAL                                                                                      \
    "a rule in `shadow_mode` takes `x` away, which is enforced: a request that finds both is "     \
    "held "                                                                                        \
    "to neither "
#define LEAVE "; leave `replaces` out for as long as there is `shadow_mode`\n"
#define OUT "; take one of these `replaces` out\n"

struct row {
    const char *rules, *notes;
};

static void assert_rows(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[2048];

        (void) snprintf(text, sizeof text, "domain: d\ndescriptors:\n%s", rows[i].rules);

        char *const notes = doubts_of(text);

        cr_assert_str_eq(notes, rows[i].notes, "%s%s", text, notes);
        free(notes);
    }
}

Test(replace_check, what_is_replaced_must_be_there)
{
    static const struct row rows[] = {
        {"  - {key: a, rate_limit: {" LIMIT ", name: x}}\n"
         "  - {key: b, rate_limit: {" LIMIT ", replaces: [{name: x}]}}\n",
         ""},
        {"  - {key: a, rate_limit: {" LIMIT ", name: X}}\n"
         "  - {key: b, rate_limit: {" LIMIT ", replaces: [{name: x}]}}\n",
         "f.yaml:4:72: warning: there is no limit `x` to be replaced (in d.b)" NONE},
        /* deeper, in a list, and unlimited */
        {"  - {key: a, descriptors: [{key: c, limits: [{" LIMIT ", name: x}, {unit: day, "
         "requests_per_unit: 1}]}]}\n"
         "  - {key: b, rate_limit: {unlimited: true, replaces: [{name: x}, {name: y}]}}\n",
         "f.yaml:4:66: warning: there is no limit `y` to be replaced (in d.b)" NONE},
    };

    assert_rows(rows, sizeof rows / sizeof rows[0]);
}

Test(replace_check, a_rule_on_trial_must_not_take_an_enforced_one_away)
{
    static const struct row rows[] = {
        {"  - {key: a, rate_limit: {" LIMIT ", name: x}}\n"
         "  - {key: b, shadow_mode: true, rate_limit: {" LIMIT ", replaces: [{name: x}]}}\n",
         "f.yaml:4:91: warning: " TRIAL "(in d.b)" LEAVE},
        {"  - {key: a, shadow_mode: true, rate_limit: {" LIMIT ", name: x}}\n"
         "  - {key: b, shadow_mode: true, rate_limit: {" LIMIT ", replaces: [{name: x}]}}\n",
         ""},
        {"  - {key: a, rate_limit: {unlimited: true, name: x}}\n"
         "  - {key: b, shadow_mode: true, rate_limit: {" LIMIT ", replaces: [{name: x}]}}\n",
         ""},
        /* of two of that name one is enforced */
        {"  - {key: a, shadow_mode: true, rate_limit: {" LIMIT ", name: x}}\n"
         "  - {key: b, shadow_mode: true, rate_limit: {" LIMIT ", replaces: [{name: x}]}}\n"
         "  - {key: c, rate_limit: {" LIMIT ", name: x}}\n",
         "f.yaml:4:91: warning: " TRIAL "(in d.b)" LEAVE},
    };

    assert_rows(rows, sizeof rows / sizeof rows[0]);
}

Test(replace_check, limits_must_not_take_each_other_away)
{
    static const struct row rows[] = {
        {"  - {key: a, rate_limit: {" LIMIT ", name: x, replaces: [{name: y}]}}\n"
         "  - {key: b, rate_limit: {" LIMIT ", name: y, replaces: [{name: x}]}}\n",
         "f.yaml:4:81: warning: `x` and `y` replace each other: a request that finds both "
         "may be counted by neither (in d.b)" OUT},
        /* one after the other is fine */
        {"  - {key: a, rate_limit: {" LIMIT ", name: x, replaces: [{name: y}, {name: z}]}}\n"
         "  - {key: b, rate_limit: {" LIMIT ", name: y, replaces: [{name: z}]}}\n"
         "  - {key: c, rate_limit: {" LIMIT ", name: z}}\n",
         ""},
        {"  - {key: a, rate_limit: {" LIMIT ", name: z, replaces: [{name: y}]}}\n"
         "  - {key: b, rate_limit: {" LIMIT ", name: y, replaces: [{name: x}]}}\n"
         "  - {key: c, rate_limit: {" LIMIT ", name: x, replaces: [{name: z}]}}\n",
         "f.yaml:4:81: warning: `x`, `z` and 1 more replace each other in a ring: a request that "
         "finds all of them may be counted by none (in d.b)" OUT},
        /* by way of another limit of the same name */
        {"  - {key: a, rate_limit: {" LIMIT ", name: x, replaces: [{name: y}]}}\n"
         "  - {key: b, rate_limit: {" LIMIT ", name: y}}\n"
         "  - {key: c, rate_limit: {" LIMIT ", name: y, replaces: [{name: x}]}}\n",
         "f.yaml:5:81: warning: `x` and `y` replace each other: a request that finds both "
         "may be counted by neither (in d.c)" OUT},
        /* in one list, and with a way that leads into the ring */
        {"  - {key: a, rate_limit: {" LIMIT ", name: w, replaces: [{name: x}]}}\n"
         "  - key: b\n"
         "    limits:\n"
         "      - {" LIMIT ", name: x, replaces: [{name: y}]}\n"
         "      - {unit: day, requests_per_unit: 1, name: y, replaces: [{name: x}]}\n",
         "f.yaml:7:63: warning: `x` and `y` replace each other: a request that finds both "
         "may be counted by neither (in d.b)" OUT},
    };

    assert_rows(rows, sizeof rows / sizeof rows[0]);
}

/* x, y and z come one after the other, and z leads back to x and to y, twice each. */
Test(replace_check, a_limit_that_closes_many_rings_is_told_of_once)
{
    static const struct row rows[] = {
        {"  - {key: a, rate_limit: {" LIMIT ", name: x, replaces: [{name: y}]}}\n"
         "  - {key: b, rate_limit: {" LIMIT ", name: y, replaces: [{name: z}]}}\n"
         "  - {key: c, rate_limit: {" LIMIT ", name: z, replaces: [{name: x}, {name: y}]}}\n"
         "  - {key: e, rate_limit: {" LIMIT ", name: z, replaces: [{name: y}, {name: x}]}}\n",
         "f.yaml:5:81: warning: `x`, `y` and 1 more replace each other in a ring: a request that "
         "finds all of them may be counted by none (in d.c)" OUT
         "f.yaml:6:81: warning: `y` and `z` replace each other: a request that finds both may be "
         "counted by neither (in d.e)" OUT},
    };

    assert_rows(rows, sizeof rows / sizeof rows[0]);
}

/* What is known of a name is found out once, and not for each of as many entries. */
Test(replace_check, a_name_may_have_many_limits_and_be_replaced_often)
{
    const size_t n = 20000;
    char *const text = malloc(n * 128 + 64);
    size_t len = (size_t) sprintf(text, "domain: d\ndescriptors:\n");
    struct texts texts;

    texts_init(&texts);
    texts.bounds.max_nodes = 10000000;
    texts.bounds.max_file_bytes = 10000000;
    for (size_t i = 0; i < n; i++) {
        len += (size_t) sprintf(
            text + len, "  - {key: k%zu, shadow_mode: true, rate_limit: {" LIMIT ", name: x}}\n",
            i);
    }
    len += (size_t) sprintf(text + len, "  - key: k\n    shadow_mode: true\n    rate_limit:\n"
                                        "      {" LIMIT ", replaces: [&x {name: x}");
    for (size_t i = 0; i < n; i++) {
        len += (size_t) sprintf(text + len, ", *x");
    }
    (void) sprintf(text + len, "]}\n");
    texts_add(&texts, "f.yaml", text);
    texts_doubt(&texts, false);
    cr_assert_str_eq(texts_notes(&texts), "");
    texts_fini(&texts);
    free(text);
}

Test(replace_check, files_of_one_domain_are_looked_at_together)
{
    static const char *const first =
        "domain: d\n"
        "descriptors:\n"
        "  - {key: a, rate_limit: {" LIMIT ", name: x, replaces: [{name: y}]}}\n";
    static const char *const second =
        "domain: d\n"
        "descriptors:\n"
        "  - {key: b, rate_limit: {" LIMIT ", name: y, replaces: [{name: x}]}}\n";
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "a.yaml", first);
    texts_add(&texts, "b.yaml", second);
    texts_doubt(&texts, true);
    cr_assert_str_eq(texts_notes(&texts),
                     "b.yaml:3:81: warning: `x` and `y` replace each other: a request that finds "
                     "both may be counted by neither (in d.b)" OUT);
    texts_fini(&texts);

    /* Alone, each lacks what the other has. */
    texts_init(&texts);
    texts_add(&texts, "a.yaml", first);
    texts_add(&texts, "b.yaml", second);
    texts_doubt(&texts, false);
    cr_assert_str_eq(texts_notes(&texts),
                     "a.yaml:3:81: warning: there is no limit `y` to be replaced (in d.a)" NONE
                     "b.yaml:3:81: warning: there is no limit `x` to be replaced (in d.b)" NONE);
    texts_fini(&texts);
}

/* A chain of many names is gone along without recursion. */
Test(replace_check, a_ring_may_be_long)
{
    const size_t n = 20000;
    char *const text = malloc(n * 128 + 64);
    size_t len = (size_t) sprintf(text, "domain: d\ndescriptors:\n");
    struct texts texts;

    texts_init(&texts);
    texts.bounds.max_nodes = 10000000;
    texts.bounds.max_file_bytes = 10000000;
    for (size_t i = 0; i < n; i++) {
        len += (size_t) sprintf(text + len,
                                "  - {key: k%zu, rate_limit: {" LIMIT
                                ", name: n%zu, replaces: [{name: n%zu}]}}\n",
                                i, i, (i + 1) % n);
    }
    texts_add(&texts, "f.yaml", text);
    texts_doubt(&texts, false);
    cr_assert_eq(texts.diag.n_warnings, 1u, "%zu", texts.diag.n_warnings);
    cr_assert_not_null(strstr(texts_notes(&texts), "`n0`, `n1` and 19998 more replace each other"));
    texts_fini(&texts);
    free(text);
}

/* A way from the one file into a ring, and a ring whose first name is of the one file: no file says
 * more than it does alone, and what takes both is told of once. */
Test(replace_check, a_ring_is_between_files_when_a_limit_of_another_is_in_it)
{
    static const struct {
        const char *first, *notes;
    } rows[] = {
        {"name: w, replaces: [{name: x}]", "b.yaml:5:81: warning: `x`, `y` and 1 more replace"},
        {"name: x, replaces: [{name: y}]", "b.yaml:4:81: warning: `x`, `y` and 1 more replace"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char first[256], second[512];
        struct texts texts;

        (void) snprintf(first, sizeof first,
                        "domain: d\ndescriptors: [{key: a, rate_limit: {" LIMIT ", %s}}]\n",
                        rows[i].first);
        (void) snprintf(second, sizeof second,
                        "domain: d\ndescriptors:\n%s"
                        "  - {key: c, rate_limit: {" LIMIT ", name: y, replaces: [{name: z}]}}\n"
                        "  - {key: e, rate_limit: {" LIMIT ", name: z, replaces: [{name: x}]}}\n",
                        i == 0 ? "  - {key: b, rate_limit: {" LIMIT
                                 ", name: x, replaces: [{name: y}]}}\n"
                               : "");
        texts_init(&texts);
        texts_add(&texts, "a.yaml", first);
        texts_add(&texts, "b.yaml", second);
        texts_doubt(&texts, true);
        cr_assert_eq(texts.diag.n_warnings, 1u, "%s", texts_notes(&texts));
        cr_assert_eq(strncmp(texts_notes(&texts), rows[i].notes, strlen(rows[i].notes)), 0, "%s",
                     texts_notes(&texts));
        texts_fini(&texts);
    }
}
