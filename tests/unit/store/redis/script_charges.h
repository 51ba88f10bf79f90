/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Charges by the script of the Redis store on a private server, for tests of what they leave there.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_UNIT_STORE_REDIS_SCRIPT_CHARGES_H
#define WR_TESTS_UNIT_STORE_REDIS_SCRIPT_CHARGES_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/script_bed.h"

/* Of the running test, which has a process of its own. */
extern struct wr_script_bed script_bed;

void script_charges_begin(void);

void script_charges_end(void);

/* A take of a counter of 3 a minute. */
struct wr_take charge_of(const char *key, uint64_t hits);

enum wr_redis_script_reply charge(struct wr_take *takes, size_t n, int64_t now_us,
                                  int64_t not_after_us);

void expect_left(struct wr_take take, uint64_t remaining);

void expect_answer(const char *want, const char *got);

#endif
