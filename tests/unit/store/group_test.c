/* SPDX-License-Identifier: Apache-2.0 */
#include "store/group.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "base/random.h"
#include "store/local_store.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/take_model.h"
#include "tests/support/taker.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum { LIMIT = 10, MAX_TAKES = 6 };

static struct wr_metrics *metrics;
static struct wr_backend *backend;
static struct wr_taker taker;

static void begin(uint64_t max_counters, unsigned n_stripes)
{
    const struct wr_local_store_options options = {
        .max_counters = max_counters,
        .n_stripes = n_stripes,
    };

    metrics = wr_metrics_new();
    cr_assert_not_null(metrics);
    cr_assert_eq(wr_local_store_new(&options, &backend), WR_OK);
    taker = (struct wr_taker){
        .backend = backend,
        .metrics = wr_metrics_block_new(metrics),
        .limit = {.requests = LIMIT, .length_us = S(60)},
        .now = {.wall_us = S(600), .mono_us = S(5)},
    };
    cr_assert_not_null(taker.metrics);
}

static void end(void)
{
    wr_backend_destroy(backend);
    wr_metrics_destroy(metrics);
}

/* A key is a letter. */
static struct wr_str key_of(const char *key)
{
    return (struct wr_str){key, 1};
}

static uint64_t remaining(const char *key)
{
    const enum wr_charge_mode mode = taker.mode;

    taker.mode = WR_CHARGE_BY_COUNT;

    const struct wr_take take = wr_taker_take(&taker, key_of(key), 0);

    taker.mode = mode;
    return take.verdict.remaining;
}

static void use(const char *key, uint64_t hits)
{
    cr_assert_eq(wr_taker_take(&taker, key_of(key), hits).answer, WR_TAKE_DECIDED);
}

enum { ALL = WR_COUNT_ALL, ADM = WR_COUNT_ADMITTED, AON = WR_COUNT_ALL_OR_NOTHING };
enum { SHADOW = 1, REFUND = 2 };

#define OVER (-1)

struct attempt {
    const char *key;
    uint64_t hits;
    int count;
    unsigned flags;
    uint32_t group;
    int64_t want; /* remaining, or OVER */
};

struct row {
    const char *name;
    uint64_t used_a, used_b; /* before */
    struct attempt tries[MAX_TAKES];
    uint64_t left_a, left_b, left_c; /* after */
};

