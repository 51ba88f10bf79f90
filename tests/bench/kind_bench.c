/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local store with counters of each kind: see kind_subject.h. Each kind is in a process of its
 * own, and they take turns of a few milliseconds. A ratio is that to the fixed window's turn of the
 * same round; of all rounds it is the median, with the quartiles around it. What memory a process
 * is given makes a difference of its own, so there are several generations of them.
 *
 * usage: kind_bench [TAKES]; of a thread in a round.
 */
#include <stdlib.h>

#include "tests/bench/kind_subject.h"
#include "tests/bench/report.h"
#include "tests/bench/turns.h"
#include "tests/stress/crew.h"

enum {
    TAKES = 50000,
    ROUNDS = 11, /* of a generation */
    GENERATIONS = 3,
    ALL_ROUNDS = ROUNDS * GENERATIONS,
    FIXED_WINDOW = 0, /* to which the others are compared */
};

static const struct wr_bench_kind kinds[] = {
    {"fixed_window", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_EPOCH, false},
    {"first_hit", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_FIRST_HIT, false},
    {"calendar", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_CALENDAR, false},
    {"token_bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, false},
    {"sliding_window", WR_ALGORITHM_SLIDING_WINDOW, WR_ALIGN_EPOCH, false},
    {"sliding_buckets", WR_ALGORITHM_SLIDING_BUCKETS, WR_ALIGN_EPOCH, false},
    {"sliding_log", WR_ALGORITHM_SLIDING_LOG, WR_ALIGN_EPOCH, false},
    {"warmed_up_bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, true},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

static const struct {
    enum wr_bench_figure figure;
    bool is_of_takes; /* measured in every round */
    const char *name;
} figures[] = {
    {WR_BENCH_ONE_KEY, true, "one_key_ns_threads_1"},
    {WR_BENCH_ONE_KEY_THREADS_2, true, "one_key_ns_threads_2"},
    {WR_BENCH_NEW, false, "new_ns"},
    {WR_BENCH_BYTES, false, "bytes_a_counter"},
    {WR_BENCH_MILLION, true, "million_keys_ns_threads_1"},
    {WR_BENCH_MILLION_THREADS_2, true, "million_keys_ns_threads_2"},
};

#define N_FIGURES (sizeof figures / sizeof figures[0])

struct turn_of_kind {
    const struct wr_bench_kind *kind;
    uint64_t takes;
    struct wr_bench_subject *subject; /* in the process of the kind, from its first turn on */
};

static double measure(void *context, int order)
{
    struct turn_of_kind *const own = context;

    if (own->subject == NULL) {
        own->subject = wr_bench_subject_new(own->kind, own->takes, ROUNDS);
    }
    return wr_bench_subject_measure(own->subject, (enum wr_bench_figure) order);
}

/* By figure, kind and round. */
struct results {
    double values[N_FIGURES][N_KINDS][ALL_ROUNDS];
};

static void report_ratio(double values[N_KINDS][ALL_ROUNDS], size_t kind, const char *name)
{
    double ratios[ALL_ROUNDS];

    for (size_t round = 0; round < ALL_ROUNDS; round++) {
        ratios[round] = values[kind][round] / values[FIXED_WINDOW][round];
    }

    const double median = wr_bench_median(ratios, ALL_ROUNDS);

    wr_bench_report(median, "%s_ratio_%s", kinds[kind].name, name);
    wr_bench_report(ratios[ALL_ROUNDS / 4], "%s_low_%s", kinds[kind].name, name);
    wr_bench_report(ratios[ALL_ROUNDS - 1 - ALL_ROUNDS / 4], "%s_high_%s", kinds[kind].name, name);
}

static void report(struct results *results, size_t figure)
{
    double(*const values)[ALL_ROUNDS] = results->values[figure];
    const size_t n = figures[figure].is_of_takes ? ALL_ROUNDS : GENERATIONS;

    for (size_t kind = 0; kind < N_KINDS; kind++) {
        if (figures[figure].is_of_takes) {
            report_ratio(values, kind, figures[figure].name);
        }
    }
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        wr_bench_report(wr_bench_median(values[kind], n), "%s_%s", kinds[kind].name,
                        figures[figure].name);
    }
}

/* All kinds, in turn. Each generation begins with another. */
static void measure_all(struct wr_bench_turns *turns, struct results *results, size_t generation,
                        size_t figure)
{
    const size_t n_rounds = figures[figure].is_of_takes ? ROUNDS : 1;

    for (size_t round = 0; round < n_rounds; round++) {
        for (size_t i = 0; i < N_KINDS; i++) {
            const size_t kind = (generation * N_KINDS / GENERATIONS + i) % N_KINDS;

            results->values[figure][kind][generation * n_rounds + round] =
                wr_bench_turns_ask(&turns[kind], (int) figures[figure].figure);
        }
    }
}

static void live(struct results *results, size_t generation, uint64_t takes)
{
    struct wr_bench_turns turns[N_KINDS];

    for (size_t kind = 0; kind < N_KINDS; kind++) {
        struct turn_of_kind own = {.kind = &kinds[kind], .takes = takes};

        wr_bench_turns_start(&turns[kind], measure, &own);
    }
    for (size_t figure = 0; figure < N_FIGURES; figure++) {
        measure_all(turns, results, generation, figure);
    }
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        wr_bench_turns_stop(&turns[kind]);
    }
}

int main(int argc, char **argv)
{
    const uint64_t takes = argc > 1 ? strtoull(argv[1], NULL, 10) : TAKES;
    struct results results;

    wr_check(takes > 0, "usage: kind_bench [TAKES]");
    for (size_t generation = 0; generation < GENERATIONS; generation++) {
        live(&results, generation, takes);
    }
    for (size_t figure = 0; figure < N_FIGURES; figure++) {
        report(&results, figure);
    }
    return EXIT_SUCCESS;
}
