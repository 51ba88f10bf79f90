/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An attempt made with ever more memory, until it succeeds.
 *
 * Threads: one thread only.
 */
#ifndef WR_TESTS_UNIT_WIRE_FAILING_SWEEP_H
#define WR_TESTS_UNIT_WIRE_FAILING_SWEEP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

typedef bool (*failing_attempt_fn)(struct wr_arena *arena, const void *context);

/* Makes `attempt` with arenas of 16 bytes, 32 and so on that cannot grow, so that every allocation
 * is the one to fail once, until it is true. Returns how often it was false. */
size_t failing_sweep(failing_attempt_fn attempt, const void *context);

#endif
