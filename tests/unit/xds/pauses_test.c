/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/pauses.h"

#include <criterion/criterion.h>

Test(pauses, double_up_to_the_longest_and_begin_anew)
{
    static const int64_t most_us[] = {1000, 2000, 4000, 5000, 5000};
    struct wr_xds_pauses low = {.min_us = 1000, .max_us = 5000}, high = low;

    for (size_t i = 0; i < sizeof most_us / sizeof most_us[0]; i++) {
        cr_assert_eq(wr_xds_pauses_next(&low, 0), most_us[i] / 2);
        cr_assert_eq(wr_xds_pauses_next(&high, (uint64_t) most_us[i] / 2), most_us[i]);
    }
    wr_xds_pauses_reset(&low);
    cr_assert_eq(wr_xds_pauses_next(&low, 0), 500);
}

Test(pauses, stay_within_their_bounds_for_ever)
{
    struct wr_xds_pauses pauses = {.min_us = 3, .max_us = INT64_C(60) * 1000000};
    uint64_t random = 1;

    for (int i = 0; i < 1000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);

        const int64_t pause_us = wr_xds_pauses_next(&pauses, random);

        cr_assert(pause_us >= 2 && pause_us <= pauses.max_us);
    }
    cr_assert_geq(wr_xds_pauses_next(&pauses, 0), pauses.max_us / 2);
}
