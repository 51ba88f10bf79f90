/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/over_limit_bed.h"

#include <criterion/criterion.h>

#include "store/over_limit_cache.h"

struct over_limit_bed over_limit_bed;

static struct wr_now read_time(void *context)
{
    const struct over_limit_bed *const bed = context;
    const struct wr_now *const now = &bed->handed.batch.now;

    return (struct wr_now){
        .wall_us = now->wall_us + bed->took_us,
        .mono_us = now->mono_us + bed->took_us,
    };
}

struct wr_backend *over_limit_bed_cache_around(struct wr_backend *inner)
{
    const struct wr_over_limit_cache_options options = {
        .max_entries = OVER_LIMIT_BED_ENTRIES,
        .flight_us = OVER_LIMIT_BED_FLIGHT_US,
        .clock = &over_limit_bed.clock,
    };
    struct wr_backend *cache = NULL;

    cr_assert_eq(wr_over_limit_cache_new(&options, &inner, &cache), WR_OK);
    cr_assert_null(inner);
    return cache;
}

void over_limit_bed_begin(void)
{
    struct over_limit_bed *const bed = &over_limit_bed;

    bed->took_us = 0;
    handed_init(&bed->handed);
    wr_clock_init(&bed->clock, read_time, bed);
    wr_fake_backend_init(&bed->fake);
    bed->cache = over_limit_bed_cache_around(&bed->fake.backend);
}

void over_limit_bed_end(void)
{
    wr_backend_destroy(over_limit_bed.cache);
    handed_fini(&over_limit_bed.handed);
}

void pass(int64_t passed_us)
{
    over_limit_bed.handed.batch.now.wall_us += passed_us;
    over_limit_bed.handed.batch.now.mono_us += passed_us;
}

struct wr_take take_of(const char *key)
{
    return (struct wr_take){
        .key = wr_str_of(key),
        .limit = {.requests = 3, .length_us = 60 * SECOND},
        .hits = 1,
        .is_enforced = true,
    };
}

struct wr_take put_one(struct wr_take take)
{
    handed_put(&over_limit_bed.handed, over_limit_bed.cache, &take, 1);
    cr_assert_eq(over_limit_bed.handed.n_done, 1);
    return take;
}

void say_over(size_t index, int64_t reset_us)
{
    over_limit_bed.fake.answers[index] = WR_TAKE_DECIDED;
    over_limit_bed.fake.verdicts[index] = (struct wr_verdict){.over = true, .reset_us = reset_us};
}

void say_fits(size_t index)
{
    over_limit_bed.fake.answers[index] = WR_TAKE_DECIDED;
    over_limit_bed.fake.verdicts[index] = (struct wr_verdict){.remaining = 1, .reset_us = SECOND};
}

void make_known(struct wr_take take)
{
    say_over(0, 30 * SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        cr_assert(put_one(take).verdict.over);
    }
    over_limit_bed.fake.n_batches = 0;
}

bool is_asked_for(struct wr_take take)
{
    const size_t n_before = over_limit_bed.fake.n_batches;

    (void) put_one(take);
    return over_limit_bed.fake.n_batches > n_before;
}
