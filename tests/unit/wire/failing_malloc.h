/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc and calloc of the program, made to fail from a chosen call on; link with
 * --wrap=malloc,--wrap=calloc.
 *
 * Threads: one thread only.
 */
#ifndef WR_TESTS_UNIT_WIRE_FAILING_MALLOC_H
#define WR_TESTS_UNIT_WIRE_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* The next `n` calls succeed, those after them fail. */
void failing_malloc_start(size_t n);

/* All calls succeed again. */
void failing_malloc_stop(void);

typedef bool (*failing_attempt_fn)(struct wr_arena *arena, const void *context);

/* Makes `attempt` with arenas of 16 bytes, 32 and so on that cannot grow, so that every allocation
 * is the one to fail once, until it is true. Returns how often it was false. */
size_t failing_malloc_sweep(failing_attempt_fn attempt, const void *context);

#endif
