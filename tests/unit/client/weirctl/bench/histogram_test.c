/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/bench/histogram.h"

#include <criterion/criterion.h>

static struct weirctl_histogram histogram;

Test(histogram, of_nothing_is_zero)
{
    cr_assert_eq(weirctl_histogram_at(&histogram, 50000), 0);
    cr_assert_eq(weirctl_histogram_mean(&histogram), 0);
}

Test(histogram, is_exact_below_256)
{
    for (uint64_t value = 1; value <= 200; value++) {
        weirctl_histogram_add(&histogram, value);
    }
    cr_assert_eq(histogram.count, 200);
    cr_assert_eq(weirctl_histogram_at(&histogram, 50000), 100);
    cr_assert_eq(weirctl_histogram_at(&histogram, 99000), 198);
    cr_assert_eq(weirctl_histogram_at(&histogram, 99900), 200);
    cr_assert_eq(weirctl_histogram_at(&histogram, 100000), 200);
    cr_assert_eq(weirctl_histogram_at(&histogram, 0), 1);
    cr_assert_eq(weirctl_histogram_mean(&histogram), 100);
    cr_assert(histogram.min == 1 && histogram.max == 200);
}

static const uint64_t values[] = {
    0,
    1,
    127,
    128,
    255,
    256,
    257,
    511,
    512,
    1000,
    123456,
    1000000007,
    UINT64_C(1) << 40,
    (UINT64_C(1) << 63) - 1,
    UINT64_C(1) << 63,
    UINT64_MAX - 1,
    UINT64_MAX,
};

Test(histogram, is_never_below_a_value_and_less_than_a_128th_above)
{
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct weirctl_histogram *one = &histogram;

        memset(one, 0, sizeof *one);
        weirctl_histogram_add(one, values[i]);
        weirctl_histogram_add(one, UINT64_MAX);

        const uint64_t at = weirctl_histogram_at(one, 50000);

        cr_assert_geq(at, values[i], "row %zu", i);
        cr_assert_leq(at - values[i], values[i] / 128, "row %zu: %lu", i, (unsigned long) at);
    }
}

Test(histogram, tells_the_one_slow_value_of_many)
{
    for (int i = 0; i < 9990; i++) {
        weirctl_histogram_add(&histogram, 100);
    }
    for (int i = 0; i < 10; i++) {
        weirctl_histogram_add(&histogram, 1000000);
    }
    cr_assert_eq(weirctl_histogram_at(&histogram, 99900), 100);
    cr_assert_eq(weirctl_histogram_at(&histogram, 99901), 1000000);
}
