/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/bench/report.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct weirctl_load_report report = {
    .sent = 100,
    .admitted = 70,
    .refused = 20,
    .failed = 10,
    .elapsed_ns = 2000000000,
};
static const struct weirctl_load_plan timed = {
    .connections = 4, .in_flight = 50, .duration_ns = UINT64_C(4000000000)};

static const char *printed(const struct weirctl_load_plan *plan, bool is_progress)
{
    static char text[2048];
    FILE *stream = fmemopen(text, sizeof text, "w");

    if (is_progress) {
        weirctl_report_progress(stream, plan, &report);
    } else {
        weirctl_report_print(stream, plan, &report);
    }
    fclose(stream);
    return text;
}

Test(report, counts_every_answer_into_the_rate)
{
    const struct weirctl_load_report nothing = {.sent = 0};

    cr_assert_eq(weirctl_report_rate(&report), 50);
    cr_assert_eq(weirctl_report_rate(&nothing), 0);
}

Test(report, is_as_far_as_time_or_number_whichever_is_further)
{
    struct weirctl_load_plan counted = timed;

    cr_assert_eq(weirctl_report_done(&timed, &report), 500);
    counted.requests = 125;
    cr_assert_eq(weirctl_report_done(&counted, &report), 800);
    counted.requests = 1000;
    cr_assert_eq(weirctl_report_done(&counted, &report), 500);
    counted.requests = 1;
    cr_assert_eq(weirctl_report_done(&counted, &report), 1000);
}

Test(report, shows_its_progress_in_one_line)
{
    cr_assert_str_eq(printed(&timed, true),
                     "\r[############............]  50%  50/s  100 answers, 10 failed\x1b[K");
}

Test(report, of_a_closed_loop)
{
    for (uint64_t i = 1; i <= 100; i++) {
        weirctl_histogram_add(&report.latency_ns, i * 1000);
    }
    weirctl_histogram_add(&report.latency_ns, 50000000);
    cr_assert_str_eq(printed(&timed, false),
                     "Closed loop, 4 connections with up to 50 in flight each\n"
                     "\n"
                     "100 checks in 2.000 s: 50 a second\n"
                     "  admitted 70\n"
                     "  refused  20\n"
                     "  failed   10\n"
                     "\n"
                     "Latency, from when each was sent:\n"
                     "  min           1 us\n"
                     "  mean        546 us\n"
                     "  p50          52 us\n"
                     "  p90          92 us\n"
                     "  p99         101 us\n"
                     "  p99.9        50 ms\n"
                     "  max          50 ms\n");
}

Test(report, marks_what_rests_on_lower_bounds)
{
    for (uint64_t i = 1; i <= 100; i++) {
        weirctl_histogram_add(&report.latency_ns, i * 1000);
    }
    weirctl_histogram_add_at_least(&report.latency_ns, 50000000);

    const char *text = printed(&timed, false);

    cr_assert_neq(strstr(text, "  min           1 us\n"
                               "  mean      >=546 us\n"
                               "  p50          52 us\n"
                               "  p90          92 us\n"
                               "  p99         101 us\n"
                               "  p99.9      >=50 ms\n"
                               "  max        >=50 ms\n"
                               ">= at least: what had no answer counts with the time it had "
                               "waited\n"),
                  NULL, "%s", text);
}

Test(report, of_an_open_loop_says_what_was_not_sent)
{
    struct weirctl_load_plan open = timed;

    open.rate = 1000;
    report.unsent = 3900;

    const char *text = printed(&open, false);

    cr_assert_neq(strstr(text, "Open loop, 1000 checks a second, 4 connections"), NULL, "%s", text);
    cr_assert_neq(strstr(text, "unsent   3900"), NULL, "%s", text);
    cr_assert_eq(strstr(text, "Latency"), NULL, "without an answer there is none");
}
