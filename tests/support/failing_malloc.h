/* SPDX-License-Identifier: Apache-2.0 */
/*
 * malloc, calloc, realloc and aligned_alloc of a program that links wr_failing_malloc, made to fail
 * from a chosen call on.
 *
 * Threads: one thread.
 */
#ifndef WR_TESTS_SUPPORT_FAILING_MALLOC_H
#define WR_TESTS_SUPPORT_FAILING_MALLOC_H

#include <stddef.h>

/* The next `n` calls succeed, those after them fail. */
void failing_malloc_start(size_t n);

/* All calls succeed again. */
void failing_malloc_stop(void);

#endif
