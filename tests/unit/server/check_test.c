/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "tests/unit/server/on_file.h"

/* Checks a file with that text; what was printed is in `said`. */
static int check(const char *yaml, bool is_strict, char *said, size_t size)
{
    return run_on_file(wr_check, yaml, is_strict, said, size);
}

Test(check, good_rules_exit_0_and_are_counted)
{
    char said[2048] = "";

    cr_assert_eq(check("domain: d\ndescriptors: [{key: k, rate_limit: {unit: hour, "
                       "requests_per_unit: 1}}]\n",
                       false, said, sizeof said),
                 0);
    cr_assert_str_eq(said, "1 file, 1 domain, 1 limit: all good\n");
}

Test(check, errors_exit_1_and_read_like_a_compilers)
{
    char said[2048] = "";

    cr_assert_eq(
        check("domain: d\ndescriptors:\n  - key: k\n    units: hour\n", false, said, sizeof said),
        1);
    cr_assert_not_null(strstr(said, ":4:5: error: "), "%s", said);
    cr_assert_not_null(strstr(said, "1 file refused"), "%s", said);
}

Test(check, warnings_exit_0_unless_strict)
{
    static const char *const yaml = "domain: d\ndescriptors:\n  - key: k\n    unit: hour\n";
    char said[2048] = "";

    cr_assert_eq(check(yaml, false, said, sizeof said), 0, "%s", said);
    cr_assert_not_null(strstr(said, ":4:5: warning: "), "%s", said);
    cr_assert_eq(check(yaml, true, said, sizeof said), 1, "%s", said);
}

Test(check, nothing_to_check_is_a_usage_error)
{
    char said[256] = "";
    FILE *const out = fmemopen(said, sizeof said, "w");

    cr_assert_eq(wr_check(&(struct wr_command_line){.command = WR_COMMAND_CHECK}, out, out), 64);
    fclose(out);
    cr_assert_not_null(strstr(said, "weir check"));
}
