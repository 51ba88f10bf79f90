/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where this process stands in the unified hierarchy of control groups.
 *
 * Threads: any thread, no state.
 */
#ifndef WR_CONTROL_GROUP_H
#define WR_CONTROL_GROUP_H

typedef void (*wr_control_group_fn)(void *context, const char *path);

/* Calls `see` with the path of `file`, as cpu.max, in the process's group and in each above it up
 * to the root: every one may have a bound of its own. The file need not be there. */
void wr_control_group_walk(const char *file, wr_control_group_fn see, void *context);

#endif
