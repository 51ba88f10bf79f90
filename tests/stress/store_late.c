/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes that come late at the ends of windows: the clock moves on while takes that read it before
 * are under way, some of them by a few microseconds more. Every window is used up many times over,
 * so each admits its limit exactly.
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
    THREADS = 8,
    KEYS = 16,
    LIMIT = 50,
    WINDOWS = 200,
    TAKES_A_WINDOW = KEYS * LIMIT * 4,
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics *metrics;
    _Atomic uint64_t n_takes; /* decided; so many make a window */
    _Atomic uint64_t admitted[KEYS];
};

static struct wr_now now_less(struct shared *shared, int64_t late_us)
{
    const uint64_t window = atomic_load(&shared->n_takes) / TAKES_A_WINDOW;
    const int64_t mono_us = S(1) * (int64_t) (window < WINDOWS ? window : WINDOWS - 1) - late_us;

    return (struct wr_now){.wall_us = S(1000) + mono_us, .mono_us = S(10) + mono_us};
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct wr_taker taker = {
        .backend = shared->backend,
        .metrics = wr_metrics_block_new(shared->metrics),
        .limit = {.requests = LIMIT, .length_us = S(1)},
    };

    wr_check(taker.metrics != NULL, "no memory");
    for (uint64_t turn = number;; turn++) {
        const uint64_t key = turn % KEYS;

        taker.now = now_less(shared, turn % 3 == 0 ? 3 : 0);

        const struct wr_take take = wr_taker_take_number(&taker, key);

        wr_check(take.answer == WR_TAKE_DECIDED, "a take was not decided");
        wr_check(take.verdict.reset_us > 0 && take.verdict.reset_us <= S(1), "a window of %" PRId64,
                 take.verdict.reset_us);
        if (!take.verdict.over) {
            atomic_fetch_add(&shared->admitted[key], 1);
        }

        if (atomic_fetch_add(&shared->n_takes, 1) + 1 >= (uint64_t) WINDOWS * TAKES_A_WINDOW) {
            return;
        }
    }
}

/* So that every stripe in use knows the time, and no take counts before the first window. */
static void show_the_time(struct shared *shared)
{
    struct wr_taker taker = {
        .backend = shared->backend,
        .metrics = wr_metrics_block_new(shared->metrics),
        .limit = {.requests = LIMIT, .length_us = S(1)},
        .now = now_less(shared, 0),
    };

    wr_check(taker.metrics != NULL, "no memory");
    for (uint64_t key = 0; key < KEYS; key++) {
        wr_check(!wr_taker_take_number(&taker, key).verdict.over, "over at the first hit");
        atomic_fetch_add(&shared->admitted[key], 1);
    }
}

int main(void)
{
    const struct wr_local_store_options options = {.max_counters = 1000, .n_stripes = 4};
    struct shared shared = {.metrics = wr_metrics_new()};

    wr_check(shared.metrics != NULL, "no memory");
    wr_check(wr_local_store_new(&options, &shared.backend) == WR_OK, "no store");
    show_the_time(&shared);
    wr_crew_run(THREADS, run, &shared);
    for (size_t key = 0; key < KEYS; key++) {
        const uint64_t admitted = atomic_load(&shared.admitted[key]);

        wr_check(admitted == (uint64_t) LIMIT * WINDOWS, "key %zu: %" PRIu64 " admitted", key,
                 admitted);
    }
    wr_check(wr_metrics_sum(shared.metrics, WR_METRIC_STORE_RESTARTS) == 0, "a window went back");
    printf("store_late: %d threads, %d keys, %d windows that end under way: %d admitted in each\n",
           THREADS, KEYS, WINDOWS, LIMIT);
    wr_backend_destroy(shared.backend);
    wr_metrics_destroy(shared.metrics);
    return EXIT_SUCCESS;
}
