/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The decorators of a remote store, one around the other, as a server puts them together: the
 * over-limit cache around the fallback around the split, over two slow stores of which some answers
 * never come. Every batch is answered once; the remote stores let the limit through, exactly, and
 * memory at most its share.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "store/fallback_store.h"
#include "store/local_store.h"
#include "store/over_limit_cache.h"
#include "store/split_store.h"
#include "tests/stress/crew.h"
#include "tests/stress/waiter.h"
#include "tests/support/slow_backend.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum {
    THREADS = 8,
    KEYS = 12,
    BATCHES = 1500, /* of a thread */
    TAKES = 4,
    LIMIT = 900,
    REPLICAS = 3,
    SHARE = LIMIT / REPLICAS,
    NEVER_EVERY = 50,
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics *metrics;
    struct wr_clock clock;
    _Atomic uint32_t replicas;
    _Atomic uint64_t by_remote[KEYS]; /* let through */
    _Atomic uint64_t by_memory[KEYS];
    _Atomic uint64_t n_undecided;
    _Atomic uint64_t n_over;
};

/* Odd keys have windows of a second: for the second store. */
static struct wr_take take_of(const uint64_t *key, uint32_t group)
{
    return (struct wr_take){
        .key = {(const char *) key, sizeof *key},
        .limit = {.requests = LIMIT, .length_us = *key % 2 == 0 ? S(86400) : S(1)},
        .hits = 1,
        .group = group,
        .is_enforced = true,
        .has_local_fallback = *key % 4 < 2,
    };
}

static void note(struct shared *shared, const struct wr_take *take, uint64_t key)
{
    if (take->answer != WR_TAKE_DECIDED) {
        wr_check(!take->has_local_fallback, "memory gave no answer: %d", (int) take->answer);
        atomic_fetch_add(&shared->n_undecided, 1);
        return;
    }
    wr_check(take->verdict.reset_us > 0 && take->verdict.reset_us <= take->limit.length_us,
             "a reset of %" PRId64, take->verdict.reset_us);
    wr_check(take->limit.requests == (take->is_degraded ? SHARE : LIMIT), "limit %" PRIu64,
             take->limit.requests);
    if (take->verdict.over) {
        atomic_fetch_add(&shared->n_over, 1);
    } else {
        atomic_fetch_add(take->is_degraded ? &shared->by_memory[key] : &shared->by_remote[key], 1);
    }
}

static void put_batch(struct shared *shared, struct wr_batch *batch, const uint64_t *keys)
{
    struct wr_waiter *const waiter = batch->context;

    wr_arena_reset(batch->arena);
    batch->now = wr_clock_read(&shared->clock);
    batch->now.wall_us = S(86400); /* windows stand still */
    wr_backend_take(shared->backend, batch);
    wr_waiter_wait(waiter);
    for (size_t i = 0; i < batch->n_takes; i++) {
        note(shared, &batch->takes[i], keys[i]);
    }
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;
    struct wr_waiter waiter;
    struct wr_arena arena;
    uint64_t random = number + 1;

    wr_waiter_init(&waiter);
    wr_arena_init(&arena, 4096);

    struct wr_batch batch = {
        .deadline_mono_us = INT64_MAX,
        .metrics = wr_metrics_block_new(shared->metrics),
        .arena = &arena,
        .done = wr_waiter_done,
        .context = &waiter,
    };

    wr_check(batch.metrics != NULL, "no memory");
    for (int turn = 0; turn < BATCHES; turn++) {
        struct wr_take takes[TAKES];
        uint64_t keys[TAKES];

        batch.takes = takes;
        batch.n_takes = 1 + wr_crew_random(&random) % TAKES;
        for (size_t i = 0; i < batch.n_takes; i++) {
            keys[i] = wr_crew_random(&random) % KEYS;
            takes[i] = take_of(&keys[i], (uint32_t) i);
        }
        put_batch(shared, &batch, keys);
    }
    wr_arena_fini(&arena);
    wr_waiter_fini(&waiter);
}

static struct wr_backend *memory(void)
{
    struct wr_backend *backend = NULL;

    wr_check(wr_local_store_new(&(struct wr_local_store_options){.max_counters = 10000},
                                &backend) == WR_OK,
             "no store");
    return backend;
}

static struct wr_backend *slow(struct shared *shared, uint64_t seed)
{
    const struct wr_slow_options options = {
        .delay_us = 100,
        .timeout_us = 2000,
        .order = WR_SLOW_SHUFFLED,
        .never_every = NEVER_EVERY,
        .seed = seed,
    };
    struct wr_backend *inner = memory();
    struct wr_backend *backend = NULL;

    wr_check(wr_slow_backend_new(&options, &inner, shared->metrics, &backend) == WR_OK,
             "no slow store");
    return backend;
}

static void put_together(struct shared *shared)
{
    struct wr_backend *main_store = slow(shared, 1), *per_second = slow(shared, 2);
    struct wr_backend *local = memory();
    struct wr_backend *split = NULL, *fallback = NULL;
    const struct wr_fallback_options fallback_options = {
        .replicas = &shared->replicas,
        .metrics = shared->metrics,
    };
    const struct wr_over_limit_cache_options cache_options = {
        .max_entries = KEYS / 2, /* so that they make room for each other */
        .clock = &shared->clock,
    };

    wr_check(wr_split_store_new(&main_store, &per_second, &split) == WR_OK, "no split");
    wr_check(wr_fallback_store_new(&fallback_options, &split, &local, &fallback) == WR_OK,
             "no fallback");
    wr_check(wr_over_limit_cache_new(&cache_options, &fallback, &shared->backend) == WR_OK,
             "no cache");
}

static void check_key(struct shared *shared, size_t key)
{
    const uint64_t by_remote = atomic_load(&shared->by_remote[key]);
    const uint64_t by_memory = atomic_load(&shared->by_memory[key]);

    wr_check(by_remote == LIMIT, "key %zu: %" PRIu64 " let through by the remote store", key,
             by_remote);
    wr_check(by_memory <= SHARE, "key %zu: %" PRIu64 " let through by memory", key, by_memory);
}

int main(void)
{
    struct shared shared = {.metrics = wr_metrics_new(), .replicas = REPLICAS};

    wr_check(shared.metrics != NULL, "no memory");
    wr_clock_init(&shared.clock, NULL, NULL);
    put_together(&shared);
    wr_crew_run(THREADS, run, &shared);
    for (size_t key = 0; key < KEYS; key++) {
        check_key(&shared, key);
    }

    const uint64_t n_cached = wr_metrics_sum(shared.metrics, WR_METRIC_DESCRIPTORS_CACHED);
    const uint64_t n_undecided = atomic_load(&shared.n_undecided);

    wr_check(n_cached > 0, "the cache answered nothing");
    wr_check(n_undecided > 0, "nothing was left undecided");
    printf("store_decorated: %d threads, %d batches each, %d keys at %d: %" PRIu64
           " refused, %" PRIu64 " of them by the cache, %" PRIu64 " undecided\n",
           THREADS, BATCHES, KEYS, LIMIT, atomic_load(&shared.n_over), n_cached, n_undecided);
    wr_backend_destroy(shared.backend);
    wr_metrics_destroy(shared.metrics);
    return EXIT_SUCCESS;
}
