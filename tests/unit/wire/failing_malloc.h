/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc and calloc of the program, made to fail from a chosen call on; link with
 * --wrap=malloc,--wrap=calloc.
 *
 * Threads: one thread only.
 */
#ifndef WR_TESTS_UNIT_WIRE_FAILING_MALLOC_H
#define WR_TESTS_UNIT_WIRE_FAILING_MALLOC_H

#include <stddef.h>

/* The next `n` calls succeed, those after them fail. */
void failing_malloc_start(size_t n);

/* All calls succeed again. */
void failing_malloc_stop(void);

#endif
