/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/decimal.h"

#include <criterion/criterion.h>

Test(decimal, a_part_of_a_limit_is_exact)
{
    static const struct {
        const char *text;
        uint64_t whole, part;
    } rows[] = {
        {"0.29", 100, 29},
        {"0.7", 10, 7},
        {"0.7", 4294967295, 3006477106},
        {"0.57", 100, 57},
        {"0.999999999", 4294967295, 4294967290},
        {"1", 4294967295, 4294967295},
        {"1.0", 7, 7},
        {"01.000000000", 7, 7},
        {"1.", 7, 7},
        {".5", 7, 3},
        {"0", 7, 0},
        {"0.000000001", 999999999, 0},
        {"0.000000001", 1000000000, 1},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_decimal decimal;

        cr_assert(wr_decimal_parse(wr_str_of(rows[i].text), &decimal), "%s", rows[i].text);
        cr_assert_eq(wr_decimal_of(&decimal, rows[i].whole), rows[i].part, "%s", rows[i].text);
    }
}

Test(decimal, what_is_no_share_is_refused)
{
    static const char *const rows[] = {"",
                                       ".",
                                       "1.1",
                                       "2",
                                       "1.000000001",
                                       "0.0000000001",
                                       "-0.5",
                                       "+0.5",
                                       "70%",
                                       "0,7",
                                       "7e-1",
                                       "0.7 ",
                                       "1_0",
                                       "abc",
                                       "0x1",
                                       "10",
                                       "99999999999999999999"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_decimal decimal;

        cr_assert_not(wr_decimal_parse(wr_str_of(rows[i]), &decimal), "%s", rows[i]);
    }
}
