/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bound on live counters: threads race for the last places while another looks on. There are
 * never more counters than allowed, every place is given away, and no counter that was once taken
 * is lost before it expires.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/local_store.h"
#include "tests/stress/crew.h"
#include "tests/support/taker.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum {
    TAKERS = 8,
    BOUND = 4096,
    STRIPES = 4,
    ROUNDS = 5,
    KEYS = 2 * BOUND, /* that a thread tries in a round */
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics *metrics;
    int64_t wall_us;
    _Atomic unsigned n_at_work;
    _Atomic uint64_t n_looks;
    _Atomic uint64_t n_taken, n_full;
};

static void check_bound(struct shared *shared)
{
    struct wr_local_store_stats stats;

    wr_local_store_stats(shared->backend, &stats);
    wr_check(stats.n_counters <= BOUND, "%" PRIu64 " counters", stats.n_counters);
}

static void look_on(struct shared *shared)
{
    while (atomic_load(&shared->n_at_work) > 0) {
        check_bound(shared);
        atomic_fetch_add(&shared->n_looks, 1);
    }
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct wr_taker taker = {
        .backend = shared->backend,
        .metrics = wr_metrics_block_new(shared->metrics),
        .limit = {.requests = 9, .length_us = S(60)},
        .now = {.wall_us = shared->wall_us, .mono_us = shared->wall_us},
    };
    static _Thread_local bool is_taken[KEYS];

    wr_check(taker.metrics != NULL, "no memory");
    if (number == TAKERS) {
        look_on(shared);
        return;
    }
    for (uint64_t key = 0; key < KEYS; key++) {
        const struct wr_take take = wr_taker_take_number(&taker, number * KEYS + key);

        is_taken[key] = take.answer == WR_TAKE_DECIDED;
        wr_check(is_taken[key] ? take.verdict.remaining == 8 : take.answer == WR_TAKE_FULL,
                 "a new counter is neither at 1 nor refused");
        atomic_fetch_add(is_taken[key] ? &shared->n_taken : &shared->n_full, 1);
    }
    for (uint64_t key = 0; key < KEYS; key++) {
        const struct wr_take take = wr_taker_take_number(&taker, number * KEYS + key);

        wr_check(is_taken[key] ? take.answer == WR_TAKE_DECIDED && take.verdict.remaining == 7
                               : take.answer == WR_TAKE_FULL,
                 "a live counter was lost, or one came in its place");
    }
    atomic_fetch_sub(&shared->n_at_work, 1);
}

int main(void)
{
    const struct wr_local_store_options options = {.max_counters = BOUND, .n_stripes = STRIPES};
    struct shared shared = {.metrics = wr_metrics_new()};
    uint64_t n_full = 0;

    wr_check(shared.metrics != NULL, "no memory");
    wr_check(wr_local_store_new(&options, &shared.backend) == WR_OK, "no store");
    for (int round = 0; round < ROUNDS; round++) {
        shared.wall_us = S(600) + S(60) * round;
        atomic_store(&shared.n_at_work, TAKERS);
        atomic_store(&shared.n_taken, 0);
        wr_crew_run(TAKERS + 1, run, &shared);
        wr_check(atomic_load(&shared.n_taken) == BOUND, "round %d: %" PRIu64 " places taken", round,
                 atomic_load(&shared.n_taken));
        check_bound(&shared);
    }
    n_full = wr_metrics_sum(shared.metrics, WR_METRIC_STORE_FULL);
    wr_check(n_full == 2 * atomic_load(&shared.n_full), "%" PRIu64 " counted as refused", n_full);
    wr_check(atomic_load(&shared.n_looks) > 0, "nobody looked on");
    printf("store_bound: %d threads, %d rounds: %d counters taken in each, never more in %" PRIu64
           " looks, %" PRIu64 " refused, none lost\n",
           TAKERS, ROUNDS, BOUND, atomic_load(&shared.n_looks), n_full);
    wr_backend_destroy(shared.backend);
    wr_metrics_destroy(shared.metrics);
    return EXIT_SUCCESS;
}
