/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/policy.h"

#include <criterion/criterion.h>

Test(policy, counts_are_found_by_their_names)
{
    static const struct {
        enum wr_count count;
        const char *name;
    } rows[] = {
        {WR_COUNT_ALL, "all"},
        {WR_COUNT_ADMITTED, "admitted"},
        {WR_COUNT_ALL_OR_NOTHING, "all_or_nothing"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum wr_count count = WR_COUNT_ALL;

        cr_assert(wr_count_of_name(wr_str_of(rows[i].name), &count), "%s", rows[i].name);
        cr_assert_eq(count, rows[i].count, "%s", rows[i].name);
        cr_assert_str_eq(wr_count_name(rows[i].count), rows[i].name);
    }
}

Test(policy, failure_modes_are_found_by_their_names)
{
    static const struct {
        enum wr_failure_mode mode;
        const char *name;
    } rows[] = {
        {WR_FAILURE_ERROR, "error"},
        {WR_FAILURE_ALLOW, "allow"},
        {WR_FAILURE_DENY, "deny"},
        {WR_FAILURE_LOCAL, "local"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        enum wr_failure_mode mode = WR_FAILURE_ERROR;

        cr_assert(wr_failure_mode_of_name(wr_str_of(rows[i].name), &mode), "%s", rows[i].name);
        cr_assert_eq(mode, rows[i].mode, "%s", rows[i].name);
        cr_assert_str_eq(wr_failure_mode_name(rows[i].mode), rows[i].name);
    }
}

Test(policy, other_words_leave_what_was_there)
{
    static const char *const words[] = {"", "ALL", "none", "all ", "allow_", "al"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        enum wr_count count = WR_COUNT_ADMITTED;
        enum wr_failure_mode mode = WR_FAILURE_DENY;

        cr_assert_not(wr_count_of_name(wr_str_of(words[i]), &count), "'%s'", words[i]);
        cr_assert_not(wr_failure_mode_of_name(wr_str_of(words[i]), &mode), "'%s'", words[i]);
        cr_assert_eq(count, WR_COUNT_ADMITTED);
        cr_assert_eq(mode, WR_FAILURE_DENY);
    }
}

Test(policy, only_all_that_was_said_must_be_booked)
{
    static const struct {
        struct wr_policy policy;
        bool want;
    } rows[] = {
        {{.has_count = true, .count = WR_COUNT_ALL}, true},
        {{.has_count = false, .count = WR_COUNT_ALL}, false},
        {{.has_count = true, .count = WR_COUNT_ADMITTED}, false},
        {{.has_count = true, .count = WR_COUNT_ALL_OR_NOTHING}, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_policy_must_book(&rows[i].policy), rows[i].want, "row %zu", i);
    }
}