static const struct row by_count[] = {
    {"all fit, all are charged", 0, 0, {{"a", 3, AON, 0, 1, 7}, {"b", 4, AON, 0, 1, 6}}, 7, 6, 10},
    {"one does not, none is",
     0,
     9,
     {{"a", 3, AON, 0, 1, 10}, {"b", 2, AON, 0, 1, OVER}},
     10,
     1,
     10},
    {"whatever the order",
     9,
     0,
     {{"a", 2, AON, 0, 1, OVER}, {"b", 3, AON, 0, 1, 10}, {"c", 1, AON, 0, 1, 10}},
     1,
     10,
     10},
    {"exactly the limit fits", 9, 0, {{"a", 1, AON, 0, 1, 0}, {"b", 10, AON, 0, 1, 0}}, 0, 0, 10},
    {"one of its own", 9, 0, {{"a", 2, AON, 0, 1, OVER}}, 1, 10, 10},
    {"groups are apart",
     9,
     0,
     {{"a", 2, AON, 0, 1, OVER}, {"b", 3, AON, 0, 2, 7}, {"c", 1, AON, 0, 1, 10}},
     1,
     7,
     10},
    {"groups need not lie together",
     10,
     0,
     {{"b", 3, AON, 0, 7, 10}, {"c", 3, AON, 0, 3, 7}, {"a", 1, AON, 0, 7, OVER}},
     0,
     10,
     7},
    {"a later group sees an earlier",
     0,
     0,
     {{"a", 6, AON, 0, 1, 4}, {"a", 6, AON, 0, 2, OVER}, {"b", 1, AON, 0, 2, 10}},
     4,
     10,
     10},
    {"hits on one key add up",
     0,
     0,
     {{"a", 4, AON, 0, 1, OVER}, {"b", 1, AON, 0, 1, 10}, {"a", 7, AON, 0, 1, OVER}},
     10,
     10,
     10},
    {"and fit together",
     0,
     0,
     {{"a", 4, AON, 0, 1, 6}, {"b", 1, AON, 0, 1, 9}, {"a", 6, AON, 0, 1, 0}},
     0,
     9,
     10},
    {"a sum that would wrap",
     0,
     0,
     {{"a", UINT64_MAX, AON, 0, 1, OVER}, {"a", 5, AON, 0, 1, OVER}, {"b", 1, AON, 0, 1, 10}},
     10,
     10,
     10},
    {"a shadow refuses nobody, and is charged past its limit",
     9,
     0,
     {{"a", 5, AON, SHADOW, 1, OVER}, {"b", 3, AON, 0, 1, 7}},
     0,
     7,
     10},
    {"a shadow is looked at when the others are",
     0,
     9,
     {{"a", 5, AON, SHADOW, 1, 10}, {"b", 3, AON, 0, 1, OVER}},
     10,
     1,
     10},
    {"shadows alone are charged",
     9,
     9,
     {{"a", 5, AON, SHADOW, 1, OVER}, {"b", 3, AON, SHADOW, 1, OVER}},
     0,
     0,
     10},
    {"a refund is given in a refused group, and refuses nobody",
     9,
     9,
     {{"a", 4, AON, REFUND, 1, 5}, {"b", 3, AON, 0, 1, OVER}},
     5,
     1,
     10},
    {"a refund makes no room for the check",
     9,
     0,
     {{"a", 4, AON, REFUND, 1, 5}, {"a", 3, AON, 0, 1, OVER}, {"b", 1, AON, 0, 1, 10}},
     5,
     10,
     10},
    {"a refund of what was never used",
     0,
     0,
     {{"a", 4, AON, REFUND, 1, 10}, {"b", 3, AON, 0, 1, 7}},
     10,
     7,
     10},
    {"a look that is over refuses",
     11,
     0,
     {{"a", 0, AON, 0, 1, OVER}, {"b", 3, AON, 0, 1, 10}},
     0,
     10,
     10},
    {"a look at exactly the limit does not",
     10,
     0,
     {{"a", 0, AON, 0, 1, 0}, {"b", 3, AON, 0, 1, 7}},
     0,
     7,
     10},
    {"count all is charged always, and refuses",
     9,
     0,
     {{"a", 3, ALL, 0, 1, OVER}, {"b", 3, AON, 0, 1, 10}},
     0,
     10,
     10},
    {"count all is charged in a refused group",
     0,
     9,
     {{"a", 3, ALL, 0, 1, 7}, {"b", 3, AON, 0, 1, OVER}},
     7,
     1,
     10},
    {"count admitted is charged for itself, and refuses",
     9,
     0,
     {{"a", 3, ADM, 0, 1, OVER}, {"b", 3, AON, 0, 1, 10}, {"c", 2, ADM, 0, 1, 8}},
     1,
     10,
     8},
    {"count all in another group refuses nobody",
     10,
     0,
     {{"a", 1, ALL, 0, 0, OVER}, {"b", 3, AON, 0, 1, 7}, {"a", 1, ALL, 0, 0, OVER}},
     0,
     7,
     10},
};

static const struct row stop[] = {
    {"all fit, all are charged",
     0,
     0,
     {{"a", 3, ALL, 0, 1, 7}, {"b", 4, AON, 0, 2, 6}, {"c", 1, ADM, 0, 3, 9}},
     7,
     6,
     9},
    {"what would go over is charged, the others are looked at",
     9,
     0,
     {{"a", 2, ADM, 0, 1, OVER}, {"b", 3, ALL, 0, 2, 10}},
     0,
     10,
     10},
    {"a shadow stops the others",
     9,
     0,
     {{"a", 2, ALL, SHADOW, 1, OVER}, {"b", 3, ALL, 0, 2, 10}},
     0,
     10,
     10},
    {"each is judged by the count before",
     0,
     0,
     {{"a", 6, ALL, 0, 1, 4}, {"a", 6, ALL, 0, 1, OVER}, {"b", 3, ALL, 0, 1, 7}},
     0,
     7,
     10},
    {"a look that is over stops",
     11,
     0,
     {{"a", 0, ALL, 0, 1, OVER}, {"b", 3, ALL, 0, 1, 10}},
     0,
     10,
     10},
    {"a refund is given and stops nobody",
     11,
     9,
     {{"a", 4, ALL, REFUND, 1, 3}, {"b", 1, ALL, 0, 1, 0}},
     3,
     0,
     10},
    {"a refund is given when it stops",
     5,
     9,
     {{"a", 4, ALL, REFUND, 1, 9}, {"b", 2, ALL, 0, 1, OVER}},
     9,
     0,
     10},
    {"alone", 9, 0, {{"a", 2, AON, 0, 1, OVER}}, 0, 10, 10},
};

