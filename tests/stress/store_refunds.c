/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes and refunds of several hits, mixed by many threads, add up: what remains at the end is the
 * limit less what was taken and not given back.
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
    KEYS = 50,
    TAKES = 50000,      /* of a thread */
    LIMIT = 100000000,  /* never reached */
    AT_FIRST = 1000000, /* so much that no refund comes to the floor */
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics *metrics;
    _Atomic int64_t used[KEYS];
};

static struct wr_taker taker_of(struct shared *shared)
{
    const struct wr_taker taker = {
        .backend = shared->backend,
        .metrics = wr_metrics_block_new(shared->metrics),
        .limit = {.requests = LIMIT, .length_us = S(86400)},
        .now = {.wall_us = S(86400), .mono_us = S(86400)},
    };

    wr_check(taker.metrics != NULL, "no memory");
    return taker;
}

static struct wr_str key_of(const uint64_t *number)
{
    return (struct wr_str){(const char *) number, sizeof *number};
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct wr_taker taker = taker_of(shared);
    uint64_t random = number + 1;

    for (int i = 0; i < TAKES; i++) {
        const uint64_t key = wr_crew_random(&random) % KEYS;
        const int64_t hits = (int64_t) (wr_crew_random(&random) % 5);
        const bool is_refund = wr_crew_random(&random) >> 40 & 1;
        const struct wr_take take = is_refund
                                        ? wr_taker_refund(&taker, key_of(&key), (uint64_t) hits)
                                        : wr_taker_take(&taker, key_of(&key), (uint64_t) hits);

        wr_check(take.answer == WR_TAKE_DECIDED && !take.verdict.over, "not admitted");
        atomic_fetch_add(&shared->used[key], is_refund ? -hits : hits);
    }
}

int main(void)
{
    const struct wr_local_store_options options = {.max_counters = 1000, .n_stripes = 4};
    struct shared shared = {.metrics = wr_metrics_new()};

    wr_check(shared.metrics != NULL, "no memory");
    wr_check(wr_local_store_new(&options, &shared.backend) == WR_OK, "no store");

    struct wr_taker taker = taker_of(&shared);

    for (uint64_t key = 0; key < KEYS; key++) {
        (void) wr_taker_take(&taker, key_of(&key), AT_FIRST);
    }
    wr_crew_run(THREADS, run, &shared);
    for (uint64_t key = 0; key < KEYS; key++) {
        const struct wr_take look = wr_taker_take(&taker, key_of(&key), 0);
        const int64_t used = AT_FIRST + atomic_load(&shared.used[key]);

        wr_check(look.verdict.remaining == LIMIT - (uint64_t) used,
                 "key %" PRIu64 ": %" PRIu64 " remain, %" PRId64 " used", key,
                 look.verdict.remaining, used);
    }
    printf("store_refunds: %d threads, %d takes and refunds of %d counters add up\n", THREADS,
           THREADS * TAKES, KEYS);
    wr_backend_destroy(shared.backend);
    wr_metrics_destroy(shared.metrics);
    return EXIT_SUCCESS;
}
