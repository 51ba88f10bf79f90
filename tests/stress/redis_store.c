/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Redis store over a real server: threads take at once, some with deadlines that are too short,
 * while scripts are flushed and connections are killed under them. Every batch is answered once; of
 * the hits on a counter as many are admitted as the limit says, where all were answered, and never
 * more than that.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "base/arena.h"
#include "limit/identity.h"
#include "metrics/metrics.h"
#include "store/redis/single.h"
#include "store/redis/store.h"
#include "tests/stress/crew.h"
#include "tests/stress/waiter.h"
#include "tests/support/redis_server.h"

enum {
    THREADS = 8,
    IO_THREADS = 2,
    KEYS = 100,
    TAKES = 4000, /* of a thread in a round */
    BATCH = 3,
    LIMIT_STEP = 7,
};

/* By the clock of Redis: a window that hardly ever ends under a round. */
#define YEAR_US INT64_C(31536000000000)
#define PATIENT_US INT64_C(30000000)
#define IDENTITY_SIZE 128

/* Of one counter: hits that were asked for, admitted, and of which nothing is known. */
struct tally {
    uint32_t attempts, admitted, unknown;
};

struct shared {
    struct wr_backend *backend;
    struct wr_metrics_block *blocks[THREADS];
    struct tally (*tallies)[KEYS]; /* one a thread */
    size_t round;
    bool is_hasty; /* deadlines that are too short now and then */
    atomic_bool is_over;
    const char *socket_path;
};

static struct wr_now now(void)
{
    struct timespec wall, mono;

    wr_check(clock_gettime(CLOCK_REALTIME, &wall) == 0 &&
                 clock_gettime(CLOCK_MONOTONIC, &mono) == 0,
             "no clock");
    return (struct wr_now){
        .wall_us = (int64_t) wall.tv_sec * 1000000 + wall.tv_nsec / 1000,
        .mono_us = (int64_t) mono.tv_sec * 1000000 + mono.tv_nsec / 1000,
    };
}

static uint64_t limit_of(uint64_t key)
{
    return key * LIMIT_STEP;
}

/* The counter of a key in a round. */
static struct wr_str identity_of(struct wr_arena *arena, size_t round, uint64_t key)
{
    const struct wr_identity_tail tail = {.length_us = YEAR_US};
    char text[32];
    char *const bytes = wr_arena_alloc(arena, IDENTITY_SIZE);
    char *at = wr_identity_put_domain(bytes, wr_str_of("stress"));

    (void) snprintf(text, sizeof text, "%zu.%" PRIu64, round, key);
    at = wr_identity_put_entry(at, false, wr_str_of("k"), wr_str_of(text));
    at = wr_identity_put_tail(at, &tail);
    return (struct wr_str){.ptr = bytes, .len = (size_t) (at - bytes)};
}

static void note(struct tally *tally, const struct wr_take *take)
{
    tally->attempts++;
    if (take->answer == WR_TAKE_DECIDED) {
        tally->admitted += !take->verdict.over;
    } else if (take->answer == WR_TAKE_TIMEOUT || take->answer == WR_TAKE_FAILED) {
        tally->unknown++;
    } else {
        wr_check(take->answer == WR_TAKE_AWAY || take->answer == WR_TAKE_LATE,
                 "an answer of another kind: %d", take->answer);
        tally->attempts--;
    }
}

static void take_batch(struct shared *shared, size_t number, struct wr_arena *arena,
                       struct wr_waiter *waiter, uint64_t *random)
{
    uint64_t keys[BATCH];
    struct wr_take takes[BATCH];
    struct wr_batch batch = {
        .takes = takes,
        .n_takes = BATCH,
        .now = now(),
        .metrics = shared->blocks[number],
        .arena = arena,
        .done = wr_waiter_done,
        .context = waiter,
    };
    const bool is_short = shared->is_hasty && wr_crew_random(random) % 8 == 0;

    batch.deadline_mono_us =
        is_short ? batch.now.mono_us + (int64_t) (wr_crew_random(random) % 300) : INT64_MAX;
    for (size_t i = 0; i < BATCH; i++) {
        keys[i] = wr_crew_random(random) % KEYS;
        takes[i] = (struct wr_take){
            .key = identity_of(arena, shared->round, keys[i]),
            .limit = {.requests = limit_of(keys[i]), .length_us = YEAR_US},
            .hits = 1,
        };
    }
    wr_backend_take(shared->backend, &batch);
    wr_waiter_wait(waiter);
    for (size_t i = 0; i < BATCH; i++) {
        note(&shared->tallies[number][keys[i]], &takes[i]);
    }
    wr_arena_reset(arena);
}

static void run_taker(struct shared *shared, size_t number)
{
    struct wr_arena arena;
    uint64_t random = (shared->round * THREADS + number + 1) * UINT64_C(0x9e3779b97f4a7c15);

    struct wr_waiter waiter;

    wr_arena_init(&arena, 4096);
    wr_waiter_init(&waiter);
    for (size_t i = 0; i < TAKES; i += BATCH) {
        take_batch(shared, number, &arena, &waiter, &random);
    }
    wr_waiter_fini(&waiter);
    wr_arena_fini(&arena);
}

