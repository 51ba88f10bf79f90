/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/grpc_log.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <grpc/support/log.h>
#include <string.h>
#include <unistd.h>

static char text[4096];

/* What is written to stderr while `write_lines` runs. */
static const char *captured(void (*write_lines)(void))
{
    const int before = dup(STDERR_FILENO);
    int pipes[2];

    cr_assert_eq(pipe(pipes), 0);
    cr_assert_geq(dup2(pipes[1], STDERR_FILENO), 0);
    write_lines();
    cr_assert_geq(dup2(before, STDERR_FILENO), 0);
    (void) close(pipes[1]);
    (void) close(before);

    const ssize_t n = read(pipes[0], text, sizeof text - 1);

    (void) close(pipes[0]);
    cr_assert_geq(n, 0);
    text[n] = '\0';
    return text;
}

static void one_error(void)
{
    gpr_log("/a/b/chttp2.cc", 77, GPR_LOG_SEVERITY_ERROR, "bad value: %s", "secret");
}

static void many_errors(void)
{
    for (int i = 0; i < 1000; i++) {
        one_error();
    }
}

static size_t lines(const char *of)
{
    size_t n = 0;

    for (; *of != '\0'; of++) {
        n += *of == '\n' ? 1 : 0;
    }
    return n;
}

static void set_up(void)
{
    gpr_set_log_verbosity(GPR_LOG_SEVERITY_ERROR);
    wr_grpc_log_install();
}

TestSuite(grpc_log, .init = set_up);

Test(grpc_log, names_the_place_and_not_what_was_sent)
{
    const char *const got = captured(one_error);

    cr_assert_not_null(strstr(got, "chttp2.cc:77"), "%s", got);
    cr_assert_null(strstr(got, "secret"), "%s", got);
    cr_assert_null(strstr(got, "/a/b"), "%s", got);
}

Test(grpc_log, is_no_flood)
{
    const size_t n = lines(captured(many_errors));

    cr_assert_geq(n, 1);
    cr_assert_leq(n, 3, "one a second: %zu lines", n);
}
