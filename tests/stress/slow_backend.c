/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The test backend under load: batches from many threads, shuffled, some never answered, the last
 * ones ended by destroying it. Each is done exactly once, and what was decided was charged.
 */
#include "tests/support/slow_backend.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/local_store.h"
#include "tests/stress/crew.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum {
    THREADS = 6,
    BATCHES = 4000, /* of a thread */
    NEVER_EVERY = 10,
};

struct call {
    struct wr_batch batch;
    struct wr_take take;
    atomic_uint n_done;
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics *metrics;
    struct call *calls;
};

static void note(struct wr_batch *batch, void *context)
{
    struct call *const call = context;

    wr_check(batch == &call->batch, "another batch");
    atomic_fetch_add(&call->n_done, 1);
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct wr_metrics_block *const block = wr_metrics_block_new(shared->metrics);

    wr_check(block != NULL, "no memory");
    for (size_t i = 0; i < BATCHES; i++) {
        struct call *const call = &shared->calls[number * BATCHES + i];

        call->take = (struct wr_take){
            .key = WR_STR("key"),
            .limit = {.requests = THREADS * BATCHES, .length_us = S(60)},
            .hits = 1,
        };
        call->batch = (struct wr_batch){
            .takes = &call->take,
            .n_takes = 1,
            .now = {.wall_us = S(60)},
            .deadline_mono_us = INT64_MAX,
            .metrics = block,
            .done = note,
            .context = call,
        };
        wr_backend_take(shared->backend, &call->batch);
    }
}

/* Remaining of the decided takes must be all numbers from the top, each once. */
static void check_charges(const struct shared *shared, size_t n_decided)
{
    static bool seen[THREADS * BATCHES];

    for (size_t i = 0; i < (size_t) THREADS * BATCHES; i++) {
        const struct wr_take *const take = &shared->calls[i].take;

        if (take->answer != WR_TAKE_DECIDED) {
            continue;
        }

        const uint64_t used = THREADS * BATCHES - take->verdict.remaining;

        wr_check(used >= 1 && used <= n_decided && !seen[used - 1], "charge %" PRIu64, used);
        seen[used - 1] = true;
    }
}

int main(void)
{
    const struct wr_local_store_options local = {.max_counters = 100};
    const struct wr_slow_options options = {
        .delay_us = 500,
        .timeout_us = 3000,
        .order = WR_SLOW_SHUFFLED,
        .never_every = NEVER_EVERY,
        .seed = 1,
    };
    const size_t n = (size_t) THREADS * BATCHES;
    struct shared shared = {
        .metrics = wr_metrics_new(),
        .calls = calloc(n, sizeof *shared.calls),
    };
    struct wr_backend *inner = NULL;
    size_t n_decided = 0;

    wr_check(shared.metrics != NULL && shared.calls != NULL, "no memory");
    wr_check(wr_local_store_new(&local, &inner) == WR_OK, "no store");
    wr_check(wr_slow_backend_new(&options, &inner, shared.metrics, &shared.backend) == WR_OK,
             "no backend");
    wr_crew_run(THREADS, run, &shared);
    wr_backend_destroy(shared.backend);
    for (size_t i = 0; i < n; i++) {
        wr_check(atomic_load(&shared.calls[i].n_done) == 1, "batch %zu was not done once", i);
        n_decided += shared.calls[i].take.answer == WR_TAKE_DECIDED;
    }
    wr_check(n_decided == n - n / NEVER_EVERY, "%zu were decided", n_decided);
    check_charges(&shared, n_decided);
    printf("slow_backend: %d threads, %zu batches done once, %zu decided, %" PRIu64 " timed out\n",
           THREADS, n, n_decided, wr_metrics_sum(shared.metrics, WR_METRIC_STORE_TIMEOUT));
    wr_metrics_destroy(shared.metrics);
    free(shared.calls);
    return EXIT_SUCCESS;
}
