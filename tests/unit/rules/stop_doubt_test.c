/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/stop_doubt.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/publisher.h"
#include "tests/support/capture.h"
#include "tests/unit/rules/texts.h"

#define LIMIT "rate_limit: {unit: hour, requests_per_unit: 1}"

static char *note_of(const char *text)
{
    struct wr_rules *const rules = rules_of(text);
    struct wr_diag diag;
    char *notes = NULL;
    size_t len = 0;
    FILE *const out = open_memstream(&notes, &len);

    wr_diag_init(&diag, 10);
    wr_stop_doubt_note(rules, &diag);
    wr_diag_print(&diag, out);
    cr_assert_eq(fclose(out), 0);
    wr_diag_fini(&diag);
    wr_rules_release(rules);
    return notes;
}

Test(stop_doubt, the_first_limit_that_may_be_over_and_refuses_nobody_is_named)
{
    static const struct {
        const char *rules, *begin, *word;
    } rows[] = {
        {"  - {key: a, " LIMIT "}\n", "", ""},
        {"  - {key: a, shadow_mode: true}\n", "", ""},
        {"  - {key: a, shadow_mode: true, rate_limit: {unlimited: true}}\n", "", ""},
        {"  - {key: a, " LIMIT "}\n  - {key: b, shadow_mode: true, " LIMIT "}\n",
         "f.yaml:4:6: warning: with --stop-increment-when-over-limit ", "under `shadow_mode` that"},
        {"  - {key: a, quota_mode: true, " LIMIT "}\n  - {key: b, shadow_mode: true, " LIMIT "}\n",
         "f.yaml:4:6: warning: ", "under `shadow_mode` that"},
        /* a quota that is over refuses, unless another one has room */
        {"  - {key: a, quota_mode: true, " LIMIT "}\n  - {key: b, " LIMIT "}\n", "", ""},
        {"  - {key: a, quota_mode: true, " LIMIT "}\n  - {key: b, quota_mode: true, " LIMIT "}\n",
         "f.yaml:3:6: warning: ", "when another quota lets the request pass"},
        {"  - {key: a, quota_mode: true, " LIMIT "}\n"
         "  - {key: b, quota_mode: true, rate_limit: {unlimited: true}}\n",
         "f.yaml:3:6: warning: ", "under `quota_mode` that"},
        {"  - {key: a, quota_mode: true, " LIMIT "}\n  - {key: b, shadow_mode: true, " LIMIT "}\n"
         "  - {key: c, quota_mode: true, " LIMIT "}\n",
         "f.yaml:3:6: warning: ", "under `quota_mode` that"},
        {"  - {key: a, descriptors: [{key: b, shadow_mode: true, limits: [{unit: hour, "
         "requests_per_unit: 1}, {unit: day, requests_per_unit: 2}]}]}\n",
         "f.yaml:3:29: warning: ", "(in d.a.b)"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];

        (void) snprintf(text, sizeof text, "domain: d\ndescriptors:\n%s", rows[i].rules);

        char *const note = note_of(text);

        cr_assert_eq(strncmp(note, rows[i].begin, strlen(rows[i].begin)), 0, "%s%s", text, note);
        cr_assert_eq(note[0] == '\0', rows[i].begin[0] == '\0', "%s%s", text, note);
        cr_assert_not_null(strstr(note, rows[i].word), "%s%s", text, note);
        free(note);
    }
}

/* Whether the publication of such rules is told in the log. */
static bool is_told(bool stops_when_over)
{
    struct wr_metrics *const metrics = wr_metrics_new();
    struct wr_current_rules current;
    struct capture capture;

    wr_current_rules_init(&current);

    struct wr_publisher publisher = {.current = &current,
                                     .metrics = wr_metrics_block_new(metrics),
                                     .stops_when_over = stops_when_over};
    struct wr_rules *rules =
        rules_of("domain: d\ndescriptors: [{key: a, shadow_mode: true, " LIMIT "}]\n");

    capture_start(&capture);
    wr_publisher_publish(&publisher, &rules);
    capture_stop(&capture);
    wr_publisher_fini(&publisher);
    wr_current_rules_fini(&current);
    wr_metrics_destroy(metrics);
    return strstr(capture.text, " warning: f.yaml:2:16: with --stop-incr") != NULL;
}

Test(stop_doubt, rules_that_come_into_force_draw_it_while_the_option_is_on)
{
    cr_assert_not(is_told(false));
    cr_assert(is_told(true));
}
