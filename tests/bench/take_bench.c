/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The local store alone: CPU time of a take by the number of threads, how many locks were held by
 * another thread, what a live counter costs in memory, and a batch of two takes: each for itself,
 * as a group, and in stop mode.
 *
 * usage: take_bench [TAKES]; of a thread in a round.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/local_store.h"
#include "tests/bench/report.h"
#include "tests/stress/crew.h"
#include "tests/support/taker.h"

#define HOUR_US (INT64_C(3600) * 1000000)

/* As many counters as weir's --max-counters leaves room for by default. */
#define MAX_COUNTERS 4000000

enum {
    MAX_THREADS = 8,
    KEYS = 1000,
    LIVE = 1000000,
    TAKES = 2000000,
    ROUNDS = 5,
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics_block *blocks[MAX_THREADS];
    uint64_t takes;             /* of a thread */
    double cpu_ns[MAX_THREADS]; /* written by its thread */
};

static struct wr_taker taker_of(struct wr_backend *backend, struct wr_metrics_block *block)
{
    return (struct wr_taker){
        .backend = backend,
        .metrics = block,
        .limit = {.requests = 1000000000, .length_us = HOUR_US},
        .now = {.wall_us = 1000 * HOUR_US, .mono_us = 1000 * HOUR_US},
    };
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct wr_taker taker = taker_of(shared->backend, shared->blocks[number]);
    uint64_t random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t i = 0; i < shared->takes; i++) {
        (void) wr_taker_take_number(&taker, wr_crew_random(&random) % KEYS);
    }
    shared->cpu_ns[number] = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

static void bench_threads(struct shared *shared, struct wr_metrics *metrics, size_t n_threads)
{
    const double n = (double) shared->takes * (double) n_threads;
    double ns[ROUNDS], share[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++) {
        const uint64_t before = wr_metrics_sum(metrics, WR_METRIC_STORE_CONTENDED);
        double cpu_ns = 0;

        wr_crew_run(n_threads, run, shared);
        for (size_t k = 0; k < n_threads; k++) {
            cpu_ns += shared->cpu_ns[k];
        }
        ns[i] = cpu_ns / n;
        share[i] = (double) (wr_metrics_sum(metrics, WR_METRIC_STORE_CONTENDED) - before) / n * 100;
    }
    wr_bench_report(wr_bench_median(ns, ROUNDS), "take_ns_threads_%zu", n_threads);
    wr_bench_report(wr_bench_median(share, ROUNDS), "contended_percent_threads_%zu", n_threads);
}

static double pairs_ns(struct wr_taker *taker, enum wr_count count, uint64_t n)
{
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t keys[2] = {wr_crew_random(&random) % KEYS, wr_crew_random(&random) % KEYS};
        struct wr_take takes[2];

        for (size_t k = 0; k < 2; k++) {
            takes[k] = (struct wr_take){
                .key = {(const char *) &keys[k], sizeof keys[k]},
                .limit = taker->limit,
                .hits = 1,
                .is_enforced = true,
            };
            takes[k].limit.count = count;
        }
        wr_taker_batch(taker, takes, 2);
    }
    return (wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / (double) n;
}

static void bench_pairs(struct shared *shared)
{
    static const struct {
        const char *name;
        enum wr_count count;
        enum wr_charge_mode mode;
    } rows[] = {
        {"plain", WR_COUNT_ALL, WR_CHARGE_BY_COUNT},
        {"group", WR_COUNT_ALL_OR_NOTHING, WR_CHARGE_BY_COUNT},
        {"stop", WR_COUNT_ALL, WR_CHARGE_STOP},
    };
    struct wr_taker taker = taker_of(shared->backend, shared->blocks[0]);
    struct wr_arena arena;

    wr_arena_init(&arena, 4096);
    taker.arena = &arena;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double ns[ROUNDS];

        taker.mode = rows[i].mode;
        for (size_t round = 0; round < ROUNDS; round++) {
            ns[round] = pairs_ns(&taker, rows[i].count, shared->takes / 2);
        }
        wr_bench_report(wr_bench_median(ns, ROUNDS), "pair_ns_%s", rows[i].name);
    }
    wr_arena_fini(&arena);
}

static struct wr_backend *new_store(void)
{
    const struct wr_local_store_options options = {.max_counters = MAX_COUNTERS};
    struct wr_backend *backend = NULL;

    wr_check(wr_local_store_new(&options, &backend) == WR_OK, "no store");
    return backend;
}

/* With the store itself, whose share of the growth is small. */
static void bench_memory(struct wr_metrics_block *block)
{
    const double before = wr_bench_resident_bytes();
    struct wr_backend *const backend = new_store();
    struct wr_taker taker = taker_of(backend, block);
    struct wr_local_store_stats stats;
    double ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t key = 0; key < LIVE; key++) {
        wr_check(wr_taker_take_number(&taker, key).answer == WR_TAKE_DECIDED, "not decided");
    }
    ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - ns;
    wr_bench_report((wr_bench_resident_bytes() - before) / LIVE, "bytes_a_live_counter");
    wr_bench_report(ns / LIVE, "new_counter_ns");
    wr_local_store_stats(backend, &stats);
    wr_check(stats.n_counters == LIVE, "%" PRIu64 " counters are live", stats.n_counters);
    wr_backend_destroy(backend);
}

int main(int argc, char **argv)
{
    struct wr_metrics *const metrics = wr_metrics_new();
    struct shared shared = {.takes = argc > 1 ? strtoull(argv[1], NULL, 10) : TAKES};

    wr_check(metrics != NULL && shared.takes > 0, "usage: take_bench [TAKES]");
    for (size_t i = 0; i < MAX_THREADS; i++) {
        shared.blocks[i] = wr_metrics_block_new(metrics);
        wr_check(shared.blocks[i] != NULL, "no memory");
    }
    bench_memory(shared.blocks[0]);
    shared.backend = new_store();
    for (size_t n = 1; n <= MAX_THREADS; n *= 2) {
        bench_threads(&shared, metrics, n);
    }
    bench_pairs(&shared);
    wr_backend_destroy(shared.backend);
    wr_metrics_destroy(metrics);
    return EXIT_SUCCESS;
}
