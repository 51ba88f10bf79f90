/* SPDX-License-Identifier: Apache-2.0 */
/* The local store with counters of every kind at once, in groups and in every mode. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>

#include "store/local_store.h"
#include "tests/support/drawn_call.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/take_model.h"
#include "tests/support/taker.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum { N_KINDS = 10, N_SEQUENCES = 4000, N_CALLS = 20 };

#define BUCKETS 3 /* among them */
#define LOG 4
#define STEP S(20)

static const struct wr_limit kinds[N_KINDS] = {
    {.requests = 10, .length_us = S(10)},
    {.requests = 10, .length_us = S(60), .alignment = WR_ALIGN_FIRST_HIT},
    {.requests = 10, .length_us = S(60), .algorithm = WR_ALGORITHM_SLIDING_WINDOW},
    {.requests = 10,
     .length_us = S(60),
     .algorithm = WR_ALGORITHM_SLIDING_BUCKETS,
     .n_buckets = 10},
    {.requests = 10, .length_us = S(60), .algorithm = WR_ALGORITHM_SLIDING_LOG},
    {.requests = 10, .length_us = S(60), .algorithm = WR_ALGORITHM_TOKEN_BUCKET, .burst = 10},
    {.requests = 10,
     .length_us = S(60),
     .algorithm = WR_ALGORITHM_TOKEN_BUCKET,
     .burst = 10,
     .warm_up_us = S(30),
     .warm_up_start = 10},
    {.requests = 10, .length_us = S(10), .warm_up_us = S(30), .warm_up_start = 10},
    {.requests = 10,
     .length_us = S(60),
     .algorithm = WR_ALGORITHM_SLIDING_BUCKETS,
     .n_buckets = 10,
     .warm_up_us = S(30),
     .warm_up_start = 10},
    {.requests = 10,
     .length_us = S(60),
     .algorithm = WR_ALGORITHM_SLIDING_LOG,
     .warm_up_us = S(30),
     .warm_up_start = 10},
};

static struct wr_metrics *metrics;
static struct wr_backend *backend;
static struct wr_taker taker;

static void begin(uint64_t max_counters)
{
    const struct wr_local_store_options options = {.max_counters = max_counters, .n_stripes = 1};

    metrics = wr_metrics_new();
    cr_assert_not_null(metrics);
    cr_assert_eq(wr_local_store_new(&options, &backend), WR_OK);
    taker = (struct wr_taker){
        .backend = backend,
        .metrics = wr_metrics_block_new(metrics),
        .now = {.wall_us = S(600), .mono_us = S(600)},
    };
    cr_assert_not_null(taker.metrics);
}

static void end(void)
{
    wr_backend_destroy(backend);
    wr_metrics_destroy(metrics);
}

struct keys {
    char texts[N_KINDS][32];
};

static void fill(const struct wr_drawn_call *call, const struct keys *keys, struct wr_take *takes)
{
    for (size_t i = 0; i < call->n; i++) {
        takes[i] = call->ones[i].take;
        takes[i].key = wr_str_of(keys->texts[call->ones[i].key]);
    }
}

/* `seed` is what all calls are drawn from: with it they are drawn again. */
static void play(struct wr_take_model *model, const struct wr_drawn_call *call,
                 const struct keys *keys, uint64_t seed, size_t *n_over)
{
    struct wr_take want[WR_DRAWN_TAKES], got[WR_DRAWN_TAKES];

    fill(call, keys, want);
    fill(call, keys, got);
    wr_take_model_batch(model, want, call->n, call->mode, taker.now.mono_us);
    taker.mode = call->mode;
    wr_taker_batch(&taker, got, call->n);
    for (size_t i = 0; i < call->n; i++) {
        const struct wr_verdict *const a = &want[i].verdict, *const b = &got[i].verdict;

        cr_assert_eq(got[i].answer, WR_TAKE_DECIDED, "seed %" PRIu64, seed);
        cr_assert(a->over == b->over && a->remaining == b->remaining &&
                      a->reset_us == b->reset_us && a->enforced == b->enforced,
                  "seed %" PRIu64 ", kind %u, mode %d: %d %" PRIu64 " %" PRId64
                  " in place of %d %" PRIu64 " %" PRId64,
                  seed, call->ones[i].key, (int) call->mode, b->over, b->remaining, b->reset_us,
                  a->over, a->remaining, a->reset_us);
        *n_over += b->over;
    }
}

