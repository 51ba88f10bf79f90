/* SPDX-License-Identifier: Apache-2.0 */
/* Without a server; with one in tests/e2e/test_weirctl.py. */
#include "client/weirctl/commands.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

static const struct weirctl_args to_nobody = {
    .command = WEIRCTL_CHECK,
    .target = "unix:/nonexistent/weir.sock",
    .domain = "edge",
    .descriptor_count = 1,
    .descriptors = {{1, {{{"k", 1}, {"v", 1}}}}},
};

static void redirect(void)
{
    cr_redirect_stdout();
    cr_redirect_stderr();
}

Test(check, of_nobody_is_no_answer_and_says_so_only_on_stderr, .init = redirect)
{
    cr_assert_eq(weirctl_check(&to_nobody), WEIRCTL_EXIT_NO_ANSWER);
    fflush(stdout);
    fflush(stderr);
    cr_assert_stdout_eq_str("");
    cr_assert_stderr_eq_str("weirctl: no answer: no socket at unix:/nonexistent/weir.sock: is weir "
                            "running, with this path?\n");
}

Test(check, of_nobody_in_json_has_the_error_on_stdout_too, .init = redirect)
{
    struct weirctl_args args = to_nobody;

    args.json = true;
    cr_assert_eq(weirctl_check(&args), WEIRCTL_EXIT_NO_ANSWER);
    fflush(stdout);
    cr_assert_stdout_eq_str("{\"outcome\":\"no_answer\",\"code\":\"UNKNOWN\",\"retry_after_ms\":0,"
                            "\"statuses\":[],\"error\":{\"code\":\"connect\",\"text\":"
                            "\"no socket at unix:/nonexistent/weir.sock: is weir running, "
                            "with this path?\"}}\n");
}
