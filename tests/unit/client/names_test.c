/* SPDX-License-Identifier: Apache-2.0 */
#include "client/codec.h"

#include <criterion/criterion.h>

Test(names, of_units_follow_the_numbers_of_the_wire)
{
    static const char *const want[] = {"unknown", "second", "minute", "hour",
                                       "day",     "month",  "year",   "week"};

    for (int unit = 0; unit < 8; unit++) {
        cr_assert_str_eq(weir_unit_name((enum weir_unit) unit), want[unit]);
    }
}

Test(names, of_codes_and_healths)
{
    cr_assert_str_eq(weir_code_name(WEIR_CODE_OK), "OK");
    cr_assert_str_eq(weir_code_name(WEIR_CODE_OVER_LIMIT), "OVER_LIMIT");
    cr_assert_str_eq(weir_health_name(WEIR_HEALTH_NOT_SERVING), "NOT_SERVING");
    cr_assert_str_eq(weir_health_name(WEIR_HEALTH_SERVICE_UNKNOWN), "SERVICE_UNKNOWN");
}

Test(names, exist_for_any_number)
{
    static const int odd[] = {-1, 8, 99, 2147483647, -2147483647 - 1};

    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        cr_assert_str_eq(weir_unit_name((enum weir_unit) odd[i]), "unknown");
        cr_assert_str_eq(weir_code_name((enum weir_code) odd[i]), "UNKNOWN");
        cr_assert_str_eq(weir_health_name((enum weir_health) odd[i]), "UNKNOWN");
    }
}
