/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was let through, in order of time, and the most of it in any stretch of a given length.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_WORST_H
#define WR_SIMULATE_WORST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct wr_passed {
    int64_t at_us; /* since the beginning of the simulation */
    uint64_t hits;
};

struct wr_passed_list {
    struct wr_passed *items; /* owned */
    size_t n, capacity;
};

/* Adds what is not earlier than what is there; hits of one moment become one item. False when
 * memory is out. */
bool wr_passed_add(struct wr_passed_list *list, int64_t at_us, uint64_t hits);

void wr_passed_fini(struct wr_passed_list *list);

struct wr_worst {
    uint64_t hits;
    int64_t from_us; /* where the stretch begins */
};

/* The most in any stretch of `length_us`, its end left out; the first of equals. */
struct wr_worst wr_passed_worst(const struct wr_passed_list *list, int64_t length_us);

#endif
