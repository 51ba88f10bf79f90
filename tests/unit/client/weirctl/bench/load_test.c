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

Test(load, closed_that_is_never_answered_fails_all_that_was_in_flight)
{
    char target[32];
    const int fd = listen_silently(target, sizeof target);
    const struct weirctl_load_plan plan = plan_of(target);
    struct weir_error error;

    cr_assert_eq(weirctl_load_run(&plan, &report, &error), WEIR_OK);
    cr_assert_eq(report.sent, 12);
    cr_assert_eq(report.failed, 12);
    cr_assert_eq(report.unsent, 0);
    cr_assert_eq(report.latency_ns.count, 0);
    cr_assert_eq(report.complaint.code, WEIR_ERR_TIMEOUT);
    cr_assert_neq(strstr(report.complaint.text, "12 of the last 12 checks"), NULL, "%s",
                  report.complaint.text);
    close(fd);
}

Test(load, open_that_is_never_answered_tells_how_many_it_did_not_send)
{
    char target[32];
    const int fd = listen_silently(target, sizeof target);
    struct weirctl_load_plan plan = plan_of(target);
    struct weir_error error;

    plan.rate = 2000;
    cr_assert_eq(weirctl_load_run(&plan, &report, &error), WEIR_OK);
    cr_assert_eq(report.sent, 12);
    cr_assert_eq(report.failed, 12);
    cr_assert_eq(report.unsent, 100 - 12);
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
    cr_assert_eq(report.sent, 5);
    cr_assert_eq(report.failed, 5);
    close(fd);
}
