/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of values by size, so that percentiles of any number of them cost a fixed 116 KiB: 128
 * buckets of equal width for each power of two, which is off by less than 0.8 %, as HdrHistogram
 * does it. Integers only. A value may be known only to be at least so much: it counts as that, and
 * what then may be higher than it seems can be told apart.
 *
 * Threads: owner thread only.
 */
#ifndef WEIRCTL_BENCH_HISTOGRAM_H
#define WEIRCTL_BENCH_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WEIRCTL_HISTOGRAM_BUCKETS 7424 /* the last one ends at UINT64_MAX */

/* All zero is empty. */
struct weirctl_histogram {
    uint64_t count;
    uint64_t sum; /* stays at its largest */
    uint64_t min;
    uint64_t max;
    uint64_t counts[WEIRCTL_HISTOGRAM_BUCKETS];
    uint64_t bounds[WEIRCTL_HISTOGRAM_BUCKETS]; /* how many of counts are lower bounds */
};

void weirctl_histogram_add(struct weirctl_histogram *histogram, uint64_t value);

/* A value that is `bound` or more. */
void weirctl_histogram_add_at_least(struct weirctl_histogram *histogram, uint64_t bound);

/* The smallest value, rounded up to its bucket's end, that `per_100k` of 100 000 values do not
 * exceed; never above the largest value. 0 when empty. */
uint64_t weirctl_histogram_at(const struct weirctl_histogram *histogram, uint32_t per_100k);

/* Is that only a lower bound: would it be higher, had each value that is known by a lower bound no
 * end. By 100 000 it tells so of the largest value and the mean, by 0 of the smallest. */
bool weirctl_histogram_is_at_least(const struct weirctl_histogram *histogram, uint32_t per_100k);

/* 0 when empty. */
uint64_t weirctl_histogram_mean(const struct weirctl_histogram *histogram);

#endif