static size_t fill(const struct row *row, struct wr_take *takes)
{
    size_t n = 0;

    for (; n < MAX_TAKES && row->tries[n].key != NULL; n++) {
        const struct attempt *const attempt = &row->tries[n];

        takes[n] = (struct wr_take){
            .key = key_of(attempt->key),
            .limit = {.requests = LIMIT,
                      .length_us = S(60),
                      .count = (enum wr_count) attempt->count},
            .hits = attempt->hits,
            .group = attempt->group,
            .is_refund = (attempt->flags & REFUND) != 0,
            .is_enforced = (attempt->flags & SHADOW) == 0,
        };
    }
    return n;
}

static void play(const struct row *row, enum wr_charge_mode mode, unsigned n_stripes)
{
    struct wr_take takes[MAX_TAKES];
    const size_t n = fill(row, takes);

    begin(1000, n_stripes);
    use("a", row->used_a);
    use("b", row->used_b);
    taker.mode = mode;
    wr_taker_batch(&taker, takes, n);
    for (size_t i = 0; i < n; i++) {
        const struct wr_verdict *const got = &takes[i].verdict;
        const int64_t want = row->tries[i].want;

        cr_assert_eq(takes[i].answer, WR_TAKE_DECIDED, "%s: take %zu", row->name, i);
        cr_assert_eq(got->over, want == OVER, "%s: take %zu: over is %d", row->name, i, got->over);
        cr_assert_eq(got->remaining, want == OVER ? 0 : (uint64_t) want,
                     "%s: take %zu: remaining is %" PRIu64, row->name, i, got->remaining);
        cr_assert_eq(got->reset_us, S(60), "%s: take %zu", row->name, i);
    }
    cr_assert_eq(remaining("a"), row->left_a, "%s: a has %" PRIu64, row->name, remaining("a"));
    cr_assert_eq(remaining("b"), row->left_b, "%s: b has %" PRIu64, row->name, remaining("b"));
    cr_assert_eq(remaining("c"), row->left_c, "%s: c has %" PRIu64, row->name, remaining("c"));
    end();
}

Test(group, stands_or_falls_together)
{
    for (size_t i = 0; i < sizeof by_count / sizeof by_count[0]; i++) {
        play(&by_count[i], WR_CHARGE_BY_COUNT, 1);
        play(&by_count[i], WR_CHARGE_BY_COUNT, 64);
    }
}

Test(group, stop_charges_what_would_go_over)
{
    for (size_t i = 0; i < sizeof stop / sizeof stop[0]; i++) {
        play(&stop[i], WR_CHARGE_STOP, 1);
        play(&stop[i], WR_CHARGE_STOP, 64);
    }
}

Test(group, an_empty_batch_in_stop_mode_is_done_too)
{
    begin(1000, 4);
    taker.mode = WR_CHARGE_STOP;
    wr_taker_batch(&taker, NULL, 0);
    end();
}

static struct wr_take take_of(const char *key, int count, unsigned flags)
{
    return (struct wr_take){
        .key = key_of(key),
        .limit = {.requests = LIMIT, .length_us = S(60), .count = (enum wr_count) count},
        .hits = 1,
        .is_enforced = (flags & SHADOW) == 0,
    };
}

