/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of values by size, so that percentiles of any number of them cost a fixed 58 KiB: 128
 * buckets of equal width for each power of two, which is off by less than 0.8 %, as HdrHistogram
 * does it. Integers only.
 *
 * Threads: owner thread only.
 */
#ifndef WEIRCTL_BENCH_HISTOGRAM_H
#define WEIRCTL_BENCH_HISTOGRAM_H

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
};

void weirctl_histogram_add(struct weirctl_histogram *histogram, uint64_t value);

/* The smallest value, rounded up to its bucket's end, that `per_100k` of 100 000 values do not
 * exceed; never above the largest value. 0 when empty. */
uint64_t weirctl_histogram_at(const struct weirctl_histogram *histogram, uint32_t per_100k);

/* 0 when empty. */
uint64_t weirctl_histogram_mean(const struct weirctl_histogram *histogram);

#endif
