/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local store with counters of one kind after the other: CPU time of a take on one key and on a
 * million, by one thread and by two, and what a live counter costs in memory. Each kind is measured
 * in a process of its own, and the kinds take turns.
 *
 * usage: kind_bench [TAKES]; of a thread in a round.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/local_store.h"
#include "tests/bench/report.h"
#include "tests/stress/crew.h"
#include "tests/support/taker.h"

/* So that no counter expires while there are many. */
#define LENGTH_US (INT64_C(3600) * 1000000 * 1000)

/* As many as weir has by default; and room for a million of those that grow. */
#define MAX_COUNTERS 4000000
#define MAX_COUNTERS_OF_GROWING 8000000

enum {
    LIVE = 1000000,
    TAKES = 1000000,
    ROUNDS = 3,
    BUCKETS = 60,
};

static const struct {
    const char *name;
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
    bool has_warm_up;
    uint64_t max_counters;
} kinds[] = {
    {"fixed_window", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_EPOCH, false, MAX_COUNTERS},
    {"first_hit", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_FIRST_HIT, false, MAX_COUNTERS},
    {"token_bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, false, MAX_COUNTERS},
    {"sliding_window", WR_ALGORITHM_SLIDING_WINDOW, WR_ALIGN_EPOCH, false, MAX_COUNTERS},
    {"sliding_buckets", WR_ALGORITHM_SLIDING_BUCKETS, WR_ALIGN_EPOCH, false,
     MAX_COUNTERS_OF_GROWING},
    {"sliding_log", WR_ALGORITHM_SLIDING_LOG, WR_ALIGN_EPOCH, false, MAX_COUNTERS_OF_GROWING},
    {"warmed_up_bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, true, MAX_COUNTERS},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

static const char *const figure_names[] = {
    "bytes_a_counter",           "new_ns",
    "one_key_ns_threads_1",      "one_key_ns_threads_2",
    "million_keys_ns_threads_1", "million_keys_ns_threads_2",
};

#define N_FIGURES (sizeof figure_names / sizeof figure_names[0])

/* One round of one kind. */
struct bench {
    struct wr_taker takers[2];
    uint64_t n_keys;
    uint64_t takes; /* of a thread */
    int64_t step_us;
    double cpu_ns[2]; /* written by its thread */
};

static void run(size_t number, void *context)
{
    struct bench *const bench = context;
    struct wr_taker *const taker = &bench->takers[number];
    uint64_t random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t i = 0; i < bench->takes; i++) {
        taker->now.wall_us += bench->step_us;
        taker->now.mono_us += bench->step_us;
        (void) wr_taker_take_number(taker, wr_crew_random(&random) % bench->n_keys);
    }
    bench->cpu_ns[number] = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

/* Of a take by each of `n_threads`. */
static double takes_ns(struct bench *bench, size_t n_threads)
{
    double cpu_ns = 0;

    bench->takers[1].now = bench->takers[0].now;
    wr_crew_run(n_threads, run, bench);
    for (size_t i = 0; i < n_threads; i++) {
        cpu_ns += bench->cpu_ns[i];
    }
    return cpu_ns / (double) (bench->takes * n_threads);
}

static struct wr_limit limit_of(size_t kind)
{
    const bool is_log = kinds[kind].algorithm == WR_ALGORITHM_SLIDING_LOG;

    return (struct wr_limit){
        .requests = is_log ? WR_SLIDING_LOG_MAX : 10000,
        .length_us = LENGTH_US,
        .count = WR_COUNT_ADMITTED,
        .algorithm = kinds[kind].algorithm,
        .alignment = kinds[kind].alignment,
        .n_buckets = BUCKETS,
        .burst = 1000,
        .warm_up_us = kinds[kind].has_warm_up ? LENGTH_US : 0,
        .warm_up_start = 3000,
    };
}

static void begin(struct bench *bench, size_t kind, uint64_t takes)
{
    const struct wr_local_store_options options = {.max_counters = kinds[kind].max_counters};
    struct wr_metrics *const metrics = wr_metrics_new();
    struct wr_backend *backend = NULL;

    wr_check(metrics != NULL && wr_local_store_new(&options, &backend) == WR_OK, "no store");
    *bench = (struct bench){.takes = takes};
    for (size_t i = 0; i < 2; i++) {
        bench->takers[i] = (struct wr_taker){
            .backend = backend,
            .metrics = wr_metrics_block_new(metrics),
            .limit = limit_of(kind),
            .now = {.wall_us = 1000 * LENGTH_US, .mono_us = 1000 * LENGTH_US},
        };
        wr_check(bench->takers[i].metrics != NULL, "no memory");
    }
}

/* Returns the time of a new counter. */
static double fill(struct wr_taker *taker)
{
    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t key = 0; key < LIVE; key++) {
        const enum wr_take_answer answer = wr_taker_take_number(taker, key).answer;

        wr_check(answer == WR_TAKE_DECIDED, "answer %d to key %" PRIu64, (int) answer, key);
    }
    return (wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / LIVE;
}

/* On many keys hardly any time passes; on one, half of what is allowed comes in a window. */
static void measure(size_t kind, uint64_t takes, double *figures)
{
    const double before = wr_bench_resident_bytes();
    struct bench bench;

    begin(&bench, kind, takes);
    bench.n_keys = 1;
    bench.step_us = 2 * LENGTH_US / (int64_t) bench.takers[0].limit.requests;
    figures[2] = takes_ns(&bench, 1);
    figures[3] = takes_ns(&bench, 2);
    bench.n_keys = LIVE;
    bench.step_us = 1;
    figures[1] = fill(&bench.takers[0]);
    figures[0] = (wr_bench_resident_bytes() - before) / LIVE;
    figures[4] = takes_ns(&bench, 1);
    figures[5] = takes_ns(&bench, 2);
}

/* The memory of one kind is none of the next one's. */
static void measure_apart(size_t kind, uint64_t takes, double *figures)
{
    int pipes[2], status = 0;

    wr_check(pipe(pipes) == 0, "no pipe");

    const pid_t child = fork();

    wr_check(child >= 0, "no process");
    if (child == 0) {
        measure(kind, takes, figures);
        _exit(write(pipes[1], figures, N_FIGURES * sizeof *figures) > 0 ? 0 : 1);
    }

    const ssize_t n = read(pipes[0], figures, N_FIGURES * sizeof *figures);

    (void) close(pipes[0]);
    (void) close(pipes[1]);
    wr_check(waitpid(child, &status, 0) == child && status == 0 && n > 0, "%s failed",
             kinds[kind].name);
}

int main(int argc, char **argv)
{
    const uint64_t takes = argc > 1 ? strtoull(argv[1], NULL, 10) : TAKES;
    double figures[ROUNDS][N_KINDS][N_FIGURES];

    wr_check(takes > 0, "usage: kind_bench [TAKES]");
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t kind = 0; kind < N_KINDS; kind++) {
            measure_apart(kind, takes, figures[round][kind]);
        }
    }
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        for (size_t i = 0; i < N_FIGURES; i++) {
            double values[ROUNDS];

            for (size_t round = 0; round < ROUNDS; round++) {
                values[round] = figures[round][kind][i];
            }
            wr_bench_report(wr_bench_median(values, ROUNDS), "%s_%s", kinds[kind].name,
                            figure_names[i]);
        }
    }
    return EXIT_SUCCESS;
}