/* Both clocks show the same, so that the model needs only one. */
Test(local_kinds, agrees_with_the_model_for_kinds_of_all_sorts)
{
    const uint64_t first_seed = wr_draw_seed();
    uint64_t seed = first_seed;
    size_t n_over = 0;

    begin(1000000);
    for (unsigned i = 0; i < N_SEQUENCES; i++) {
        struct wr_take_model model = {0};
        struct keys keys;

        for (unsigned k = 0; k < N_KINDS; k++) {
            (void) snprintf(keys.texts[k], sizeof keys.texts[k], "%u:%u", i, k);
        }
        for (unsigned k = 0; k < N_CALLS; k++) {
            const int64_t passed_us = (int64_t) wr_draw_below(&seed, (uint64_t) STEP);
            struct wr_drawn_call call = {0};

            taker.now.wall_us += passed_us;
            taker.now.mono_us += passed_us;
            wr_draw_call(&seed, kinds, N_KINDS, &call);
            play(&model, &call, &keys, first_seed, &n_over);
        }
    }
    cr_assert_gt(n_over, 1000u, "seed %" PRIu64 ": %zu", first_seed, n_over);
    cr_assert_gt(wr_metrics_sum(metrics, WR_METRIC_STORE_SWEPT), 1000u, "seed %" PRIu64,
                 first_seed);
    end();
}

static struct wr_take take_of(const char *key, size_t kind, uint64_t hits)
{
    struct wr_take take = {
        .key = wr_str_of(key), .limit = kinds[kind], .hits = hits, .is_enforced = true};

    take.limit.count = WR_COUNT_ALL_OR_NOTHING;
    return take;
}

static uint64_t remaining(const char *key, size_t kind)
{
    taker.limit = kinds[kind];
    return wr_taker_take(&taker, wr_str_of(key), 0).verdict.remaining;
}

/* Whichever allocation fails, all or nobody is charged, and afterwards all is well. */
Test(local_kinds, without_memory_no_group_is_charged)
{
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        bool is_charged = false;
        size_t n = 0;

        for (; !is_charged; n++) {
            struct wr_take takes[] = {take_of("a", kind, 1), take_of("b", kind, 1),
                                      take_of("c", 0, 1)};

            begin(1000);
            failing_malloc_start(n);
            wr_taker_batch(&taker, takes, 3);
            failing_malloc_stop();
            is_charged = takes[0].answer == WR_TAKE_DECIDED && takes[1].answer == WR_TAKE_DECIDED &&
                         takes[2].answer == WR_TAKE_DECIDED;
            cr_assert_eq(remaining("a", kind), is_charged ? 9u : 10u, "kind %zu, %zu", kind, n);
            cr_assert_eq(remaining("b", kind), is_charged ? 9u : 10u, "kind %zu, %zu", kind, n);
            cr_assert_eq(remaining("c", 0), is_charged ? 9u : 10u, "kind %zu, %zu", kind, n);
            wr_taker_batch(&taker, takes, 3);
            cr_assert_eq(takes[2].answer, WR_TAKE_DECIDED);
            cr_assert_eq(remaining("a", kind), is_charged ? 8u : 9u, "kind %zu, %zu", kind, n);
            end();
        }
        cr_assert_geq(n, 3u, "kind %zu", kind);
    }
}

