/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stress programs have in common: a crew of threads that begins together, and a check that
 * ends the program when it does not hold.
 *
 * Threads: as said at each function.
 */
#ifndef WR_TESTS_STRESS_CREW_H
#define WR_TESTS_STRESS_CREW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What member `number` of a crew does. */
typedef void (*wr_crew_fn)(size_t number, void *shared);

/* Runs `n` members at once, at most 16, and returns when all are through. One thread. */
void wr_crew_run(size_t n, wr_crew_fn run, void *shared);

/* The next random number after `*state`, which is not 0 (Marsaglia's xorshift64). Any thread. */
uint64_t wr_crew_random(uint64_t *state);

/* Prints what did not hold and ends the program with status 1. Any thread. */
void wr_check(bool holds, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
