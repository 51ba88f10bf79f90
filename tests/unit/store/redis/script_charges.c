/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/redis/script_charges.h"

#include <criterion/criterion.h>
#include <inttypes.h>

struct wr_script_bed script_bed;

void script_charges_begin(void)
{
    cr_assert(wr_script_bed_init(&script_bed));
}

void script_charges_end(void)
{
    wr_script_bed_fini(&script_bed);
}

struct wr_take charge_of(const char *key, uint64_t hits)
{
    return (struct wr_take){
        .key = wr_str_of(key),
        .limit = {.requests = 3, .length_us = INT64_C(60000000)},
        .hits = hits,
        .is_enforced = true,
    };
}

enum wr_redis_script_reply charge(struct wr_take *takes, size_t n, int64_t now_us,
                                  int64_t not_after_us)
{
    wr_script_bed_send(&script_bed, takes, n, WR_CHARGE_BY_COUNT, now_us, not_after_us);
    return wr_script_bed_receive(&script_bed, takes, n);
}

void expect_left(struct wr_take take, uint64_t remaining)
{
    cr_assert_eq(take.answer, WR_TAKE_DECIDED);
    cr_assert(!take.verdict.over);
    cr_assert_eq(take.verdict.remaining, remaining, "remaining is %" PRIu64,
                 take.verdict.remaining);
}

void expect_answer(const char *want, const char *got)
{
    cr_assert_str_eq(got, want, "%s, not %s", got, want);
}
