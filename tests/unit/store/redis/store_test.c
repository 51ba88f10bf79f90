/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/store.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "limit/identity.h"
#include "metrics/metrics.h"
#include "store/redis/call.h"
#include "store/redis/single.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_redis.h"

#define PATIENT_US INT64_C(60000000)
#define N_TAKES 3

#define PROBED_WELL "*7\r\n:1700000000000000\r\n:9\r\n:10\r\n:9\r\n:10\r\n:9\r\n:10\r\n"

/* A store over a fake server that answers scripts with what the test wrote down. */
struct desk {
    struct wr_fake_redis *fake;
    struct wr_metrics *metrics;
    struct wr_metrics_block *block;
    struct wr_arena setup;
    struct wr_backend *backend;
    int64_t timeout_us;
    size_t n_threads;
    enum wr_redis_topology topology; /* as the store is told; the fake is one server */
    const char *answer;              /* to EVALSHA; owned by the test */
    const char *probed;              /* to that of a probe; NULL: that all is well */
    char keys[256];                  /* of the last EVALSHA, parted by spaces */
    atomic_int n_scripts;
    sem_t is_reachable, is_away;
};

static struct desk desk;

/* The fake's thread. */
static const char *answer(void *context, const struct wr_str *words, size_t n)
{
    (void) context;
    if (!wr_str_equal(words[0], (struct wr_str) WR_STR("EVALSHA"))) {
        return NULL;
    }
    if (wr_str_equal(words[3], (struct wr_str) WR_STR("t:{replicas}|probe|1s"))) {
        return desk.probed != NULL ? desk.probed : PROBED_WELL;
    }
    (void) atomic_fetch_add(&desk.n_scripts, 1);
    desk.keys[0] = '\0';
    for (size_t i = 3; i < n - 1; i++) {
        const size_t len = strlen(desk.keys);

        (void) snprintf(desk.keys + len, sizeof desk.keys - len, "%.*s ", (int) words[i].len,
                        words[i].ptr);
    }
    return desk.answer;
}

static void on_reachable(void *context, bool is_reachable)
{
    (void) context;
    (void) sem_post(is_reachable ? &desk.is_reachable : &desk.is_away);
}

/* Without a store. */
static void lay_bare_desk(const char *text, int64_t timeout_us)
{
    desk = (struct desk){.answer = text, .timeout_us = timeout_us, .n_threads = 2};
    cr_assert_eq(sem_init(&desk.is_reachable, 0, 0) + sem_init(&desk.is_away, 0, 0), 0);
    desk.fake = wr_fake_redis_start(answer, NULL);
    desk.metrics = wr_metrics_new();
    desk.block = wr_metrics_block_new(desk.metrics);
    wr_arena_init(&desk.setup, 256);
}

static enum wr_err make_store(void)
{
    const struct wr_str path = wr_fake_redis_path(desk.fake);
    const struct wr_redis_address address = {.host = path.ptr};
    const struct wr_redis_store_options options = {
        .setup = &desk.setup,
        .target = {.topology = desk.topology, .addresses = &address, .n_addresses = 1},
        .keys = {.form = WR_REDIS_KEY_READABLE, .prefix = WR_STR("t:")},
        .new_route = wr_redis_single_new,
        .timeout_us = desk.timeout_us,
        .limits = {.connect_timeout_us = PATIENT_US,
                   .slow_us = PATIENT_US,
                   .pause_min_us = 1000,
                   .pause_max_us = 10000,
                   .breaker_timeouts = 1000},
        .n_threads = desk.n_threads,
        .metrics = desk.metrics,
        .on_reachable = on_reachable,
    };

    return wr_redis_store_new(&options, &desk.backend);
}

static void lay_desk(const char *text, int64_t timeout_us)
{
    lay_bare_desk(text, timeout_us);
    cr_assert_eq(make_store(), WR_OK);
    cr_assert_eq(sem_wait(&desk.is_reachable), 0);
}

static void clear_desk(void)
{
    wr_backend_destroy(desk.backend);
    wr_fake_redis_stop(desk.fake);
    wr_arena_fini(&desk.setup);
    wr_metrics_destroy(desk.metrics);
}

