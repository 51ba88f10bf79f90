/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

#include <criterion/criterion.h>

Test(number, digits_and_nothing_else)
{
    static const struct {
        const char *text;
        uint64_t max;
        bool is_number;
        uint64_t number;
    } rows[] = {
        {"0", 0, true, 0},
        {"007", 7, true, 7},
        {"18446744073709551615", UINT64_MAX, true, UINT64_MAX},
        {"18446744073709551616", UINT64_MAX, false, 0},
        {"99999999999999999999", UINT64_MAX, false, 0},
        {"8", 7, false, 0},
        {"10", 9, false, 0},
        {"", 9, false, 0},
        {"-1", 9, false, 0},
        {"+1", 9, false, 0},
        {" 1", 9, false, 0},
        {"1x", 9, false, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t number = 0;

        cr_assert_eq(wr_number_parse(wr_str_of(rows[i].text), rows[i].max, &number),
                     rows[i].is_number, "%s", rows[i].text);
        cr_assert_eq(number, rows[i].number, "%s", rows[i].text);
    }
}

Test(number, digits_at_the_beginning)
{
    cr_assert_eq(wr_number_digits(wr_str_of("12.5")), 2);
    cr_assert_eq(wr_number_digits(wr_str_of("x1")), 0);
    cr_assert_eq(wr_number_digits((struct wr_str){0}), 0);
}