/* One place is left, for two new counters. */
Test(group, without_room_for_all_nobody_is_charged_and_every_place_is_free_again)
{
    struct wr_take takes[] = {
        take_of("a", AON, 0),
        take_of("b", AON, 0),
        take_of("c", AON, 0),
    };
    size_t n_full = 0;

    begin(2, 1);
    use("a", 1);
    wr_taker_batch(&taker, takes, 3);
    cr_assert_eq(takes[0].answer, WR_TAKE_DECIDED);
    cr_assert(!takes[0].verdict.over);
    cr_assert_eq(takes[0].verdict.remaining, 9u);
    for (size_t i = 1; i < 3; i++) {
        n_full += takes[i].answer == WR_TAKE_FULL;
        cr_assert(takes[i].answer == WR_TAKE_FULL || takes[i].verdict.remaining == 10);
    }
    cr_assert_eq(n_full, 1u);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_STORE_FULL), 1u);
    cr_assert_eq(remaining("a"), 9u);
    use("d", 1);
    cr_assert_eq(remaining("d"), 9u);
    end();
}

Test(group, a_shadow_without_room_refuses_nobody)
{
    struct wr_take takes[] = {take_of("a", AON, 0), take_of("b", AON, SHADOW)};

    begin(1, 1);
    use("a", 1);
    wr_taker_batch(&taker, takes, 2);
    cr_assert_eq(takes[0].verdict.remaining, 8u);
    cr_assert_eq(takes[1].answer, WR_TAKE_FULL);
    cr_assert_eq(remaining("a"), 8u);
    end();
}

Test(group, count_all_without_room_refuses_the_others)
{
    struct wr_take takes[] = {take_of("a", AON, 0), take_of("b", ALL, 0)};

    begin(1, 1);
    use("a", 1);
    wr_taker_batch(&taker, takes, 2);
    cr_assert_eq(takes[0].answer, WR_TAKE_DECIDED);
    cr_assert_eq(takes[1].answer, WR_TAKE_FULL);
    cr_assert_eq(remaining("a"), 9u);
    end();
}

/* Else the caller, who is told of no answer, would be charged again when he tries again. */
Test(group, in_stop_mode_without_room_for_all_nobody_is_charged)
{
    struct wr_take takes[] = {take_of("a", ALL, 0), take_of("b", ALL, 0), take_of("a", ADM, 0)};

    begin(1, 1);
    use("a", 1);
    taker.mode = WR_CHARGE_STOP;
    wr_taker_batch(&taker, takes, 3);
    cr_assert_eq(takes[0].answer, WR_TAKE_DECIDED);
    cr_assert_eq(takes[0].verdict.remaining, 9u);
    cr_assert_eq(takes[1].answer, WR_TAKE_FULL);
    cr_assert_eq(takes[2].verdict.remaining, 9u);
    cr_assert_eq(remaining("a"), 9u);
    end();
}

Test(group, in_stop_mode_a_shadow_without_room_stops_nobody)
{
    struct wr_take takes[] = {take_of("a", ALL, 0), take_of("b", ALL, SHADOW)};

    begin(1, 1);
    use("a", 1);
    taker.mode = WR_CHARGE_STOP;
    wr_taker_batch(&taker, takes, 2);
    cr_assert_eq(takes[0].verdict.remaining, 8u);
    cr_assert_eq(takes[1].answer, WR_TAKE_FULL);
    end();
}

/* Who is over is surely refused, whatever becomes of the others. */
Test(group, in_stop_mode_what_would_go_over_is_charged_though_another_has_no_room)
{
    struct wr_take takes[] = {take_of("a", ALL, 0), take_of("b", ALL, 0)};

    begin(1, 1);
    use("a", 9);
    taker.mode = WR_CHARGE_STOP;
    takes[0].hits = 5;
    takes[1].hits = LIMIT + 1;
    wr_taker_batch(&taker, takes, 2);
    cr_assert(takes[0].verdict.over);
    cr_assert_eq(takes[1].answer, WR_TAKE_FULL);
    cr_assert_eq(wr_taker_refund(&taker, key_of("a"), 5).verdict.remaining, 1u);
    end();
}

/* The spent counter's place goes to whom it was promised, its own key. */
Test(group, spent_counters_of_the_group_are_as_good_as_new_ones)
{
    struct wr_take takes[] = {take_of("a", AON, 0), take_of("b", AON, 0), take_of("c", AON, 0)};

    begin(3, 1);
    use("a", 5);
    use("b", 5);
    use("c", 5);
    taker.now.wall_us += S(60);
    taker.now.mono_us += S(60);
    wr_taker_batch(&taker, takes, 3);
    for (size_t i = 0; i < 3; i++) {
        cr_assert_eq(takes[i].answer, WR_TAKE_DECIDED);
        cr_assert_eq(takes[i].verdict.remaining, 9u);
    }
    end();
}

