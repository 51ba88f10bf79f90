/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many processors this process may use: the cores, less what an affinity mask or a CPU quota of
 * its control group takes away.
 *
 * Threads: any thread, no state.
 */
#ifndef WR_CORES_H
#define WR_CORES_H

#include <stddef.h>

/* At least 1; a quota counts rounded up. */
size_t wr_cores_usable(void);

#endif
