/* SPDX-License-Identifier: Apache-2.0 */
#include <criterion/criterion.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

#include "store/local_store.h"
#include "store/redis/cluster.h"
#include "store/redis/single.h"
#include "store/redis/store.h"
#include "tests/support/redis_cluster.h"
#include "tests/support/redis_server.h"
#include "tests/unit/store/backend_contract.h"

static struct wr_metrics *metrics;
static struct wr_redis_server server;
static struct wr_redis_test_cluster cluster;
static struct contract contract;
static sem_t reachable;

static void begin(void)
{
    metrics = wr_metrics_new();
    cr_assert_not_null(metrics);
    contract.metrics = wr_metrics_block_new(metrics);
    cr_assert_not_null(contract.metrics);
}

static void end(void)
{
    wr_backend_destroy(contract.backend);
    wr_metrics_destroy(metrics);
}

/* ---- the local store ---- */

static void begin_local(void)
{
    const struct wr_local_store_options options = {.max_counters = 1000000};

    begin();
    cr_assert_eq(wr_local_store_new(&options, &contract.backend), WR_OK);
}

TestSuite(local_contract, .init = begin_local, .fini = end);

Test(local_contract, verdicts)
{
    contract_verdicts(&contract);
}

Test(local_contract, random)
{
    contract_random(&contract);
}

Test(local_contract, windows)
{
    contract_windows(&contract);
}

Test(local_contract, many)
{
    contract_many(&contract);
}

/* ---- Redis, one server ---- */

#define S(seconds) ((int64_t) (seconds) *1000000)

static void note_reachable(void *context, bool is_reachable)
{
    if (is_reachable) {
        (void) sem_post(context);
    }
}

static struct wr_redis_target target_at(const char *url, enum wr_redis_topology topology,
                                        struct wr_arena *arena)
{
    const struct wr_redis_target_texts texts = {
        .url = url,
        .url_option = "url",
        .topology = topology,
    };
    struct wr_redis_target target;
    char message[WR_REDIS_TARGET_MESSAGE_SIZE];

    cr_assert_eq(wr_redis_target_parse(&texts, arena, &target, message), WR_OK, "%s", message);
    return target;
}

/* Comes back when the store has reached its server. */
static void begin_at(const char *url, enum wr_redis_topology topology,
                     const struct wr_redis_key_style *keys)
{
    struct timespec deadline;
    struct wr_arena setup;

    begin();
    wr_arena_init(&setup, 1024);
    cr_assert_eq(sem_init(&reachable, 0, 0), 0);

    const struct wr_redis_store_options options = {
        .setup = &setup,
        .target = target_at(url, topology, &setup),
        .keys = *keys,
        .new_route = topology == WR_REDIS_CLUSTER ? wr_redis_cluster_new : wr_redis_single_new,
        .timeout_us = S(20),
        .limits = {.connect_timeout_us = S(10),
                   .slow_us = S(10),
                   .pause_min_us = 1000,
                   .pause_max_us = 10000,
                   .breaker_timeouts = 100},
        .n_threads = 1,
        .metrics = metrics,
        .on_reachable = note_reachable,
        .context = &reachable,
    };

    cr_assert_eq(wr_redis_store_new(&options, &contract.backend), WR_OK);
    (void) clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_sec += 60;
    cr_assert_eq(sem_timedwait(&reachable, &deadline), 0, "the server is not reached");
}

static void begin_redis_with(enum wr_redis_key_form form)
{
    const struct wr_redis_key_style keys = {.form = form, .prefix = WR_STR("weir:")};

    cr_assert(wr_redis_server_start(&server, NULL));
    begin_at(server.socket_path, WR_REDIS_SINGLE, &keys);
}

static void begin_redis(void)
{
    begin_redis_with(WR_REDIS_KEY_READABLE);
}

static void begin_hashed(void)
{
    begin_redis_with(WR_REDIS_KEY_HASHED);
}

static void begin_reference(void)
{
    begin_redis_with(WR_REDIS_KEY_REFERENCE);
}

static void end_redis(void)
{
    end();
    wr_redis_server_stop(&server);
    (void) sem_destroy(&reachable);
}

TestSuite(redis_contract, .init = begin_redis, .fini = end_redis);

Test(redis_contract, verdicts)
{
    contract_verdicts(&contract);
}

Test(redis_contract, random)
{
    contract_random(&contract);
}

Test(redis_contract, windows)
{
    contract_windows(&contract);
}

Test(redis_contract, many)
{
    contract_many(&contract);
}

/* ---- Redis, with other names of keys ---- */

TestSuite(redis_hashed_contract, .init = begin_hashed, .fini = end_redis);

Test(redis_hashed_contract, verdicts)
{
    contract_verdicts(&contract);
}

TestSuite(redis_reference_contract, .init = begin_reference, .fini = end_redis);

Test(redis_reference_contract, verdicts)
{
    contract_verdicts(&contract);
}

Test(redis_reference_contract, random)
{
    contract_random(&contract);
}

/* ---- Redis, a cluster ---- */

static void begin_cluster(void)
{
    const struct wr_redis_key_style keys = {.prefix = WR_STR("weir:")};
    char url[64];

    cr_assert(wr_redis_cluster_start(&cluster));
    (void) snprintf(url, sizeof url, "127.0.0.1:%u,127.0.0.1:%u", cluster.ports[0],
                    cluster.ports[1]);
    begin_at(url, WR_REDIS_CLUSTER, &keys);
}

static void end_cluster(void)
{
    end();
    wr_redis_cluster_stop(&cluster);
    (void) sem_destroy(&reachable);
}

TestSuite(redis_cluster_contract, .init = begin_cluster, .fini = end_cluster);

Test(redis_cluster_contract, verdicts)
{
    contract_verdicts(&contract);
}

Test(redis_cluster_contract, random)
{
    contract_random(&contract);
}

Test(redis_cluster_contract, windows)
{
    contract_windows(&contract);
}

Test(redis_cluster_contract, many)
{
    contract_many(&contract);
}
