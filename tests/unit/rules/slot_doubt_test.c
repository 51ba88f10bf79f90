/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/slot_doubt.h"

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

static char *note_of(const char *text)
{
    struct wr_rules *const rules = rules_of(text);
    struct wr_diag diag;
    char *notes = NULL;
    size_t len = 0;
    FILE *const out = open_memstream(&notes, &len);

    wr_diag_init(&diag, 10);
    wr_slot_doubt_note(rules, &diag);
    wr_diag_print(&diag, out);
    cr_assert_eq(fclose(out), 0);
    wr_diag_fini(&diag);
    wr_rules_release(rules);
    return notes;
}

Test(slot_doubt, the_first_limit_that_stands_or_falls_with_others_is_named)
{
    static const struct {
        const char *domain, *rules, *begin, *word;
    } rows[] = {
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

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[512];

        (void) snprintf(text, sizeof text, "domain: d\n%sdescriptors:\n%s", rows[i].domain,
                        rows[i].rules);

        char *const note = note_of(text);

        cr_assert_eq(strncmp(note, rows[i].begin, strlen(rows[i].begin)), 0, "%s%s", text, note);
        cr_assert_eq(note[0] == '\0', rows[i].begin[0] == '\0', "%s%s", text, note);
        cr_assert_not_null(strstr(note, rows[i].word), "%s%s", text, note);
        free(note);
    }
}

/* Whether the publication of such rules is told in the log. */
static bool is_told(bool keeps_groups_apart)
{
    struct wr_metrics *const metrics = wr_metrics_new();
    struct wr_current_rules current;
    struct capture capture;

    wr_current_rules_init(&current);

    struct wr_publisher publisher = {.current = &current,
                                     .metrics = wr_metrics_block_new(metrics),
                                     .keeps_groups_apart = keeps_groups_apart};
    struct wr_rules *rules =
        rules_of("domain: d\ncount: all_or_nothing\ndescriptors: [{key: a, " LIMIT "}]\n");

    capture_start(&capture);
    wr_publisher_publish(&publisher, &rules);
    capture_stop(&capture);
    wr_publisher_fini(&publisher);
    wr_current_rules_fini(&current);
    wr_metrics_destroy(metrics);
    return strstr(capture.text, " warning: f.yaml:3:16: with --redis-keys reference") != NULL;
}

Test(slot_doubt, rules_that_come_into_force_draw_it_where_keys_have_no_common_slot)
{
    cr_assert_not(is_told(false));
    cr_assert(is_told(true));
}
