/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/capture.h"

Test(log, a_line_has_time_level_and_text)
{
    struct capture capture;

    capture_start(&capture);
    wr_log(WR_LOG_WARN, "port %d is taken", 8081);
    capture_stop(&capture);

    /* 2026-01-02T03:04:05.678Z warning: … */
    cr_assert_eq(strspn(capture.text, "0123456789-:.TZ"), strlen("2026-01-02T03:04:05.678Z"));
    cr_assert_eq(capture.text[10], 'T');
    cr_assert_eq(capture.text[23], 'Z');
    cr_assert_str_eq(capture.text + 24, " warning: port 8081 is taken\n");
}

Test(log, only_lines_of_the_level_and_above_are_written)
{
    static const enum wr_log_level levels[] = {WR_LOG_ERROR, WR_LOG_WARN, WR_LOG_INFO,
                                               WR_LOG_DEBUG};

    for (size_t set = 0; set < 4; set++) {
        wr_log_set_level(levels[set]);
        for (size_t level = 0; level < 4; level++) {
            struct capture capture;

            cr_assert_eq(wr_log_is_on(levels[level]), level <= set);
            capture_start(&capture);
            wr_log(levels[level], "text");
            capture_stop(&capture);
            cr_assert_eq(capture.text[0] != '\0', level <= set, "level %zu of %zu", level, set);
        }
    }
}

Test(log, one_event_stays_one_line)
{
    struct capture capture;

    capture_start(&capture);
    wr_log(WR_LOG_ERROR, "a\nb\x1b[31m\tc\x7f");
    capture_stop(&capture);
    cr_assert_str_eq(strchr(capture.text, ' '), " error: a?b?[31m?c?\n");
}

Test(log, what_acts_on_a_terminal_and_what_is_no_text_is_not_written)
{
    struct capture capture;

    capture_start(&capture);
    wr_log(WR_LOG_ERROR, "a\xc2\x9b"
                         "31mb\xe2\x80\xae"
                         "c\xff\xc3\xa9");
    capture_stop(&capture);
    cr_assert_str_eq(strchr(capture.text, ' '), " error: a?31mb?c?\xc3\xa9\n");
}

Test(log, a_long_line_is_cut_and_still_ends)
{
    char text[5000];
    struct capture capture;

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    capture_start(&capture);
    wr_log(WR_LOG_ERROR, "%s", text);
    capture_stop(&capture);
    cr_assert_eq(strlen(capture.text), 2048u);
    cr_assert_eq(capture.text[2047], '\n');
}

Test(log, a_limit_passes_one_line_a_second_and_counts_the_others)
{
    static const struct {
        int64_t mono_us;
        bool pass;
        uint64_t skipped;
    } rows[] = {
        {0, true, 0},
        {1, false, 0},
        {999999, false, 0},
        {1000000, true, 2},
        {1000001, false, 0},
        {7999999, true, 1},
        {8000000, true, 0},
        /* calls of two seconds that overlap */
        {7999999, false, 0},
        {8000000, false, 0},
        {7999999, false, 0},
        {9000000, true, 3},
    };
    struct wr_log_limit limit = {0};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t skipped = 0;

        cr_assert_eq(wr_log_limit_pass(&limit, rows[i].mono_us, &skipped), rows[i].pass, "row %zu",
                     i);
        cr_assert_eq(skipped, rows[i].skipped, "row %zu", i);
    }
}
