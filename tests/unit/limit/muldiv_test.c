/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/muldiv.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#define ROWS_MIN 100

Test(muldiv, meets_every_row_of_the_table)
{
    FILE *const file = fopen(WR_MULDIV_ROWS, "r");
    uint64_t a, b, c, down, up;
    char line[256];
    int n = 0;

    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] == '#') {
            continue;
        }
        cr_assert_eq(sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64, &a,
                            &b, &c, &down, &up),
                     5, "%s", line);
        cr_assert_eq(wr_muldiv_floor(a, b, c), down, "%s", line);
        cr_assert_eq(wr_muldiv_ceil(a, b, c), up, "%s", line);
        cr_assert_eq(wr_muldiv_floor(b, a, c), down, "%s", line);
        cr_assert_eq(wr_muldiv_long(a, b, c).quotient, down, "%s", line);
        n++;
    }
    (void) fclose(file);
    cr_assert_geq(n, ROWS_MIN, "only %d rows", n);
}

/* a × b = quotient × c + rest, in the low word, whatever the way. */
Test(muldiv, the_rest_is_what_the_quotient_leaves)
{
    uint64_t random = 1;

    for (int i = 0; i < 100000; i++) {
        uint64_t operands[3];

        for (int k = 0; k < 3; k++) {
            random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            operands[k] = (random >> 11) >> (random >> 6 & 31);
        }

        const uint64_t a = operands[0], b = operands[1], c = operands[2] | 1;
        const struct wr_muldiv got = wr_muldiv(a, b, c);

        cr_assert_lt(got.rest, c);
        if (got.quotient < WR_COUNT_MAX) {
            cr_assert_eq(got.quotient * c + got.rest, a * b, "%" PRIu64 " %" PRIu64 " %" PRIu64, a,
                         b, c);
        }
    }
}
