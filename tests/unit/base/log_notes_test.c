/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_notes.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/log.h"
#include "tests/support/capture.h"

#define S(literal) ((struct wr_str) WR_STR(literal))

static struct capture capture;

static void log_captured(const struct wr_diag *diag)
{
    capture_start(&capture);
    wr_log_notes(diag, "`weir check` shows more");
    capture_stop(&capture);
}

/* The next line of what was captured, without the time it begins with. */
static const char *next_line(void)
{
    static char *rest;
    static bool has_begun;
    char *const line = strtok_r(has_begun ? NULL : capture.text, "\n", &rest);

    has_begun = true;
    return line == NULL ? NULL : strchr(line, ' ');
}

Test(log_notes, of_each_severity_are_lines_of_its_level_in_order)
{
    const struct wr_place place = {.file = WR_STR("a.yaml"), .line = 3, .column = 5};
    const struct wr_place nowhere = {.file = WR_STR("b.yaml")};
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, place, S("d.k"), "write `unit`", "no key `%s`", "units");
    wr_diag_add(&diag, WR_SEVERITY_WARNING, nowhere, S(""), "", "is odd\n");
    log_captured(&diag);
    cr_assert_str_eq(next_line(), " error: a.yaml:3:5: no key `units` (in d.k); write `unit`");
    cr_assert_str_eq(next_line(), " warning: b.yaml: is odd?");
    cr_assert_null(next_line());
    wr_diag_fini(&diag);
}

Test(log_notes, of_warnings_are_silent_when_only_errors_are_logged)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    wr_diag_add(&diag, WR_SEVERITY_WARNING, (struct wr_place){0}, S(""), "", "is odd");
    wr_log_set_level(WR_LOG_ERROR);
    log_captured(&diag);
    cr_assert_str_empty(capture.text);
    wr_diag_fini(&diag);
}

Test(log_notes, of_an_empty_list_are_none)
{
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    log_captured(&diag);
    cr_assert_str_empty(capture.text);
    wr_diag_fini(&diag);
}

Test(log_notes, that_were_told_before_are_not_told_again)
{
    const struct wr_place place = {.file = WR_STR("a.yaml"), .line = 3, .column = 5};
    const struct wr_place other = {.file = WR_STR("a.yaml"), .line = 4, .column = 5};
    struct wr_diag told, diag;

    wr_diag_init(&told, 10);
    wr_diag_init(&diag, 10);
    wr_diag_add(&told, WR_SEVERITY_WARNING, place, S(""), "", "is odd");
    wr_diag_add(&diag, WR_SEVERITY_WARNING, place, S(""), "", "is odd");
    wr_diag_add(&diag, WR_SEVERITY_WARNING, other, S(""), "", "is odd");
    wr_diag_add(&diag, WR_SEVERITY_WARNING, place, S(""), "", "is odder");
    capture_start(&capture);
    wr_log_new_notes(&diag, &told, NULL);
    capture_stop(&capture);
    cr_assert_str_eq(next_line(), " warning: a.yaml:4:5: is odd");
    cr_assert_str_eq(next_line(), " warning: a.yaml:3:5: is odder");
    cr_assert_null(next_line());
    wr_diag_fini(&told);
    wr_diag_fini(&diag);
}

Test(log_notes, that_are_more_than_were_kept_are_counted_also_when_nothing_can_be_done)
{
    const struct wr_place place = {.file = WR_STR("a.yaml")};
    struct wr_diag diag;

    wr_diag_init(&diag, 1);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, place, S(""), "", "is odd");
    wr_diag_add(&diag, WR_SEVERITY_ERROR, place, S(""), "", "is odder");
    capture_start(&capture);
    wr_log_notes(&diag, NULL);
    capture_stop(&capture);
    cr_assert_str_eq(next_line(), " error: a.yaml: is odd");
    cr_assert_str_eq(next_line(), " warning: 1 more notes are not shown");
    cr_assert_null(next_line());
    wr_diag_fini(&diag);
}
