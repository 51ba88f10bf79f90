/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/unit.h"

#include <criterion/criterion.h>
#include <stdint.h>

/* Numbers of RateLimitResponse.RateLimit.Unit, lengths of the incumbent. */
static const struct {
    const char *name;
    int number;
    int64_t seconds;
} rows[] = {
    {"second", 1, 1},      {"minute", 2, 60},     {"hour", 3, 3600},   {"day", 4, 86400},
    {"month", 5, 2592000}, {"year", 6, 31536000}, {"week", 7, 604800},
};

#define N_ROWS (sizeof rows / sizeof rows[0])

Test(unit, names_numbers_and_lengths_belong_together)
{
    for (size_t i = 0; i < N_ROWS; i++) {
        const enum wr_unit unit = wr_unit_of_name(wr_str_of(rows[i].name));

        cr_assert_eq((int) unit, rows[i].number, "%s", rows[i].name);
        cr_assert_str_eq(wr_unit_name(unit), rows[i].name);
        cr_assert_eq(wr_unit_length_us(unit), rows[i].seconds * 1000000, "%s", rows[i].name);
    }
}

Test(unit, names_are_read_in_any_case)
{
    cr_assert_eq(wr_unit_of_name((struct wr_str) WR_STR("MINUTE")), WR_UNIT_MINUTE);
    cr_assert_eq(wr_unit_of_name((struct wr_str) WR_STR("Hour")), WR_UNIT_HOUR);
}

Test(unit, anything_else_is_unknown_and_has_no_length)
{
    static const struct wr_str names[] = {
        WR_STR(""),        WR_STR("min"),      WR_STR("minutes"), WR_STR("minute "),
        WR_STR("unknown"), WR_STR("minute\0"), WR_STR("\0"),
    };
    static const int numbers[] = {0, 8, 99, -1};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        cr_assert_eq(wr_unit_of_name(names[i]), WR_UNIT_UNKNOWN, "row %zu", i);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        cr_assert_eq(wr_unit_length_us((enum wr_unit) numbers[i]), 0, "%d", numbers[i]);
        cr_assert_str_eq(wr_unit_name((enum wr_unit) numbers[i]), "unknown");
    }
}
