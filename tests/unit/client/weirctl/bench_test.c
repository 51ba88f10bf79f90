/* SPDX-License-Identifier: Apache-2.0 */
/* Without a server; with one in tests/e2e/test_bench.py. */
#include "client/weirctl/commands.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

static void redirect(void)
{
    cr_redirect_stdout();
    cr_redirect_stderr();
}

Test(bench, of_nobody_is_no_answer_and_says_so_only_on_stderr, .init = redirect)
{
    const struct weirctl_args args = {
        .command = WEIRCTL_BENCH,
        .target = "unix:/nonexistent/weir.sock",
        .domain = "edge",
        .descriptor_count = 1,
        .descriptors = {{1, {{{"k", 1}, {"v", 1}}}}},
        .json = true,
    };

    cr_assert_eq(weirctl_bench(&args), WEIRCTL_EXIT_NO_ANSWER);
    fflush(stdout);
    fflush(stderr);
    cr_assert_stdout_eq_str("");
    cr_assert_stderr_eq_str("weirctl: no answer: no connection to unix:/nonexistent/weir.sock: No "
                            "such file or directory\n");
}
