/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* Stderr goes into a pipe between begin_capture and end_capture. */
struct capture {
    int saved, reader;
    char text[8192];
};

static void begin_capture(struct capture *capture)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    cr_assert_neq(fcntl(ends[0], F_SETFL, O_NONBLOCK), -1);
    capture->saved = dup(STDERR_FILENO);
    capture->reader = ends[0];
    cr_assert_neq(dup2(ends[1], STDERR_FILENO), -1);
    cr_assert_eq(close(ends[1]), 0);
}

static void end_capture(struct capture *capture)
{
    cr_assert_neq(dup2(capture->saved, STDERR_FILENO), -1);

    const ssize_t n = read(capture->reader, capture->text, sizeof capture->text - 1);

    capture->text[n > 0 ? n : 0] = '\0';
    cr_assert_eq(close(capture->reader), 0);
    cr_assert_eq(close(capture->saved), 0);
}

Test(log, a_line_has_time_level_and_text)
{
    struct capture capture;

    begin_capture(&capture);
    wr_log(WR_LOG_WARN, "port %d is taken", 8081);
    end_capture(&capture);

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
            begin_capture(&capture);
            wr_log(levels[level], "text");
            end_capture(&capture);
            cr_assert_eq(capture.text[0] != '\0', level <= set, "level %zu of %zu", level, set);
        }
    }
}

Test(log, one_event_stays_one_line)
{
    struct capture capture;

    begin_capture(&capture);
    wr_log(WR_LOG_ERROR, "a\nb\x1b[31m\tc\x7f");
    end_capture(&capture);
    cr_assert_str_eq(strchr(capture.text, ' '), " error: a?b?[31m?c?\n");
}

Test(log, a_long_line_is_cut_and_still_ends)
{
    char text[5000];
    struct capture capture;

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    begin_capture(&capture);
    wr_log(WR_LOG_ERROR, "%s", text);
    end_capture(&capture);
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
        {0, true, 0},        {1, false, 0},      {999999, false, 0}, {1000000, true, 2},
        {1000001, false, 0}, {7999999, true, 1}, {8000000, true, 0},
    };
    struct wr_log_limit limit = {0};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t skipped = 0;

        cr_assert_eq(wr_log_limit_pass(&limit, rows[i].mono_us, &skipped), rows[i].pass, "row %zu",
                     i);
        cr_assert_eq(skipped, rows[i].skipped, "row %zu", i);
    }
}
