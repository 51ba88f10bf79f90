/* SPDX-License-Identifier: Apache-2.0 */
#include "client/weirctl/bench/histogram.h"

#include <criterion/criterion.h>

static struct weirctl_histogram histogram;

Test(histogram, of_nothing_is_zero)
{
    cr_assert_eq(weirctl_histogram_at(&histogram, 50000), 0);
    cr_assert_eq(weirctl_histogram_mean(&histogram), 0);
    cr_assert_not(weirctl_histogram_is_at_least(&histogram, 50000));
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

static void add(unsigned int count, uint64_t value, bool is_bound)
{
    for (unsigned int i = 0; i < count; i++) {
        if (is_bound) {
            weirctl_histogram_add_at_least(&histogram, value);
        } else {
            weirctl_histogram_add(&histogram, value);
        }
    }
}

static const struct {
    unsigned int known; /* of 100 */
    unsigned int bounds;
    unsigned int slow; /* of 200 */
    uint64_t bound;
    uint32_t per_100k;
    uint64_t at;
    bool is_at_least;
} bounded[] = {
    /* nothing but what is known */
    {100, 0, 0, 0, 50000, 100, false},
    {100, 0, 0, 0, 100000, 100, false},
    /* above a percentile a bound does nothing to it */
    {99, 1, 0, 150, 0, 100, false},
    {99, 1, 0, 150, 99000, 100, false},
    {99, 1, 0, 150, 99900, 150, true},
    {99, 1, 0, 150, 100000, 150, true},
    /* below it, neither, as long as so many are known to be no higher */
    {90, 10, 0, 50, 90000, 100, false},
    {90, 10, 0, 50, 91000, 100, true},
    {91, 9, 0, 50, 91000, 100, false},
    {91, 9, 0, 50, 92000, 100, true},
    /* the smallest one may be the one that is known to be at least less */
    {99, 1, 0, 50, 0, 50, true},
    /* what is at least 150 may be above the 200 that others are */
    {50, 25, 25, 150, 50000, 100, false},
    {50, 25, 25, 150, 51000, 150, true},
    {50, 25, 25, 150, 76000, 200, true},
    /* the same value, known and not */
    {50, 50, 0, 100, 50000, 100, false},
    {50, 50, 0, 100, 51000, 100, true},
    /* nothing is known */
    {0, 100, 0, 70, 0, 70, true},
    {0, 100, 0, 70, 50000, 70, true},
};

Test(histogram, tells_what_rests_on_lower_bounds)
{
    for (size_t i = 0; i < sizeof bounded / sizeof bounded[0]; i++) {
        memset(&histogram, 0, sizeof histogram);
        add(bounded[i].known, 100, false);
        add(bounded[i].bounds, bounded[i].bound, true);
        add(bounded[i].slow, 200, false);
        cr_assert_eq(weirctl_histogram_at(&histogram, bounded[i].per_100k), bounded[i].at,
                     "row %zu", i);
        cr_assert_eq(weirctl_histogram_is_at_least(&histogram, bounded[i].per_100k),
                     bounded[i].is_at_least, "row %zu", i);
    }
}
