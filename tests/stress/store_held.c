/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hits and refunds of counters that are over their limit, mixed by many threads: the over-limit
 * cache answers most of the hits and holds them, and in the end the slow store behind it has
 * counted every hit and every refund once.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "store/local_store.h"
#include "store/over_limit_cache.h"
#include "tests/stress/crew.h"
#include "tests/stress/waiter.h"
#include "tests/support/slow_backend.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum {
    THREADS = 8,
    KEYS = 16,
    TAKES = 4000, /* of a thread */
    LIMIT = 10,
    AT_FIRST = 1000000, /* so much that no refund comes near the limit */
    NO_LIMIT = 100000000,
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics *metrics;
    struct wr_clock clock;
    _Atomic int64_t used[KEYS];
};

/* One thread's way to the store. */
struct caller {
    struct shared *shared;
    struct wr_waiter waiter;
    struct wr_arena arena;
    struct wr_batch batch;
};

static void caller_init(struct caller *caller, struct shared *shared)
{
    caller->shared = shared;
    wr_waiter_init(&caller->waiter);
    wr_arena_init(&caller->arena, 1024);
    caller->batch = (struct wr_batch){
        .n_takes = 1,
        .deadline_mono_us = INT64_MAX,
        .metrics = wr_metrics_block_new(shared->metrics),
        .arena = &caller->arena,
        .done = wr_waiter_done,
        .context = &caller->waiter,
    };
    wr_check(caller->batch.metrics != NULL, "no memory");
}

static void caller_fini(struct caller *caller)
{
    wr_arena_fini(&caller->arena);
    wr_waiter_fini(&caller->waiter);
}

static struct wr_take put(struct caller *caller, uint64_t key, struct wr_take take)
{
    take.key = (struct wr_str){(const char *) &key, sizeof key};
    take.limit.length_us = S(86400);
    wr_arena_reset(&caller->arena);
    caller->batch.takes = &take;
    caller->batch.now = wr_clock_read(&caller->shared->clock);
    caller->batch.now.wall_us = S(86400); /* the window stands still */
    wr_backend_take(caller->shared->backend, &caller->batch);
    wr_waiter_wait(&caller->waiter);
    wr_check(take.answer == WR_TAKE_DECIDED, "a take was not decided");
    return take;
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct caller caller;
    uint64_t random = number + 1;

    caller_init(&caller, shared);
    for (int i = 0; i < TAKES; i++) {
        const uint64_t key = wr_crew_random(&random) % KEYS;
        const uint64_t hits = wr_crew_random(&random) % 5;
        const bool is_refund = (wr_crew_random(&random) >> 40) % 16 == 0;
        const struct wr_take take = put(&caller, key,
                                        (struct wr_take){
                                            .limit = {.requests = LIMIT},
                                            .hits = hits,
                                            .is_refund = is_refund,
                                        });

        wr_check(take.verdict.over != is_refund, "a verdict");
        atomic_fetch_add(&shared->used[key], is_refund ? -(int64_t) hits : (int64_t) hits);
    }
    caller_fini(&caller);
}

static void put_together(struct shared *shared)
{
    const struct wr_slow_options slow_options = {
        .delay_us = 50,
        .timeout_us = S(60),
        .order = WR_SLOW_SHUFFLED,
        .seed = 1,
    };
    struct wr_backend *local = NULL, *slow = NULL;

    wr_check(wr_local_store_new(&(struct wr_local_store_options){.max_counters = 1000}, &local) ==
                 WR_OK,
             "no store");
    wr_check(wr_slow_backend_new(&slow_options, &local, shared->metrics, &slow) == WR_OK,
             "no slow store");
    wr_check(
        wr_over_limit_cache_new(&(struct wr_over_limit_cache_options){.max_entries = 100 * KEYS,
                                                                      .clock = &shared->clock},
                                &slow, &shared->backend) == WR_OK,
        "no cache");
}

static void begin_keys(struct caller *caller)
{
    for (uint64_t key = 0; key < KEYS; key++) {
        (void) put(caller, key, (struct wr_take){.limit = {.requests = LIMIT}, .hits = AT_FIRST});
        atomic_store(&caller->shared->used[key], AT_FIRST);
    }
}

/* A look that has to be booked brings the store what is held. */
static void check_keys(struct caller *caller)
{
    for (uint64_t key = 0; key < KEYS; key++) {
        const struct wr_take look =
            put(caller, key, (struct wr_take){.limit = {.requests = NO_LIMIT}, .must_book = true});
        const int64_t used = NO_LIMIT - (int64_t) look.verdict.remaining;

        wr_check(used == atomic_load(&caller->shared->used[key]),
                 "key %" PRIu64 ": the store counted %" PRId64 " of %" PRId64, key, used,
                 atomic_load(&caller->shared->used[key]));
    }
}

int main(void)
{
    struct shared shared = {.metrics = wr_metrics_new()};
    struct caller caller;

    wr_check(shared.metrics != NULL, "no memory");
    wr_clock_init(&shared.clock, NULL, NULL);
    put_together(&shared);
    caller_init(&caller, &shared);
    begin_keys(&caller);
    wr_crew_run(THREADS, run, &shared);
    check_keys(&caller);

    const uint64_t n_cached = wr_metrics_sum(shared.metrics, WR_METRIC_DESCRIPTORS_CACHED);

    wr_check(n_cached > 0, "the cache answered nothing");
    printf("store_held: %d threads, %d takes each, %" PRIu64 " answered by the cache: the store "
           "has counted all of them\n",
           THREADS, TAKES, n_cached);
    caller_fini(&caller);
    wr_backend_destroy(shared.backend);
    wr_metrics_destroy(shared.metrics);
    return EXIT_SUCCESS;
}
