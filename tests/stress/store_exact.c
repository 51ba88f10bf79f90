/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Exactness of the local store: of the hits on a counter in one window as many are admitted as the
 * limit says, not one more and not one fewer, whatever the threads do. Between rounds the clock
 * moves on; within a round, new counters come in a stream and expired ones are swept.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/local_store.h"
#include "tests/stress/crew.h"
#include "tests/support/taker.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum {
    THREADS = 8,
    KEYS = 1000,
    ROUNDS = 20,
    TAKES = 2000000 / THREADS / ROUNDS, /* of a thread in a round */
    BATCH = 4,
};

struct tally {
    uint32_t attempts, admitted;
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics_block *blocks[THREADS];
    int64_t wall_us;
    size_t round;
    struct tally (*tallies)[ROUNDS][KEYS]; /* one a thread */
};

/* Half of the counters have windows of a second, which end with each round, the others of a minute,
 * which go on for three. */
static int64_t length_of(uint64_t key)
{
    return key % 2 == 0 ? S(1) : S(60);
}

/* So that some are always over in a window, some never, and some now and then. */
static uint64_t limit_of(uint64_t key)
{
    return key % 7 == 0 ? 1 : key % (key % 2 == 0 ? 200 : 600);
}

static void take_batch(struct wr_taker *taker, struct tally *tallies, uint64_t *random, size_t n)
{
    uint64_t keys[BATCH];
    struct wr_take takes[BATCH];

    for (size_t i = 0; i < n; i++) {
        keys[i] = wr_crew_random(random) % KEYS;
        takes[i] = (struct wr_take){
            .key = {(const char *) &keys[i], sizeof keys[i]},
            .limit = {.requests = limit_of(keys[i]), .length_us = length_of(keys[i])},
            .hits = 1,
        };
    }
    wr_taker_batch(taker, takes, n);
    for (size_t i = 0; i < n; i++) {
        wr_check(takes[i].answer == WR_TAKE_DECIDED, "a take was not decided");
        tallies[keys[i]].attempts++;
        tallies[keys[i]].admitted += !takes[i].verdict.over;
    }
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct tally *const tallies = shared->tallies[number][shared->round];
    uint64_t random = (shared->round * THREADS + number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    struct wr_taker taker = {
        .backend = shared->backend,
        .metrics = shared->blocks[number],
        .limit = {.requests = 5, .length_us = S(1)},
        .now = {.wall_us = shared->wall_us, .mono_us = shared->wall_us},
    };

    for (size_t left = TAKES; left > 0;) {
        const size_t wish = 1 + wr_crew_random(&random) % BATCH;
        const size_t n = wish < left ? wish : left;

        take_batch(&taker, tallies, &random, n);
        left -= n;
        wr_check(wr_taker_take_number(&taker, random | UINT64_C(1) << 63).answer == WR_TAKE_DECIDED,
                 "a new counter was not decided");
    }
}

/* The sums over all threads of one counter in one round. */
static struct tally tally_of(const struct shared *shared, size_t round, size_t key)
{
    struct tally sum = {0};

    for (size_t i = 0; i < THREADS; i++) {
        sum.attempts += shared->tallies[i][round][key].attempts;
        sum.admitted += shared->tallies[i][round][key].admitted;
    }
    return sum;
}

/* Compares each window of `key`; returns how many hits were tried. */
static uint64_t check_key(const struct shared *shared, size_t key, uint64_t *out_admitted)
{
    const size_t rounds = key % 2 == 0 ? 1 : 3; /* of one window */
    uint64_t attempts = 0;

    for (size_t first = 0; first < ROUNDS; first += rounds) {
        struct tally window = {0};

        for (size_t round = first; round < first + rounds && round < ROUNDS; round++) {
            const struct tally tally = tally_of(shared, round, key);

            window.attempts += tally.attempts;
            window.admitted += tally.admitted;
        }

        const uint64_t limit = limit_of(key);
        const uint64_t want = window.attempts < limit ? window.attempts : limit;

        wr_check(window.admitted == want,
                 "key %zu, rounds from %zu: %" PRIu32 " of %" PRIu32 " admitted, limit %" PRIu64,
                 key, first, window.admitted, window.attempts, limit);
        attempts += window.attempts;
        *out_admitted += window.admitted;
    }
    return attempts;
}

int main(void)
{
    const struct wr_local_store_options options = {.max_counters = 1000000};
    struct wr_metrics *const metrics = wr_metrics_new();
    struct shared shared = {.tallies = calloc(THREADS, sizeof *shared.tallies)};
    uint64_t attempts = 0, admitted = 0;

    wr_check(metrics != NULL && shared.tallies != NULL, "no memory");
    wr_check(wr_local_store_new(&options, &shared.backend) == WR_OK, "no store");
    for (size_t i = 0; i < THREADS; i++) {
        shared.blocks[i] = wr_metrics_block_new(metrics);
        wr_check(shared.blocks[i] != NULL, "no memory");
    }
    for (; shared.round < ROUNDS; shared.round++) {
        shared.wall_us = S(600) + S(20) * (int64_t) shared.round;
        wr_crew_run(THREADS, run, &shared);
    }
    for (size_t key = 0; key < KEYS; key++) {
        attempts += check_key(&shared, key, &admitted);
    }
    wr_check(attempts == (uint64_t) THREADS * ROUNDS * TAKES, "%" PRIu64 " takes", attempts);
    wr_check(admitted > attempts / 4 && admitted < attempts / 4 * 3, "a test that shows little");
    wr_check(wr_metrics_sum(metrics, WR_METRIC_STORE_SWEPT) > 10000, "nothing was swept");
    printf("store_exact: %d threads, %d keys, %" PRIu64 " takes, %" PRIu64
           " admitted, as many as the limits say; %" PRIu64 " swept, %" PRIu64 " contended\n",
           THREADS, KEYS, attempts, admitted, wr_metrics_sum(metrics, WR_METRIC_STORE_SWEPT),
           wr_metrics_sum(metrics, WR_METRIC_STORE_CONTENDED));
    wr_backend_destroy(shared.backend);
    wr_metrics_destroy(metrics);
    free(shared.tallies);
    return EXIT_SUCCESS;
}
