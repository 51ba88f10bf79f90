/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that take turns: each has one subject of a bench in its memory and measures a little of
 * it when asked, so that subjects can be compared within moments, and what the machine does
 * meanwhile meets all of them.
 *
 * Threads: one.
 */
#ifndef WR_TESTS_BENCH_TURNS_H
#define WR_TESTS_BENCH_TURNS_H

#include <sys/types.h>

/* In the process of a subject: carries out `order`, >= 0, and returns what it came to. */
typedef double (*wr_bench_turn_fn)(void *subject, int order);

/* The process of one subject. */
struct wr_bench_turns {
    pid_t pid;
    int orders, answers; /* pipes */
};

/* The process has a copy of all that there is, and so of `subject`. */
void wr_bench_turns_start(struct wr_bench_turns *turns, wr_bench_turn_fn fn, void *subject);

/* Returns what the order came to. */
double wr_bench_turns_ask(struct wr_bench_turns *turns, int order);

void wr_bench_turns_stop(struct wr_bench_turns *turns);

#endif