/* A counter that would have to grow has no room either. */
Test(local_kinds, without_room_to_grow_no_group_is_charged)
{
    struct wr_take takes[] = {take_of("log", LOG, 1), take_of("a", 0, 1)};

    begin(6); /* the log needs 4 with its first entries, then 6 */
    for (uint64_t i = 0; i < 4; i++) {
        taker.now.mono_us++;
        wr_taker_batch(&taker, takes, 2);
        cr_assert_eq(takes[0].answer, WR_TAKE_DECIDED);
        cr_assert_eq(takes[0].verdict.remaining, 9 - i);
    }
    taker.now.mono_us++;
    wr_taker_batch(&taker, takes, 2);
    cr_assert_eq(takes[0].answer, WR_TAKE_FULL);
    cr_assert_eq(takes[1].answer, WR_TAKE_DECIDED);
    cr_assert_eq(remaining("log", LOG), 6u);
    cr_assert_eq(remaining("a", 0), 6u);
    end();
}

/* What the hits of a group come to on one counter is reckoned before the first of them. */
Test(local_kinds, a_group_finds_room_for_all_of_its_hits_on_a_counter_that_grows)
{
    struct wr_take takes[] = {take_of("a", BUCKETS, 200), take_of("a", BUCKETS, 200)};

    for (size_t i = 0; i < 2; i++) {
        takes[i].limit.requests = 1000;
        takes[i].limit.n_buckets = 60;
    }
    begin(5); /* enough for each take, and not for both */
    wr_taker_batch(&taker, takes, 2);
    cr_assert_eq(takes[0].answer, WR_TAKE_FULL);
    cr_assert_eq(takes[1].answer, WR_TAKE_FULL);
    cr_assert_eq(remaining("a", BUCKETS), 10u);
    end();
    begin(6);
    for (uint64_t i = 0; i < 2; i++) {
        wr_taker_batch(&taker, takes, 2);
        cr_assert_eq(takes[0].answer, WR_TAKE_DECIDED);
        cr_assert_eq(takes[1].answer, WR_TAKE_DECIDED);
        cr_assert_eq(takes[1].verdict.remaining, 600 - 400 * i);
    }
    end();
}

/* A place that is kept for it first is no counter that was hit before. */
Test(local_kinds, a_group_warms_up_from_its_first_hit)
{
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        struct wr_take takes[] = {take_of("a", kind, 1), take_of("b", 0, 1)};

        takes[0].limit.requests = 1000;
        takes[0].limit.warm_up_us = S(100);
        takes[0].limit.warm_up_start = 100;
        begin(1000);
        taker.now = (struct wr_now){.wall_us = S(50), .mono_us = S(50)};
        for (uint64_t i = 0; i < 2; i++) {
            wr_taker_batch(&taker, takes, 2);
            cr_assert_eq(takes[0].answer, WR_TAKE_DECIDED, "kind %zu", kind);
            cr_assert_eq(takes[0].verdict.enforced, 100u, "kind %zu", kind);
        }
        end();
    }
}

/* A refund of all there is, or a look by a lower limit. */
static struct wr_take given_or_looked_at(size_t kind, bool is_look)
{
    struct wr_take take = take_of("a", kind, is_look ? 0 : 7);

    take.is_refund = !is_look;
    take.limit.requests = is_look ? 5 : 10;
    take.limit.burst = take.limit.burst > 0 ? take.limit.requests : 0;
    take.limit.warm_up_start = take.limit.warm_up_us > 0 ? take.limit.requests : 0;
    return take;
}

/* Also when a refund of its group has made room since it was judged. */
Test(local_kinds, whoever_is_refused_waits)
{
    for (size_t kind = 0; kind < N_KINDS; kind++) {
        struct wr_take takes[] = {given_or_looked_at(kind, false), given_or_looked_at(kind, true)};
        struct wr_take first = take_of("a", kind, 7);

        begin(1000);
        wr_taker_batch(&taker, &first, 1);
        cr_assert(!first.verdict.over);
        wr_taker_batch(&taker, takes, 2);
        cr_assert(takes[1].verdict.over, "kind %zu", kind);
        cr_assert_gt(takes[1].verdict.reset_us, 0, "kind %zu", kind);
        end();
    }
}
