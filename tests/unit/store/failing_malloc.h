/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocations of the code under test, as the linker wraps them (see CMakeLists.txt): one of them
 * and all after it can be made to fail.
 *
 * Threads: one thread.
 */
#ifndef WR_TESTS_UNIT_STORE_FAILING_MALLOC_H
#define WR_TESTS_UNIT_STORE_FAILING_MALLOC_H

#include <stddef.h>

/* The next `n` allocations succeed, those after them fail. */
void fail_allocations_after(size_t n);

void stop_failing(void);

#endif
