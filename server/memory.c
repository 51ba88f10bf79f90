/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* _SC_PHYS_PAGES */
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "control_group.h"

/* The number that `path` holds; "max" is none. */
static void take_bound(void *context, const char *path)
{
    uint64_t *const bytes = context;
    uint64_t bound = 0;
    FILE *const file = fopen(path, "re");

    if (file == NULL) {
        return;
    }
    if (fscanf(file, "%" SCNu64, &bound) == 1 && bound < *bytes) {
        *bytes = bound;
    }
    (void) fclose(file);
}

uint64_t wr_memory_usable(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    uint64_t bytes = pages > 0 && size > 0 ? (uint64_t) pages * (uint64_t) size : UINT64_MAX;

    wr_control_group_walk("memory.max", take_bound, &bytes);
    /* Of the first version, as a container sees it. */
    take_bound(&bytes, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
    return bytes;
}
