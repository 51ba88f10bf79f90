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

/* The percentiles that are told, as parts of 100 000. */
#define WEIRCTL_PERCENTILES(X)                                                                     \
    X("p50", 50000)                                                                                \
    X("p90", 90000)                                                                                \
    X("p99", 99000)                                                                                \
    X("p99.9", 99900)

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