static uint64_t counted(enum wr_metric metric)
{
    return wr_metrics_sum(desk.metrics, metric);
}

/* A batch of one hit each on the counters of a, b and c. */
struct bundle {
    struct wr_arena arena;
    struct wr_take takes[N_TAKES];
    struct wr_batch batch;
    sem_t is_done;
    atomic_int n_done;
    pthread_t thread; /* that was done with it */
};

static void done(struct wr_batch *batch, void *context)
{
    struct bundle *const bundle = context;

    (void) batch;
    bundle->thread = pthread_self();
    (void) atomic_fetch_add(&bundle->n_done, 1);
    (void) sem_post(&bundle->is_done);
}

static struct wr_str identity_of(struct wr_arena *arena, size_t number)
{
    static const struct wr_str values[] = {WR_STR("a"), WR_STR("b"), WR_STR("c")};
    const struct wr_identity_tail tail = {.length_us = 60000000};
    char *const bytes = wr_arena_alloc(arena, 256);
    char *at = wr_identity_put_domain(bytes, wr_str_of("d"));

    at = wr_identity_put_entry(at, false, wr_str_of("k"), values[number]);
    at = wr_identity_put_tail(at, &tail);
    return (struct wr_str){.ptr = bytes, .len = (size_t) (at - bytes)};
}

static void lay_bundle(struct bundle *bundle, size_t n, int64_t deadline_us)
{
    *bundle = (struct bundle){0};
    wr_arena_init(&bundle->arena, 1024);
    cr_assert_eq(sem_init(&bundle->is_done, 0, 0), 0);
    for (size_t i = 0; i < n; i++) {
        bundle->takes[i] = (struct wr_take){
            .key = identity_of(&bundle->arena, i),
            .limit = {.requests = 10, .length_us = 60000000},
            .hits = 1,
        };
    }

    const int64_t now_us = wr_clock_mono_us();

    bundle->batch = (struct wr_batch){
        .takes = bundle->takes,
        .n_takes = n,
        .now = {.wall_us = 1700000000000000, .mono_us = now_us},
        .deadline_mono_us = deadline_us == INT64_MAX ? INT64_MAX : now_us + deadline_us,
        .metrics = desk.block,
        .arena = &bundle->arena,
        .done = done,
        .context = bundle,
    };
}

static void take(struct bundle *bundle, size_t n, int64_t deadline_us)
{
    lay_bundle(bundle, n, deadline_us);
    wr_backend_take(desk.backend, &bundle->batch);
}

/* The answer of all its takes, which is one. */
static enum wr_take_answer wait_for(struct bundle *bundle)
{
    cr_assert_eq(sem_wait(&bundle->is_done), 0);
    cr_assert_eq(atomic_load(&bundle->n_done), 1);
    for (size_t i = 1; i < bundle->batch.n_takes; i++) {
        cr_assert_eq(bundle->takes[i].answer, bundle->takes[0].answer);
    }
    wr_arena_fini(&bundle->arena);
    return bundle->takes[0].answer;
}

Test(redis_store, answers_each_take, .timeout = 300)
{
    struct bundle bundle;

    lay_desk("*7\r\n:1700000000000000\r\n:9\r\n:1000\r\n:-1\r\n:2000\r\n:0\r\n:3000\r\n",
             PATIENT_US);
    take(&bundle, 3, INT64_MAX);
    cr_assert_eq(wait_for(&bundle), WR_TAKE_DECIDED);
    cr_assert_eq(bundle.takes[0].verdict.remaining, 9);
    cr_assert(bundle.takes[1].verdict.over);
    cr_assert_eq(bundle.takes[2].verdict.reset_us, 3000);
    cr_assert_str_eq(desk.keys, "t:{d|k=a}|60s t:{d|k=b}|60s t:{d|k=c}|60s ");
    clear_desk();
}

