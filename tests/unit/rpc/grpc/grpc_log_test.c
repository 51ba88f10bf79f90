/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/grpc_log.h"

#include <criterion/criterion.h>
#include <grpc/support/log.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "tests/support/capture.h"

static struct capture capture;

/* What is written to stderr while `write_lines` runs. */
static const char *captured(void (*write_lines)(void))
{
    capture_start(&capture);
    write_lines();
    capture_stop(&capture);
    return capture.text;
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

static void chatter_then_an_error(void)
{
    for (int i = 0; i < 1000; i++) {
        gpr_log("/a/b/chatter.cc", 1, GPR_LOG_SEVERITY_INFO, "chatter");
        gpr_log("/a/b/chatter.cc", 2, GPR_LOG_SEVERITY_DEBUG, "chatter");
    }
    one_error();
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
    const int64_t begin_us = wr_clock_mono_us();
    const size_t n = lines(captured(many_errors));
    const int64_t took_us = wr_clock_mono_us() - begin_us;

    cr_assert_geq(n, 1);
    cr_assert_leq(n, 3 + (size_t) (took_us / 1000000), "one a second: %zu lines", n);
}

Test(grpc_log, hides_no_error_behind_chatter)
{
    gpr_set_log_verbosity(GPR_LOG_SEVERITY_DEBUG);
    wr_log_set_level(WR_LOG_DEBUG);

    const int64_t begin_us = wr_clock_mono_us();
    const char *const got = captured(chatter_then_an_error);
    const int64_t took_us = wr_clock_mono_us() - begin_us;

    cr_assert_not_null(strstr(got, "chatter.cc:1"), "%s", got);
    cr_assert_not_null(strstr(got, "chttp2.cc:77"), "%s", got);
    cr_assert_leq(lines(got), 7 + 3 * (size_t) (took_us / 1000000), "%s", got);
}
