/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A local store with counters of one kind, and what is measured of it: CPU time of a take on one
 * key and on a million, by one thread and by two; of a new counter; and what that costs in memory.
 *
 * Threads: one, which starts those that take.
 */
#ifndef WR_TESTS_BENCH_KIND_SUBJECT_H
#define WR_TESTS_BENCH_KIND_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limit/limit.h"

struct wr_bench_kind {
    const char *name;
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
    bool has_warm_up;
};

/* In the order in which they are to be measured: those of one key, a new one, the others. */
enum wr_bench_figure {
    WR_BENCH_ONE_KEY,
    WR_BENCH_ONE_KEY_THREADS_2,
    WR_BENCH_NEW, /* takes once from each of a million keys */
    WR_BENCH_BYTES,
    WR_BENCH_MILLION,
    WR_BENCH_MILLION_THREADS_2,
};

struct wr_bench_subject;

/* `takes`: of a thread each time takes are measured; on many keys there are `n_rounds` of that. */
struct wr_bench_subject *wr_bench_subject_new(const struct wr_bench_kind *kind, uint64_t takes,
                                              uint64_t n_rounds);

/* In nanoseconds of a take, or bytes of a counter. */
double wr_bench_subject_measure(struct wr_bench_subject *subject, enum wr_bench_figure figure);

#endif