/* A counter outlives a change of how it is charged, but where its key has to change its slot. */
Test(redis_store, only_a_cluster_has_all_of_a_domain_in_one_slot, .timeout = 300)
{
    static const struct {
        enum wr_redis_topology topology;
        bool is_domain_group;
        enum wr_charge_mode mode;
        const char *key;
    } rows[] = {
        {WR_REDIS_SINGLE, false, WR_CHARGE_BY_COUNT, "t:{d|k=a}|60s "},
        {WR_REDIS_SINGLE, true, WR_CHARGE_BY_COUNT, "t:{d|k=a}|60s "},
        {WR_REDIS_SINGLE, false, WR_CHARGE_STOP, "t:{d|k=a}|60s "},
        {WR_REDIS_SENTINEL, true, WR_CHARGE_BY_COUNT, "t:{d|k=a}|60s "},
        {WR_REDIS_SENTINEL, false, WR_CHARGE_STOP, "t:{d|k=a}|60s "},
        {WR_REDIS_CLUSTER, false, WR_CHARGE_BY_COUNT, "t:{d|k=a}|60s "},
        {WR_REDIS_CLUSTER, true, WR_CHARGE_BY_COUNT, "t:{d}|k=a|60s "},
        {WR_REDIS_CLUSTER, false, WR_CHARGE_STOP, "t:{d}|k=a|60s "},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bundle bundle;

        lay_bare_desk("*3\r\n:1700000000000000\r\n:9\r\n:1000\r\n", PATIENT_US);
        desk.topology = rows[i].topology;
        cr_assert_eq(make_store(), WR_OK);
        cr_assert_eq(sem_wait(&desk.is_reachable), 0);
        lay_bundle(&bundle, 1, INT64_MAX);
        bundle.takes[0].is_domain_group = rows[i].is_domain_group;
        bundle.batch.mode = rows[i].mode;
        wr_backend_take(desk.backend, &bundle.batch);
        cr_assert_eq(wait_for(&bundle), WR_TAKE_DECIDED, "row %zu", i);
        cr_assert_str_eq(desk.keys, rows[i].key, "row %zu", i);
        clear_desk();
    }
}

/* What comes back, what the takes are told, and what is counted. */
Test(redis_store, what_is_no_verdict, .timeout = 300)
{
    static const struct {
        const char *reply;
        enum wr_take_answer answer;
        enum wr_metric metric;
    } rows[] = {
        {"-OOM command not allowed\r\n", WR_TAKE_AWAY, WR_METRIC_STORE_AWAY},
        {"-ERR something\r\n", WR_TAKE_FAILED, WR_METRIC_STORE_ERRORS},
        {"-WRONGTYPE Operation against a key\r\n", WR_TAKE_FAILED, WR_METRIC_STORE_ERRORS},
        {"-LOADING Redis is loading\r\n", WR_TAKE_AWAY, WR_METRIC_STORE_AWAY},
        {"+OK\r\n", WR_TAKE_TIMEOUT, WR_METRIC_STORE_TIMEOUT},
        {"*1\r\n:1\r\n", WR_TAKE_TIMEOUT, WR_METRIC_STORE_TIMEOUT},
        {"*3\r\n:1700000000000000\r\n:-3\r\n:0\r\n", WR_TAKE_LATE, WR_METRIC_STORE_LATE},
        {"*3\r\n:1700000000000000\r\n:-2\r\n:0\r\n", WR_TAKE_AWAY, WR_METRIC_STORE_FOREIGN},
        {WR_FAKE_HANGS_UP, WR_TAKE_TIMEOUT, WR_METRIC_STORE_LOST},
        {"rubbish\r\n", WR_TAKE_TIMEOUT, WR_METRIC_STORE_LOST},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct bundle bundle;

        lay_desk(rows[i].reply, PATIENT_US);
        take(&bundle, 1, INT64_MAX);
        cr_assert_eq(wait_for(&bundle), rows[i].answer, "row %zu", i);
        cr_assert_eq(counted(rows[i].metric), 1, "row %zu", i);
        clear_desk();
    }
}

