/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/option_doubts.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/publisher.h"
#include "tests/support/capture.h"
#include "tests/unit/rules/texts.h"

#define LIMIT "rate_limit: {unit: hour, requests_per_unit: 1}"
#define HOUR "{unit: hour, requests_per_unit: 1"
#define DAY "{unit: day, requests_per_unit: 2"

static const struct wr_doubtful_options stops = {.stops_when_over = true};
static const struct wr_doubtful_options parts = {.keeps_groups_apart = true};

static char *note_of(const char *text, const struct wr_doubtful_options *options)
{
    struct wr_rules *const rules = rules_of(text);
    struct wr_diag diag;
    char *notes = NULL;
    size_t len = 0;
    FILE *const out = open_memstream(&notes, &len);

    wr_diag_init(&diag, 10);
    wr_option_doubts_note(rules, options, &diag);
    wr_diag_print(&diag, out);
    cr_assert_eq(fclose(out), 0);
    wr_diag_fini(&diag);
    wr_rules_release(rules);
    return notes;
}

struct row {
    const char *domain, *rules, *begin, *word;
};

static void check_notes(const struct wr_doubtful_options *options, const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[512];

        (void) snprintf(text, sizeof text, "domain: d\n%sdescriptors:\n%s", rows[i].domain,
                        rows[i].rules);

        char *const note = note_of(text, options);

        cr_assert_eq(strncmp(note, rows[i].begin, strlen(rows[i].begin)), 0, "%s%s", text, note);
        cr_assert_eq(note[0] == '\0', rows[i].begin[0] == '\0', "%s%s", text, note);
        cr_assert_not_null(strstr(note, rows[i].word), "%s%s", text, note);
        free(note);
    }
}

Test(option_doubts, stopping_names_the_first_limit_that_may_be_over_and_refuses_nobody)
{
    static const struct row rows[] = {
        {"", "  - {key: a, " LIMIT "}\n", "", ""},
        {"", "  - {key: a, shadow_mode: true}\n", "", ""},
        {"", "  - {key: a, shadow_mode: true, rate_limit: {unlimited: true}}\n", "", ""},
        {"", "  - {key: a, " LIMIT "}\n  - {key: b, shadow_mode: true, " LIMIT "}\n",
         "f.yaml:4:6: warning: with --stop-increment-when-over-limit ", "under `shadow_mode` that"},
        {"",
         "  - {key: a, quota_mode: true, " LIMIT "}\n  - {key: b, shadow_mode: true, " LIMIT "}\n",
         "f.yaml:4:6: warning: ", "under `shadow_mode` that"},
        /* a quota that is over refuses, unless another one has room */
        {"", "  - {key: a, quota_mode: true, " LIMIT "}\n  - {key: b, " LIMIT "}\n", "", ""},
        {"",
         "  - {key: a, quota_mode: true, " LIMIT "}\n  - {key: b, quota_mode: true, " LIMIT "}\n",
         "f.yaml:3:6: warning: ", "when another quota lets the request pass"},
        {"",
         "  - {key: a, quota_mode: true, " LIMIT "}\n"
         "  - {key: b, quota_mode: true, rate_limit: {unlimited: true}}\n",
         "f.yaml:3:6: warning: ", "under `quota_mode` that"},
        {"",
         "  - {key: a, quota_mode: true, " LIMIT "}\n  - {key: b, shadow_mode: true, " LIMIT "}\n"
         "  - {key: c, quota_mode: true, " LIMIT "}\n",
         "f.yaml:3:6: warning: ", "under `quota_mode` that"},
        {"",
         "  - {key: a, descriptors: [{key: b, shadow_mode: true, limits: [{unit: hour, "
         "requests_per_unit: 1}, {unit: day, requests_per_unit: 2}]}]}\n",
         "f.yaml:3:29: warning: ", "(in d.a.b)"},
    };

    check_notes(&stops, rows, sizeof rows / sizeof rows[0]);
}

Test(option_doubts, keys_apart_name_the_first_limit_that_stands_or_falls_with_others)
{
    static const struct row rows[] = {
        {"", "  - {key: a, " LIMIT "}\n", "", ""},
        {"", "  - {key: a, limits: [" HOUR "}]}\n", "", ""},
        {"", "  - {key: a, limits: [" HOUR ", count: all}, " DAY ", count: all}]}\n", "", ""},
        {"",
         "  - {key: a, rate_limit: {unit: hour, requests_per_unit: 1, algorithm: token_bucket}}\n",
         "", ""},
        {"", "  - {key: a, " LIMIT "}\n  - {key: b, limits: [" HOUR "}, " DAY "}]}\n",
         "f.yaml:4:6: warning: with --redis-keys reference in a cluster ", "(in d.b)"},
        {"", "  - {key: a, limits: [" HOUR ", count: all}, " DAY "}]}\n",
         "f.yaml:3:6: warning: ", "(in d.a)"},
        {"count: all_or_nothing\n", "  - {key: a, " LIMIT "}\n",
         "f.yaml:4:6: warning: ", "(in d.a)"},
        {"",
         "  - {key: a, " LIMIT "}\n  - {key: b, rate_limit: " HOUR ", count: all_or_nothing}}\n",
         "f.yaml:4:6: warning: ", "(in d.b)"},
        {"count: all_or_nothing\n", "  - {key: a, rate_limit: {unlimited: true}}\n", "", ""},
    };

    check_notes(&parts, rows, sizeof rows / sizeof rows[0]);
}

/* Whether the publication of the rules of `text` is told in the log with `line`. */
static bool is_told(const struct wr_doubtful_options *options, const char *text, const char *line)
{
    struct wr_metrics *const metrics = wr_metrics_new();
    struct wr_current_rules current;
    struct capture capture;

    wr_current_rules_init(&current);

    struct wr_publisher publisher = {
        .current = &current, .metrics = wr_metrics_block_new(metrics), .doubtful = *options};
    struct wr_rules *rules = rules_of(text);

    capture_start(&capture);
    wr_publisher_publish(&publisher, &rules);
    capture_stop(&capture);
    wr_publisher_fini(&publisher);
    wr_current_rules_fini(&current);
    wr_metrics_destroy(metrics);
    return strstr(capture.text, line) != NULL;
}

Test(option_doubts, rules_that_come_into_force_draw_them_while_the_option_is_on)
{
    static const struct wr_doubtful_options none, both = {true, true};
    static const char trial[] =
        "domain: d\ndescriptors: [{key: a, shadow_mode: true, " LIMIT "}]\n";
    static const char group[] =
        "domain: d\ncount: all_or_nothing\ndescriptors: [{key: a, " LIMIT "}]\n";
    static const char of_trial[] = " warning: f.yaml:2:16: with --stop-incr";
    static const char of_group[] = " warning: f.yaml:3:16: with --redis-keys reference";

    cr_assert_not(is_told(&none, trial, of_trial));
    cr_assert(is_told(&stops, trial, of_trial));
    cr_assert(is_told(&both, trial, of_trial));
    cr_assert_not(is_told(&none, group, of_group));
    cr_assert(is_told(&parts, group, of_group));
    cr_assert(is_told(&both, group, of_group));
}
