/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of what is over its limit, on a fake store that answers at once.
 *
 * Threads: one thread.
 */
#ifndef WR_TESTS_UNIT_STORE_OVER_LIMIT_BED_H
#define WR_TESTS_UNIT_STORE_OVER_LIMIT_BED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/backend.h"
#include "tests/support/fake_backend.h"
#include "tests/unit/store/handed.h"

#define SECOND INT64_C(1000000)
#define OVER_LIMIT_BED_ENTRIES 64
#define OVER_LIMIT_BED_FLIGHT_US 10000

struct over_limit_bed {
    struct wr_fake_backend fake;
    struct wr_backend *cache;
    struct handed handed;
    struct wr_clock clock; /* the time of the batch, and what the store took */
    int64_t took_us;
};

/* Of the running test, which has a process of its own. */
extern struct over_limit_bed over_limit_bed;

void over_limit_bed_begin(void);

void over_limit_bed_end(void);

/* Another cache of that size, around `inner`. */
struct wr_backend *over_limit_bed_cache_around(struct wr_backend *inner);

void pass(int64_t passed_us);

/* A hit on a counter of 3 a minute. */
struct wr_take take_of(const char *key);

struct wr_take put_one(struct wr_take take);

/* What the store answers to the take of that index. */
void say_over(size_t index, int64_t reset_us);

void say_fits(size_t index);

/* Makes the cache know that `take`'s counter is over, 30 s before its window ends. */
void make_known(struct wr_take take);

/* Whether the store was asked for `take`. */
bool is_asked_for(struct wr_take take);

#endif