Test(redis_store, ends_by_its_own_timeout, .timeout = 300)
{
    struct bundle bundle;

    lay_desk(WR_FAKE_SAYS_NOTHING, 5000);
    take(&bundle, 3, INT64_MAX);
    cr_assert_eq(wait_for(&bundle), WR_TAKE_TIMEOUT);
    cr_assert_eq(counted(WR_METRIC_STORE_TIMEOUT), 3);
    clear_desk();
}

Test(redis_store, ends_by_the_callers_deadline, .timeout = 300)
{
    struct bundle bundle;

    lay_desk(WR_FAKE_SAYS_NOTHING, PATIENT_US);
    take(&bundle, 1, 3000);
    cr_assert_eq(wait_for(&bundle), WR_TAKE_TIMEOUT);
    clear_desk();
}

/* What the store may take, what the caller has left, and when a call ends at the latest. */
Test(redis_store, answers_a_little_before_the_callers_deadline)
{
    static const struct {
        int64_t timeout_us, left_us, ends_us;
    } rows[] = {
        {5000, 20000, 5000},   {5000, 5000, 4500},    {5000, 5200, 4680},    {5000, 5600, 5000},
        {5000, 1000, 900},     {5000, 9, 9},          {5000, 0, 0},          {5000, -7, -7},
        {90000, 50000, 49000}, {90000, 90500, 89500}, {90000, 92000, 90000},
    };
    const struct wr_now now = {.mono_us = 1000000};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int64_t ends_us =
            wr_redis_call_deadline(now.mono_us, now.mono_us + rows[i].left_us, rows[i].timeout_us);

        cr_assert_eq(ends_us - now.mono_us, rows[i].ends_us, "row %zu", i);
    }
    cr_assert_eq(wr_redis_call_deadline(now.mono_us, INT64_MAX, 5000), now.mono_us + 5000);
}

Test(redis_store, who_comes_late_is_not_charged, .timeout = 300)
{
    struct bundle bundle;

    lay_desk("*3\r\n:1700000000000000\r\n:9\r\n:1000\r\n", PATIENT_US);
    take(&bundle, 1, -1000000); /* a turn of the loop ago at least */
    cr_assert_eq(wait_for(&bundle), WR_TAKE_AWAY);
    take(&bundle, 1, INT64_MAX);
    cr_assert_eq(wait_for(&bundle), WR_TAKE_DECIDED);
    cr_assert_eq(atomic_load(&desk.n_scripts), 1);
    clear_desk();
}

Test(redis_store, but_a_cost_that_is_spent_is_booked, .timeout = 300)
{
    struct bundle bundle, next;

    lay_desk("*3\r\n:1700000000000000\r\n:9\r\n:1000\r\n", PATIENT_US);
    lay_bundle(&bundle, 1, -5);
    bundle.takes[0].must_book = true;
    wr_backend_take(desk.backend, &bundle.batch);
    (void) wait_for(&bundle); /* in time or not: the reply may be faster than a tick */
    take(&next, 1, INT64_MAX);
    cr_assert_eq(wait_for(&next), WR_TAKE_DECIDED);
    cr_assert_eq(atomic_load(&desk.n_scripts), 2);
    clear_desk();
}

Test(redis_store, tells_when_nobody_can_be_reached_and_that_nothing_was_charged, .timeout = 300)
{
    struct bundle bundle;

    lay_desk(WR_FAKE_SAYS_NOTHING, PATIENT_US);
    wr_fake_redis_stop(desk.fake);
    cr_assert_eq(sem_wait(&desk.is_away), 0);
    take(&bundle, 2, INT64_MAX);
    cr_assert_eq(wait_for(&bundle), WR_TAKE_AWAY);
    cr_assert_eq(counted(WR_METRIC_STORE_AWAY), 2);
    wr_backend_destroy(desk.backend);
    wr_arena_fini(&desk.setup);
    wr_metrics_destroy(desk.metrics);
}