/* Nor is a spent one counted on, which goes when room is made for the others. Keys lie in another
 * order in each store. */
Test(group, a_spent_counter_needs_a_place_as_a_new_one_does)
{
    for (int round = 0; round < 40; round++) {
        struct wr_take takes[] = {take_of("a", AON, 0), take_of("b", AON, 0), take_of("c", AON, 0),
                                  take_of("d", AON, 0)};
        size_t n_full = 0;

        begin(3, 1);
        use("a", 5);
        use("x", 5);
        use("y", 5);
        taker.now.wall_us += S(60);
        taker.now.mono_us += S(60);
        wr_taker_batch(&taker, takes, 4);
        for (size_t i = 0; i < 4; i++) {
            n_full += takes[i].answer == WR_TAKE_FULL;
            cr_assert(takes[i].answer == WR_TAKE_FULL || takes[i].verdict.remaining == 10);
            cr_assert_eq(remaining(takes[i].key.ptr), 10u);
        }
        cr_assert_eq(n_full, 1u);
        end();
    }
}

/* Whichever allocation fails, all or nobody is charged, and afterwards all is well. */
Test(group, without_memory_nobody_is_charged)
{
    size_t n_refused = 0;

    for (size_t n = 0;; n++) {
        struct wr_take takes[] = {take_of("a", AON, 0), take_of("b", AON, 0), take_of("c", AON, 0)};
        size_t n_decided = 0;

        begin(1000, 4);
        use("a", 1);
        failing_malloc_start(n);
        wr_taker_batch(&taker, takes, 3);
        failing_malloc_stop();
        for (size_t i = 0; i < 3; i++) {
            cr_assert(takes[i].answer == WR_TAKE_DECIDED || takes[i].answer == WR_TAKE_NO_MEMORY);
            n_decided += takes[i].answer == WR_TAKE_DECIDED;
        }
        cr_assert_eq(remaining("a"), n_decided == 3 ? 8u : 9u, "allocation %zu", n);
        cr_assert_eq(remaining("b"), n_decided == 3 ? 9u : 10u, "allocation %zu", n);
        cr_assert_eq(remaining("c"), n_decided == 3 ? 9u : 10u, "allocation %zu", n);
        cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_STORE_NO_MEMORY), 3 - n_decided);
        n_refused += n_decided < 3;
        use("b", 1);
        cr_assert_eq(remaining("b"), n_decided == 3 ? 8u : 9u);
        end();
        if (n_decided == 3) {
            break;
        }
    }
    cr_assert_geq(n_refused, 1u); /* more where the keys lie in several tables */
}

Test(group, known_counters_allocate_nothing_after_warm_up)
{
    struct wr_take takes[] = {take_of("a", AON, 0), take_of("b", AON, 0)};
    struct wr_arena arena;

    begin(1000, 4);
    wr_arena_init(&arena, 1024);
    taker.arena = &arena;
    wr_taker_batch(&taker, takes, 2);
    failing_malloc_start(0);
    for (uint64_t i = 0; i < 5; i++) {
        wr_taker_batch(&taker, takes, 2);
        cr_assert_eq(takes[1].answer, WR_TAKE_DECIDED);
        cr_assert_eq(takes[1].verdict.remaining, 8 - i);
    }
    failing_malloc_stop();
    wr_arena_fini(&arena);
    end();
}

/* Few keys, and all of 1024 takes on them: what remains goes down in the order of the batch. */
Test(group, a_large_group_keeps_the_order_of_the_batch_within_a_key)
{
    enum { N = 1024, KEYS = 7 };
    static uint64_t keys[KEYS];
    static struct wr_take takes[N];

    begin(1000, 16);
    for (size_t i = 0; i < N; i++) {
        keys[i % KEYS] = i % KEYS;
        takes[i] = take_of("-", AON, 0);
        takes[i].limit.requests = N;
        takes[i].key = (struct wr_str){(const char *) &keys[i % KEYS], sizeof keys[0]};
    }
    wr_taker_batch(&taker, takes, N);
    for (size_t i = 0; i < N; i++) {
        cr_assert_eq(takes[i].verdict.remaining, N - 1 - i / KEYS, "take %zu", i);
    }
    end();
}

