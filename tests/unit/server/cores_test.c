/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_setaffinity, CPU_SET */
#include "cores.h"

#include <criterion/criterion.h>
#include <sched.h>

Test(cores, are_at_least_one)
{
    cr_assert_geq(wr_cores_usable(), 1);
}

Test(cores, an_affinity_mask_takes_them_away)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    cr_assert_eq(sched_getaffinity(0, sizeof mask, &mask), 0);
    size_t kept = 0;

    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (CPU_ISSET(i, &mask) && kept++ > 0) {
            CPU_CLR(i, &mask);
        }
    }
    cr_assert_eq(sched_setaffinity(0, sizeof mask, &mask), 0);
    cr_assert_eq(wr_cores_usable(), 1);
}