/* What a probe is told, and whether the store is away then. */
Test(redis_store, is_away_when_it_refuses_what_takes_do, .timeout = 300)
{
    static const char *const refusals[] = {
        "-OOM command not allowed\r\n",
        "-MISCONF Redis is configured to save\r\n",
        "-NOREPLICAS Not enough good replicas to write.\r\n",
        "-NOPERM User t has no permissions to run the 'evalsha' command\r\n",
        "-ERR The user executing the script can't run this command or subcommand\r\n",
        "-NOSCRIPT No matching script.\r\n",
    };

    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        lay_bare_desk(NULL, PATIENT_US);
        desk.n_threads = 1;
        desk.probed = refusals[i];
        cr_assert_eq(make_store(), WR_OK);
        cr_assert_eq(sem_wait(&desk.is_reachable), 0);
        cr_assert_eq(sem_wait(&desk.is_away), 0, "%s", refusals[i]);
        clear_desk();
    }
}

/* What is no answer to a probe gives the connection up, as it does after a take. */
Test(redis_store, leaves_who_answers_probes_with_rubbish, .timeout = 300)
{
    lay_bare_desk(NULL, PATIENT_US);
    desk.n_threads = 1;
    desk.probed = "*1\r\n:1\r\n";
    cr_assert_eq(make_store(), WR_OK);
    while (wr_fake_redis_connections(desk.fake) < 2) {
        (void) sched_yield();
    }
    clear_desk();
}

/* As many threads answer as there are, to as many that take. */
Test(redis_store, spreads_those_who_take_over_its_threads, .timeout = 300)
{
    enum { N = 4 };
    struct bundle bundles[N];

    lay_bare_desk("*3\r\n:1700000000000000\r\n:9\r\n:1000\r\n", PATIENT_US);
    desk.n_threads = N;
    cr_assert_eq(make_store(), WR_OK);
    cr_assert_eq(sem_wait(&desk.is_reachable), 0);
    for (size_t i = 0; i < N; i++) {
        desk.block = wr_metrics_block_new(desk.metrics);
        take(&bundles[i], 1, INT64_MAX);
        cr_assert_eq(wait_for(&bundles[i]), WR_TAKE_DECIDED);
        for (size_t k = 0; k < i; k++) {
            cr_assert_not(pthread_equal(bundles[i].thread, bundles[k].thread), "%zu, %zu", i, k);
        }
    }
    clear_desk();
}

Test(redis_store, many_batches_at_once, .timeout = 300)
{
    static struct bundle bundles[1000];

    lay_desk("*3\r\n:1700000000000000\r\n:9\r\n:1000\r\n", PATIENT_US);
    for (size_t i = 0; i < 1000; i++) {
        take(&bundles[i], 1, INT64_MAX);
    }
    for (size_t i = 0; i < 1000; i++) {
        cr_assert_eq(wait_for(&bundles[i]), WR_TAKE_DECIDED);
    }
    clear_desk();
}

Test(redis_store, what_could_not_be_made_leaves_nothing_behind, .timeout = 300)
{
    size_t n = 0;
    enum wr_err err = WR_ERR_NO_MEMORY;

    lay_bare_desk(NULL, PATIENT_US);
    while (err != WR_OK) {
        failing_malloc_start(n++);
        err = make_store();
        failing_malloc_stop();
        cr_assert(err == WR_OK || err == WR_ERR_NO_MEMORY);
    }
    cr_assert_gt(n, 10);
    cr_assert_eq(sem_wait(&desk.is_reachable), 0, "it is as good as any");
    clear_desk();
}

Test(redis_store, without_memory_nothing_is_charged, .timeout = 300)
{
    struct bundle bundle;

    lay_desk("*3\r\n:1700000000000000\r\n:9\r\n:1000\r\n", PATIENT_US);
    lay_bundle(&bundle, 1, INT64_MAX);
    failing_malloc_start(0);
    while (wr_arena_alloc(&bundle.arena, 16) != NULL) {
    }
    wr_backend_take(desk.backend, &bundle.batch);
    failing_malloc_stop();
    cr_assert_eq(wait_for(&bundle), WR_TAKE_NO_MEMORY);
    cr_assert_eq(counted(WR_METRIC_STORE_NO_MEMORY), 1);
    cr_assert_eq(atomic_load(&desk.n_scripts), 0);
    clear_desk();
}
