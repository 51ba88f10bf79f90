/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pauses.h"

#include <criterion/criterion.h>

Test(pauses, from_the_half_double_up_to_the_longest_and_begin_anew)
{
    static const int64_t most_us[] = {1000, 2000, 4000, 5000, 5000};
    struct wr_pauses low = {.min_us = 1000, .max_us = 5000}, high = low;

    for (size_t i = 0; i < sizeof most_us / sizeof most_us[0]; i++) {
        cr_assert_eq(wr_pauses_next_half(&low, 0), most_us[i] / 2);
        cr_assert_eq(wr_pauses_next_half(&high, (uint64_t) most_us[i] / 2), most_us[i]);
    }
    wr_pauses_reset(&low);
    cr_assert_eq(wr_pauses_next_half(&low, 0), 500);
}

Test(pauses, from_the_half_stay_within_their_bounds_for_ever)
{
    struct wr_pauses pauses = {.min_us = 3, .max_us = INT64_C(60) * 1000000};
    uint64_t random = 1;

    for (int i = 0; i < 1000; i++) {
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);

        const int64_t pause_us = wr_pauses_next_half(&pauses, random);

        cr_assert(pause_us >= 2 && pause_us <= pauses.max_us);
    }
    cr_assert_geq(wr_pauses_next_half(&pauses, 0), pauses.max_us / 2);
}

Test(pauses, grow_to_the_largest_and_begin_anew)
{
    static const int64_t most_us[] = {100, 200, 400, 800, 1000, 1000, 1000};
    struct wr_pauses pauses = {.min_us = 100, .max_us = 1000};

    for (size_t i = 0; i < sizeof most_us / sizeof most_us[0]; i++) {
        cr_assert_eq(wr_pauses_next(&pauses, (uint64_t) most_us[i]), most_us[i], "row %zu", i);
    }
    wr_pauses_reset(&pauses);
    cr_assert_eq(wr_pauses_next(&pauses, 100), 100);
}

Test(pauses, jitter_is_full)
{
    struct wr_pauses pauses = {.min_us = 100, .max_us = 1000, .n = 10};
    bool is_low = false, is_high = false;

    for (uint64_t random = 0; random < 100000; random += 37) {
        const int64_t pause_us = wr_pauses_next(&pauses, random);

        cr_assert(pause_us >= 0 && pause_us <= 1000);
        is_low = is_low || pause_us < 100;
        is_high = is_high || pause_us > 900;
    }
    cr_assert(is_low && is_high);
}

Test(pauses, very_many_failures_overflow_nothing)
{
    struct wr_pauses pauses = {.min_us = 1, .max_us = INT64_MAX / 2, .n = UINT32_MAX};

    cr_assert_geq(wr_pauses_next(&pauses, UINT64_MAX), 0);
    cr_assert_eq(pauses.n, UINT32_MAX);
}
