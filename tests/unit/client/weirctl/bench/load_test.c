/* SPDX-License-Identifier: Apache-2.0 */
/* Loads on what is no server; on servers in tests/e2e/test_bench.py. */
#include "client/weirctl/bench/load.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

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

/* A socket that takes connections into its backlog and leaves them there. */
static int listen_silently(char *target, size_t cap)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    cr_assert_eq(bind(fd, (const struct sockaddr *) &address, sizeof address), 0);
    cr_assert_eq(listen(fd, 8), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *) &address, &len), 0);
    snprintf(target, cap, "127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
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
    char target[32];
    const int fd = listen_silently(target, sizeof target);
    struct weirctl_load_plan plan = plan_of(target);
    struct weir_error error;

    plan.timeout_ms = 80;
    cr_assert_eq(weirctl_load_run(&plan, &report, &error), WEIR_OK);
    assert_nothing_is_left_out(12, &plan);
    cr_assert_eq(report.unsent, 0);
    cr_assert_geq(report.elapsed_ns, 80000000);
    cr_assert_eq(report.complaint.code, WEIR_ERR_TIMEOUT);
    cr_assert_str_eq(report.complaint.text, "nothing came within 80 ms");
    close(fd);
}

Test(load, closed_asks_again_in_place_of_what_had_no_answer_in_time)
{
    char target[32];
    const int fd = listen_silently(target, sizeof target);
    struct weirctl_load_plan plan = plan_of(target);
    struct weir_error error;

    plan.timeout_ms = 5;
    plan.requests = 30;
    plan.duration_ns = UINT64_C(60000000000);
    cr_assert_eq(weirctl_load_run(&plan, &report, &error), WEIR_OK);
    assert_nothing_is_left_out(30, &plan);
    close(fd);
}

Test(load, open_that_is_never_answered_counts_all_that_was_due)
{
    char target[32];
    const int fd = listen_silently(target, sizeof target);
    struct weirctl_load_plan plan = plan_of(target);
    struct weir_error error;

    plan.rate = 2000;
    cr_assert_eq(weirctl_load_run(&plan, &report, &error), WEIR_OK);
    assert_nothing_is_left_out(100, &plan);
    cr_assert_geq(report.sent, 12);
    cr_assert_str_eq(report.complaint.text, "nothing came within 50 ms of when it was due");
    close(fd);
}

Test(load, open_with_all_in_flight_taken_leaves_unsent_what_runs_out_of_time_meanwhile)
{
    char target[32];
    const int fd = listen_silently(target, sizeof target);
    struct weirctl_load_plan plan = plan_of(target);
    struct weir_error error;

    /* All are due within 100 us, so that they run out of time together. */
    plan.rate = 10000000;
    plan.connections = 1;
    plan.in_flight = 2;
    plan.requests = 1000;
    cr_assert_eq(weirctl_load_run(&plan, &report, &error), WEIR_OK);
    assert_nothing_is_left_out(1000, &plan);
    cr_assert_gt(report.unsent, 0);
    close(fd);
}

Test(load, of_a_number_sends_no_more)
{
    char target[32];
    const int fd = listen_silently(target, sizeof target);
    struct weirctl_load_plan plan = plan_of(target);
    struct weir_error error;

    plan.requests = 5;
    cr_assert_eq(weirctl_load_run(&plan, &report, &error), WEIR_OK);
    assert_nothing_is_left_out(5, &plan);
    close(fd);
}