/* By group, stripe, key and place in the batch. */
Test(group, sorts_by_all_that_tells_members_apart)
{
    static struct wr_take takes[300];
    static struct wr_stripe stripes[4];
    static struct wr_group_member members[300];
    uint64_t random = 88172645463325252u;

    for (size_t n = 0; n <= 300; n += n < 10 ? 1 : 97) {
        for (size_t i = 0; i < n; i++) {
            (void) wr_random_next(&random);
            takes[i].group = (uint32_t) (random % 3);
            members[i] = (struct wr_group_member){
                .hash = {.low = random >> 8 & 1, .high = random >> 9 & 3},
                .stripe = &stripes[random >> 16 & 3],
                .take = &takes[i],
            };
        }
        wr_group_sort(members, n, false);
        for (size_t i = 1; i < n; i++) {
            const struct wr_group_member *const a = &members[i - 1], *const b = &members[i];

            cr_assert_leq(a->take->group, b->take->group);
            if (a->take->group != b->take->group) {
                continue;
            }
            cr_assert_leq(a->stripe, b->stripe);
            if (a->stripe == b->stripe && wr_hash_equal(a->hash, b->hash)) {
                cr_assert_lt(a->take, b->take);
            } else if (a->stripe == b->stripe) {
                cr_assert(a->hash.high < b->hash.high ||
                          (a->hash.high == b->hash.high && a->hash.low < b->hash.low));
            }
        }
        wr_group_sort(members, n, true);
        for (size_t i = 1; i < n; i++) {
            cr_assert_leq(members[i - 1].stripe, members[i].stripe);
        }
    }
}

enum { MODEL_KEYS = 6, MODEL_TAKES = 8 };

static size_t make_up(struct wr_take *takes, uint64_t *random)
{
    static const char *const keys[MODEL_KEYS] = {"a", "b", "c", "d", "e", "f"};
    const size_t n = 1 + *random % MODEL_TAKES;
    uint32_t group = 0;

    for (size_t i = 0; i < n; i++) {
        (void) wr_random_next(random);
        group += taker.mode == WR_CHARGE_BY_COUNT && *random % 4 == 0;
        takes[i] = take_of(keys[*random % MODEL_KEYS], (int) (*random >> 8 & 3) % 3,
                           *random >> 16 & 3 ? 0 : SHADOW);
        takes[i].group = group;
        takes[i].hits = *random >> 20 & 3;
        takes[i].is_refund = (*random >> 24) % 5 == 0;
    }
    return n;
}

Test(group, agrees_with_the_model_over_many_batches)
{
    static struct wr_take_model model;
    uint64_t random = 88172645463325252u;
    size_t n_over = 0, n_takes = 0;

    begin(1000, 16);
    for (int step = 0; step < 50000; step++) {
        struct wr_take got[MODEL_TAKES], want[MODEL_TAKES];

        taker.mode = random >> 40 & 1 ? WR_CHARGE_STOP : WR_CHARGE_BY_COUNT;

        const size_t n = make_up(got, &random);

        for (size_t i = 0; i < n; i++) {
            want[i] = got[i];
        }
        wr_take_model_batch(&model, want, n, taker.mode, taker.now.wall_us);
        wr_taker_batch(&taker, got, n);
        for (size_t i = 0; i < n; i++) {
            cr_assert_eq(got[i].answer, WR_TAKE_DECIDED);
            cr_assert_eq(got[i].verdict.over, want[i].verdict.over, "step %d, take %zu", step, i);
            cr_assert_eq(got[i].verdict.remaining, want[i].verdict.remaining, "step %d, take %zu",
                         step, i);
            n_over += got[i].verdict.over;
        }
        n_takes += n;
        if (step % 20 == 0) {
            taker.now.wall_us += S(60);
            taker.now.mono_us += S(60);
        }
    }
    cr_assert(n_over > n_takes / 10 && n_over < n_takes / 10 * 9, "%zu of %zu", n_over, n_takes);
    end();
}
