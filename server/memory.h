/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory this process may use: the machine's, or less where its control group has a bound.
 *
 * Threads: any thread, no state.
 */
#ifndef WR_MEMORY_H
#define WR_MEMORY_H

#include <stdint.h>

/* Bytes. */
uint64_t wr_memory_usable(void);

#endif
