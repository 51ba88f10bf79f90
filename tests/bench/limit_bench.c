/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a take costs by algorithm, without a store around it: CPU time of one thread on one counter,
 * for a limit that is roomy, and for one at which every second hit is refused.
 *
 * usage: limit_bench [TAKES]; in a round.
 */
#include <stdint.h>
#include <stdlib.h>

#include "limit/algorithm.h"
#include "tests/bench/report.h"
#include "tests/stress/crew.h"

#define MINUTE_US INT64_C(60000000)

/* Between two hits, on average. */
#define STEP_US (MINUTE_US / 2000)

enum {
    TAKES = 2000000,
    ROUNDS = 7,
    WORDS = 4096,
};

static const struct {
    const char *name;
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
    int64_t warm_up_us;
} kinds[] = {
    {"fixed_window", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_EPOCH, 0},
    {"first_hit", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_FIRST_HIT, 0},
    {"sliding_window", WR_ALGORITHM_SLIDING_WINDOW, WR_ALIGN_EPOCH, 0},
    {"sliding_buckets", WR_ALGORITHM_SLIDING_BUCKETS, WR_ALIGN_EPOCH, 0},
    {"sliding_log", WR_ALGORITHM_SLIDING_LOG, WR_ALIGN_EPOCH, 0},
    {"token_bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, 0},
    {"warmed_up_bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, MINUTE_US},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

static double take_ns(const struct wr_limit *limit, uint64_t takes)
{
    static uint64_t state[WORDS];
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    uint64_t random = 1, n_over = 0;
    int64_t now_us = 1000 * MINUTE_US;

    for (size_t i = 0; i < WORDS; i++) {
        state[i] = 0;
    }

    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t i = 0; i < takes; i++) {
        now_us += (int64_t) (wr_crew_random(&random) % (2 * STEP_US));
        n_over += kind->take(state, limit, 1, now_us).over;
    }

    const double ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;

    wr_check(n_over < takes, "nothing was admitted");
    return ns / (double) takes;
}

/* The kinds take turns, so that what the machine does meanwhile meets all. */
static void bench(uint64_t requests, const char *name, uint64_t takes)
{
    double ns[N_KINDS][ROUNDS];

    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < N_KINDS; i++) {
            const struct wr_limit limit = {
                .requests = requests,
                .length_us = MINUTE_US,
                .count = WR_COUNT_ADMITTED,
                .algorithm = kinds[i].algorithm,
                .alignment = kinds[i].alignment,
                .warm_up_us = kinds[i].warm_up_us,
                .warm_up_start = 1,
                .n_buckets = 60,
                .burst = requests / 10,
            };

            ns[i][round] = take_ns(&limit, takes);
        }
    }
    for (size_t i = 0; i < N_KINDS; i++) {
        wr_bench_report(wr_bench_median(ns[i], ROUNDS), "limit_ns_%s_%s", name, kinds[i].name);
    }
}

int main(int argc, char **argv)
{
    const uint64_t takes = argc > 1 ? strtoull(argv[1], NULL, 10) : TAKES;

    wr_check(takes > 0, "usage: limit_bench [TAKES]");
    bench(10000, "roomy", takes);
    bench(1000, "tight", takes);
    return EXIT_SUCCESS;
}
