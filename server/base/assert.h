/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Assertions for bugs, on in release builds too; never for input, network or memory.
 *
 * Threads: any thread.
 */
#ifndef WR_BASE_ASSERT_H
#define WR_BASE_ASSERT_H

/* Prints what did not hold to stderr and aborts. */
_Noreturn void wr_assert_failed(const char *condition, const char *file, int line);

#define WR_ASSERT(condition)                                                                       \
    ((condition) ? (void) 0 : wr_assert_failed(#condition, __FILE__, __LINE__))

#endif
