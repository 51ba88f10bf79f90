/* SPDX-License-Identifier: Apache-2.0 */
/* Without a server; with one in tests/e2e/test_weirctl.py. */
#include "client/weirctl/commands.h"

#include <criterion/criterion.h>
#include <criterion/redirect.h>

static void redirect(void)
{
    cr_redirect_stdout();
    cr_redirect_stderr();
}

static const struct weirctl_args to_nobody = {
    .command = WEIRCTL_HEALTH,
    .target = "unix:/nonexistent/weir.sock",
    .service = "ratelimit",
};

Test(health_command, has_no_answer_from_nobody_once_or_watching, .init = redirect)
{
    struct weirctl_args args = to_nobody;

    cr_assert_eq(weirctl_health(&args), WEIRCTL_EXIT_NO_ANSWER);
    args.watch = true;
    cr_assert_eq(weirctl_health(&args), WEIRCTL_EXIT_NO_ANSWER);
    fflush(stdout);
    cr_assert_stdout_eq_str("");
}

Test(health_command, in_json_has_the_error_on_stdout_too, .init = redirect)
{
    struct weirctl_args args = to_nobody;

    args.json = true;
    cr_assert_eq(weirctl_health(&args), WEIRCTL_EXIT_NO_ANSWER);
    fflush(stdout);
    cr_assert_stdout_eq_str("{\"service\":\"ratelimit\",\"status\":null,\"error\":{\"code\":"
                            "\"connect\",\"text\":\"no socket at unix:/nonexistent/weir.sock: "
                            "is weir running, with this path?\"}}\n");
}
