/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/take_rows.h"

#include <criterion/criterion.h>
#include <inttypes.h>

size_t take_rows_make(const struct take_row *rows, int64_t length_us, struct wr_take *takes)
{
    size_t n = 0;

    for (; n < TAKE_ROWS_MAX && rows[n].key != NULL; n++) {
        const struct take_row *const row = &rows[n];

        takes[n] = (struct wr_take){
            .key = wr_str_of(row->key),
            .limit = {.requests = row->requests, .length_us = length_us, .count = row->count},
            .hits = (uint64_t) (row->hits < 0 ? -row->hits : row->hits),
            .group = row->group,
            .is_refund = row->hits < 0,
            .is_enforced = !row->is_shadow,
        };
    }
    return n;
}

void take_rows_check(const struct take_row *rows, const struct wr_take *takes, size_t n,
                     const char *story, size_t number)
{
    for (size_t i = 0; i < n; i++) {
        const struct wr_verdict *const got = &takes[i].verdict;
        const bool is_over = rows[i].left == OVER;

        cr_assert_eq(takes[i].answer, WR_TAKE_DECIDED, "%s, call %zu, take %zu", story, number, i);
        cr_assert_eq(got->over, is_over, "%s, call %zu, take %zu: over is %d", story, number, i,
                     got->over);
        cr_assert_eq(got->remaining, is_over ? 0 : (uint64_t) rows[i].left,
                     "%s, call %zu, take %zu: remaining is %" PRIu64, story, number, i,
                     got->remaining);
        cr_assert_eq(got->enforced, rows[i].requests,
                     "%s, call %zu, take %zu: enforced is %" PRIu64, story, number, i,
                     got->enforced);
    }
}
