/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/worst.h"

#include <criterion/criterion.h>

Test(worst, most_in_any_stretch)
{
    static const struct wr_passed passed[] = {{0, 3}, {5, 1}, {9, 4}, {10, 2}, {19, 5}, {30, 6}};
    static const struct {
        int64_t length_us;
        uint64_t hits;
        int64_t from_us;
    } rows[] = {
        {1, 6, 30}, {2, 6, 9}, {5, 6, 9}, {6, 7, 5}, {10, 8, 0}, {11, 11, 9}, {100, 21, 0},
    };
    struct wr_passed_list list = {0};

    cr_assert_eq(wr_passed_worst(&list, 10).hits, 0);
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++) {
        cr_assert(wr_passed_add(&list, passed[i].at_us, passed[i].hits));
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_worst worst = wr_passed_worst(&list, rows[i].length_us);

        cr_assert_eq(worst.hits, rows[i].hits, "row %zu: %lu", i, (unsigned long) worst.hits);
        cr_assert_eq(worst.from_us, rows[i].from_us, "row %zu", i);
    }
    wr_passed_fini(&list);
}

Test(worst, hits_of_one_moment_are_one_item)
{
    struct wr_passed_list list = {0};

    for (int i = 0; i < 5000; i++) {
        cr_assert(wr_passed_add(&list, i / 2, 1));
    }
    cr_assert_eq(list.n, 2500);
    cr_assert_eq(wr_passed_worst(&list, 1).hits, 2);
    wr_passed_fini(&list);
}
