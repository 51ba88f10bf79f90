/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters of every kind in one store: of the hits on each as many are admitted as its limit says,
 * whatever the threads do, while short-lived counters of all kinds come in a stream and are swept.
 * No counter's window ends meanwhile, and no hit is forgotten.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/local_store.h"
#include "tests/stress/crew.h"
#include "tests/support/taker.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define LONG S(100000000)

enum {
    THREADS = 8,
    KEYS = 700,
    KINDS = 7,
    TAKES = 600000 / THREADS,
    STEP_US = 20, /* of a thread's clock between two takes */
};

struct tally {
    uint32_t attempts, admitted;
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics_block *blocks[THREADS];
    struct tally tallies[THREADS][KEYS];
};

static const struct wr_limit kinds[KINDS] = {
    {.algorithm = WR_ALGORITHM_FIXED_WINDOW},
    {.algorithm = WR_ALGORITHM_FIXED_WINDOW, .alignment = WR_ALIGN_FIRST_HIT},
    {.algorithm = WR_ALGORITHM_SLIDING_WINDOW},
    {.algorithm = WR_ALGORITHM_SLIDING_BUCKETS, .n_buckets = 60},
    {.algorithm = WR_ALGORITHM_SLIDING_LOG},
    {.algorithm = WR_ALGORITHM_TOKEN_BUCKET},
    {.algorithm = WR_ALGORITHM_TOKEN_BUCKET, .warm_up_us = S(1)},
};

static struct wr_limit limit_of(uint64_t key, int64_t length_us, uint64_t requests)
{
    struct wr_limit limit = kinds[key % KINDS];

    limit.count = WR_COUNT_ADMITTED;
    limit.length_us = length_us;
    limit.requests = requests;
    limit.burst = requests;
    limit.warm_up_start = requests;
    return limit;
}

/* So that some are always over, some never, and some after a while. */
static uint64_t requests_of(uint64_t key)
{
    return 1 + key % 13 * 150;
}

static struct wr_limit kept_limit(uint64_t key)
{
    const uint64_t requests = requests_of(key);
    const bool is_log = key % KINDS == 4;

    return limit_of(key, LONG,
                    is_log && requests > WR_SLIDING_LOG_MAX ? WR_SLIDING_LOG_MAX : requests);
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    uint64_t random = (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct wr_taker taker = {
        .backend = shared->backend,
        .metrics = shared->blocks[number],
        .now = {.wall_us = LONG + LONG / 2, .mono_us = LONG + LONG / 2},
    };

    for (size_t i = 0; i < TAKES; i++) {
        const uint64_t key = wr_crew_random(&random) % KEYS;

        taker.now.wall_us += STEP_US;
        taker.now.mono_us += STEP_US;
        taker.limit = kept_limit(key);

        const struct wr_take take = wr_taker_take_number(&taker, key);

        wr_check(take.answer == WR_TAKE_DECIDED, "a take was not decided");
        shared->tallies[number][key].attempts++;
        shared->tallies[number][key].admitted += !take.verdict.over;
        taker.limit = limit_of(random, 1000, 3);
        wr_check(wr_taker_take_number(&taker, random | UINT64_C(1) << 63).answer == WR_TAKE_DECIDED,
                 "a new counter was not decided");
    }
}

static struct tally tally_of(const struct shared *shared, size_t key)
{
    struct tally sum = {0};

    for (size_t i = 0; i < THREADS; i++) {
        sum.attempts += shared->tallies[i][key].attempts;
        sum.admitted += shared->tallies[i][key].admitted;
    }
    return sum;
}

int main(void)
{
    const struct wr_local_store_options options = {.max_counters = 1000000};
    struct wr_metrics *const metrics = wr_metrics_new();
    struct shared *const shared = calloc(1, sizeof *shared);
    uint64_t attempts = 0, admitted = 0;

    wr_check(metrics != NULL && shared != NULL, "no memory");
    wr_check(wr_local_store_new(&options, &shared->backend) == WR_OK, "no store");
    for (size_t i = 0; i < THREADS; i++) {
        shared->blocks[i] = wr_metrics_block_new(metrics);
        wr_check(shared->blocks[i] != NULL, "no memory");
    }
    wr_crew_run(THREADS, run, shared);
    for (size_t key = 0; key < KEYS; key++) {
        const struct tally tally = tally_of(shared, key);
        const uint64_t limit = kept_limit(key).requests;
        const uint64_t want = tally.attempts < limit ? tally.attempts : limit;

        wr_check(tally.admitted == want,
                 "key %zu: %" PRIu32 " of %" PRIu32 " admitted, limit %" PRIu64, key,
                 tally.admitted, tally.attempts, limit);
        attempts += tally.attempts;
        admitted += tally.admitted;
    }
    wr_check(admitted > attempts / 4 && admitted < attempts / 4 * 3, "a test that shows little");
    wr_check(wr_metrics_sum(metrics, WR_METRIC_STORE_SWEPT) > 10000, "nothing was swept");
    printf("store_kinds: %d threads, %d keys of %d kinds, %" PRIu64 " takes, %" PRIu64
           " admitted, as many as the limits say; %" PRIu64 " swept\n",
           THREADS, KEYS, KINDS, attempts, admitted,
           wr_metrics_sum(metrics, WR_METRIC_STORE_SWEPT));
    wr_backend_destroy(shared->backend);
    wr_metrics_destroy(metrics);
    free(shared);
    return EXIT_SUCCESS;
}