/* Somebody who flushes scripts all the time, and kills connections too where that is allowed. */
static void run_vandal(struct shared *shared)
{
    redisContext *const context = redisConnectUnix(shared->socket_path);

    wr_check(context != NULL && context->err == 0, "the vandal finds no server");
    while (!atomic_load(&shared->is_over)) {
        freeReplyObject(redisCommand(context, "SCRIPT FLUSH"));
        if (shared->is_hasty) {
            freeReplyObject(redisCommand(context, "CLIENT KILL TYPE normal SKIPME yes"));
        }
    }
    redisFree(context);
}

static atomic_size_t n_through; /* takers of the round that are through */

static void run(size_t number, void *context)
{
    struct shared *const shared = context;

    if (number == THREADS) {
        run_vandal(shared);
        return;
    }
    run_taker(shared, number);
    if (atomic_fetch_add(&n_through, 1) + 1 == THREADS) {
        atomic_store(&shared->is_over, true);
    }
}

static uint32_t least(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t) a : b;
}

/* What is unknown may have been charged or not. */
static uint64_t check_round(const struct shared *shared)
{
    uint64_t n_unknown = 0;

    for (size_t key = 0; key < KEYS; key++) {
        struct tally sum = {0};

        for (size_t i = 0; i < THREADS; i++) {
            sum.attempts += shared->tallies[i][key].attempts;
            sum.admitted += shared->tallies[i][key].admitted;
            sum.unknown += shared->tallies[i][key].unknown;
        }

        const uint32_t most = least(limit_of(key), sum.attempts);
        const uint32_t fewest = most > sum.unknown ? most - sum.unknown : 0;

        wr_check(sum.admitted <= most && sum.admitted >= fewest,
                 "key %zu: %u admitted of %u, limit %" PRIu64 ", %u unknown", key, sum.admitted,
                 sum.attempts, limit_of(key), sum.unknown);
        n_unknown += sum.unknown;
    }
    wr_check(shared->is_hasty || n_unknown == 0, "%" PRIu64 " takes without an answer", n_unknown);
    return n_unknown;
}

static struct wr_backend *new_store(const char *socket_path, struct wr_metrics *metrics)
{
    struct wr_arena setup;
    const struct wr_redis_address address = {.host = socket_path};
    const struct wr_redis_store_options options = {
        .setup = &setup,
        .target = {.topology = WR_REDIS_SINGLE, .addresses = &address, .n_addresses = 1},
        .keys = {.form = WR_REDIS_KEY_READABLE, .prefix = WR_STR("s:")},
        .new_route = wr_redis_single_new,
        .timeout_us = PATIENT_US,
        .limits = {.connect_timeout_us = PATIENT_US,
                   .slow_us = PATIENT_US,
                   .pause_min_us = 1000,
                   .pause_max_us = 10000,
                   .breaker_timeouts = 10},
        .n_threads = IO_THREADS,
        .metrics = metrics,
    };
    struct wr_backend *backend = NULL;

    wr_arena_init(&setup, 64);
    wr_check(wr_redis_store_new(&options, &backend) == WR_OK, "no store");
    wr_arena_fini(&setup);
    return backend;
}

int main(void)
{
    struct wr_redis_server server;
    struct wr_metrics *const metrics = wr_metrics_new();
    struct shared shared = {.tallies = calloc(THREADS, sizeof *shared.tallies)};
    uint64_t n_unknown = 0;

    wr_check(metrics != NULL && shared.tallies != NULL, "no memory");
    wr_check(wr_redis_server_start(&server, NULL), "no redis-server");
    shared.socket_path = server.socket_path;
    for (size_t i = 0; i < THREADS; i++) {
        shared.blocks[i] = wr_metrics_block_new(metrics);
    }
    for (shared.round = 0; shared.round < 2; shared.round++) {
        shared.is_hasty = shared.round == 1;
        shared.backend = new_store(server.socket_path, metrics);
        memset(shared.tallies, 0, THREADS * sizeof *shared.tallies);
        atomic_store(&shared.is_over, false);
        atomic_store(&n_through, 0);
        wr_crew_run(THREADS + 1, run, &shared);
        n_unknown += check_round(&shared);
        wr_backend_destroy(shared.backend);
    }
    printf("redis_store: %d takes, each counter admitted what its limit allows; %" PRIu64
           " scripts taught again, %" PRIu64 " connections lost, %" PRIu64 " takes unknown\n",
           2 * THREADS * TAKES, wr_metrics_sum(metrics, WR_METRIC_REDIS_SCRIPT_LOADS),
           wr_metrics_sum(metrics, WR_METRIC_REDIS_CONNECTIONS_LOST), n_unknown);
    wr_redis_server_stop(&server);
    free(shared.tallies);
    wr_metrics_destroy(metrics);
    return 0;
}
