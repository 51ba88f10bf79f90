/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the benches in C have in common: clocks, memory, and one line `NAME VALUE` a measurement,
 * which run.py reads.
 *
 * Threads: any thread.
 */
#ifndef WR_TESTS_BENCH_REPORT_H
#define WR_TESTS_BENCH_REPORT_H

#include <stddef.h>
#include <time.h>

/* Nanoseconds by `id`: CLOCK_MONOTONIC, or CPU time of the thread or the process. */
double wr_bench_ns(clockid_t id);

/* Memory of the process. */
double wr_bench_resident_bytes(void);

/* The middle one of `n` values, which it sorts. */
double wr_bench_median(double *values, size_t n);

void wr_bench_report(double value, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
