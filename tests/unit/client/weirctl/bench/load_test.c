/* SPDX-License-Identifier: Apache-2.0 */
/* Loads on what is no server; on servers in tests/e2e/test_bench.py. */
#include "client/weirctl/bench/load.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <unistd.h>

#include "loopback.h"

static uint8_t bytes[] = {0, 0, 0, 0, 1, 0};
static const struct weirctl_body body = {.bytes = bytes, .len = sizeof bytes};
static struct weirctl_load_report report;

static struct weirctl_load_plan plan_of(const char *target)
{
    return (struct weirctl_load_plan){.target = target,
                                      .body = &body,
                                      .keys = 1,
                                      .connections = 3,
                                      .in_flight = 4,
                                      .duration_ns = 50000000,
                                      .timeout_ms = 50};
}

/* On a peer that takes connections and never speaks. */
static void run_on_silence(struct weirctl_load_plan *plan)
{
    unsigned int port;
    const int fd = loopback_listen(&port);
    char target[32];
    struct weir_error error;

    snprintf(target, sizeof target, "127.0.0.1:%u", port);
    plan->target = target;
    cr_assert_eq(weirctl_load_run(plan, &report, &error), WEIR_OK);
    plan->target = NULL;
    close(fd);
}

Test(load, on_nobody_never_begins)
{
    const struct weirctl_load_plan plan = plan_of("unix:/nonexistent/weir.sock");
    struct weir_error error = {.code = WEIR_OK};

    cr_assert_eq(weirctl_load_run(&plan, &report, &error), WEIR_ERR_CONNECT);
    cr_assert_neq(strstr(error.text, "No such file"), NULL, "%s", error.text);
}

/* Each is in the latencies, with its timeout at the least. */
static void assert_nothing_is_left_out(uint64_t count, const struct weirctl_load_plan *plan)
{
    const uint64_t timeout_ns = (uint64_t) plan->timeout_ms * 1000000;

    cr_assert_eq(report.sent + report.unsent, count, "%lu sent, %lu unsent",
                 (unsigned long) report.sent, (unsigned long) report.unsent);
    cr_assert_eq(report.failed, report.sent);
    cr_assert_eq(report.latency_ns.count, count);
    cr_assert_geq(report.latency_ns.min, timeout_ns);
    cr_assert(weirctl_histogram_is_at_least(&report.latency_ns, 0));
}

Test(load, closed_that_is_never_answered_gives_each_its_time_from_when_it_was_sent)
{
    struct weirctl_load_plan plan = plan_of(NULL);

    plan.timeout_ms = 80;
    run_on_silence(&plan);
    assert_nothing_is_left_out(12, &plan);
    cr_assert_eq(report.unsent, 0);
    cr_assert_geq(report.elapsed_ns, 80000000);
    cr_assert_eq(report.complaint.code, WEIR_ERR_TIMEOUT);
    cr_assert_str_eq(report.complaint.text, "nothing came within 80 ms");
}

Test(load, closed_asks_again_in_place_of_what_had_no_answer_in_time)
{
    struct weirctl_load_plan plan = plan_of(NULL);

    plan.timeout_ms = 5;
    plan.requests = 30;
    plan.duration_ns = UINT64_C(60000000000);
    run_on_silence(&plan);
    assert_nothing_is_left_out(30, &plan);
}

Test(load, open_that_is_never_answered_counts_all_that_was_due)
{
    struct weirctl_load_plan plan = plan_of(NULL);

    plan.rate = 2000;
    plan.timeout_ms = 1000;
    run_on_silence(&plan);
    assert_nothing_is_left_out(100, &plan);
    cr_assert_geq(report.sent, 12);
    cr_assert_str_eq(report.complaint.text, "nothing came within 1000 ms of when it was due");
}

Test(load, open_with_all_in_flight_taken_leaves_unsent_what_runs_out_of_time_meanwhile)
{
    struct weirctl_load_plan plan = plan_of(NULL);

    /* All are due within 100 us, so that they run out of time together. */
    plan.rate = 10000000;
    plan.connections = 1;
    plan.in_flight = 2;
    plan.requests = 1000;
    run_on_silence(&plan);
    assert_nothing_is_left_out(1000, &plan);
    cr_assert_gt(report.unsent, 0);
}

Test(load, of_a_number_sends_no_more)
{
    struct weirctl_load_plan plan = plan_of(NULL);

    plan.requests = 5;
    run_on_silence(&plan);
    assert_nothing_is_left_out(5, &plan);
}
