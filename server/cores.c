/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* sched_getaffinity, CPU_COUNT */
#include "cores.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "control_group.h"

static size_t in_mask(void)
{
    cpu_set_t mask;

    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof mask, &mask) == 0 && CPU_COUNT(&mask) > 0) {
        return (size_t) CPU_COUNT(&mask);
    }

    const long online = sysconf(_SC_NPROCESSORS_ONLN);

    return online > 0 ? (size_t) online : 1;
}

/* The two numbers that `path` begins with; false when it has none, as with "max". */
static bool read_pair(const char *path, long long *out_first, long long *out_second)
{
    FILE *const file = fopen(path, "re");

    if (file == NULL) {
        return false;
    }

    const int n = fscanf(file, "%lld %lld", out_first, out_second);

    (void) fclose(file);
    return n >= 1 && (n == 2 || out_first == out_second);
}

static size_t fewer(size_t cores, long long quota_us, long long period_us)
{
    if (quota_us <= 0 || period_us <= 0) {
        return cores;
    }

    const size_t allowed = (size_t) ((quota_us + period_us - 1) / period_us);

    return allowed < cores ? allowed : cores;
}

static void take_quota(void *context, const char *path)
{
    size_t *const cores = context;
    long long quota_us = 0, period_us = 0;

    if (read_pair(path, &quota_us, &period_us)) {
        *cores = fewer(*cores, quota_us, period_us);
    }
}

static size_t within_unified_quota(size_t cores)
{
    wr_control_group_walk("cpu.max", take_quota, &cores);
    return cores;
}

/* Control groups of the first version, as a container sees them. */
static size_t within_old_quota(size_t cores)
{
    long long quota_us = 0, period_us = 0;

    if (read_pair("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", &quota_us, &quota_us) &&
        read_pair("/sys/fs/cgroup/cpu/cpu.cfs_period_us", &period_us, &period_us)) {
        cores = fewer(cores, quota_us, period_us);
    }
    return cores;
}

size_t wr_cores_usable(void)
{
    const size_t cores = within_old_quota(within_unified_quota(in_mask()));

    return cores > 0 ? cores : 1;
}
