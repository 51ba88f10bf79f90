/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a load came to, for people.
 *
 * Threads: owner thread only; writes to `stream`.
 */
#ifndef WEIRCTL_BENCH_REPORT_H
#define WEIRCTL_BENCH_REPORT_H

#include "load.h"

#include <stdio.h>

/* The latencies that are told: the name, the value and the percentile, as a part of 100 000, that
 * is as sure as it. */
#define WEIRCTL_LATENCIES(X, ns)                                                                   \
    X("min", (ns)->min, 0)                                                                         \
    X("mean", weirctl_histogram_mean(ns), 100000)                                                  \
    X("p50", weirctl_histogram_at(ns, 50000), 50000)                                               \
    X("p90", weirctl_histogram_at(ns, 90000), 90000)                                               \
    X("p99", weirctl_histogram_at(ns, 99000), 99000)                                               \
    X("p99.9", weirctl_histogram_at(ns, 99900), 99900)                                             \
    X("max", (ns)->max, 100000)

/* Answers a second; 0 without time. */
uint64_t weirctl_report_rate(const struct weirctl_load_report *report);

/* How far a load is, of 1000: by checks or by time, what is further. */
unsigned int weirctl_report_done(const struct weirctl_load_plan *plan,
                                 const struct weirctl_load_report *report);

/* One line that is written over the one before: a bar, the rate, the counts. */
void weirctl_report_progress(FILE *stream, const struct weirctl_load_plan *plan,
                             const struct weirctl_load_report *report);

void weirctl_report_print(FILE *stream, const struct weirctl_load_plan *plan,
                          const struct weirctl_load_report *report);

#endif
