/* SPDX-License-Identifier: Apache-2.0 */
/* Stripes with counters of several kinds: rooms, memory and clocks; stripe_test.c has what is true
 * of each. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "store/stripe.h"
#include "tests/support/failing_malloc.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

static struct wr_stripe stripe;
static struct wr_stripe_events events;
static struct wr_now now;

static const struct wr_limit fixed = {.requests = 3, .length_us = S(60)};
static const struct wr_limit bucket = {
    .requests = 10,
    .length_us = S(600),
    .count = WR_COUNT_ADMITTED,
    .algorithm = WR_ALGORITHM_TOKEN_BUCKET,
    .burst = 10,
};
static const struct wr_limit sliding = {
    .requests = 3, .length_us = S(60), .algorithm = WR_ALGORITHM_SLIDING_WINDOW};
static const struct wr_limit buckets = {
    .requests = 3,
    .length_us = S(60),
    .count = WR_COUNT_ADMITTED,
    .algorithm = WR_ALGORITHM_SLIDING_BUCKETS,
    .n_buckets = 60,
};
static const struct wr_limit logged = {
    .requests = 20,
    .length_us = S(60),
    .count = WR_COUNT_ADMITTED,
    .algorithm = WR_ALGORITHM_SLIDING_LOG,
};

static void begin(uint64_t share)
{
    cr_assert_eq(wr_stripe_init(&stripe, share), WR_OK);
    events = (struct wr_stripe_events){0};
    now = (struct wr_now){.wall_us = S(600000), .mono_us = S(100)};
}

static void pass(int64_t us)
{
    now.wall_us += us;
    now.mono_us += us;
}

static struct wr_take take(uint64_t number, const struct wr_limit *limit, uint64_t hits,
                           bool is_refund)
{
    const struct wr_hash hash = {
        .low = number * UINT64_C(0x9e3779b97f4a7c15),
        .high = number * UINT64_C(0xd1b54a32d192ed03),
    };
    struct wr_take take = {.limit = *limit, .hits = hits, .is_refund = is_refund};

    wr_stripe_take(&stripe, &hash, &take, &now, &events);
    return take;
}

static struct wr_take hit(uint64_t number, const struct wr_limit *limit)
{
    return take(number, limit, 1, false);
}

static void assert_remaining(struct wr_take got, uint64_t remaining)
{
    cr_assert_eq(got.answer, WR_TAKE_DECIDED);
    cr_assert(!got.verdict.over);
    cr_assert_eq(got.verdict.remaining, remaining, "remaining is %" PRIu64, got.verdict.remaining);
}

/* A log with `n` entries, a microsecond apart. */
static void fill_log(uint64_t number, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        pass(1);
        assert_remaining(hit(number, &logged), logged.requests - 1 - i);
    }
}

Test(stripe_kinds, a_log_that_grows_needs_room)
{
    static const struct {
        uint64_t share, n_entries; /* when it has to grow, and cannot */
        uint64_t n_left;           /* places for others */
    } rows[] = {{4 + 1, 4, 1}, {6 + 3, 8, 3}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const uint64_t left = logged.requests - rows[i].n_entries;

        begin(rows[i].share);
        fill_log(1, rows[i].n_entries);
        pass(1);
        cr_assert_eq(hit(1, &logged).answer, WR_TAKE_FULL, "row %zu", i);
        assert_remaining(take(1, &logged, 0, false), left);
        assert_remaining(take(1, &logged, 2, true), left + 2);
        assert_remaining(hit(1, &logged), left + 1);
        assert_remaining(hit(1, &logged), left); /* of the same time */
        for (uint64_t n = 0; n < rows[i].n_left; n++) {
            assert_remaining(hit(2 + n, &fixed), 2);
        }
        cr_assert_eq(hit(100, &fixed).answer, WR_TAKE_FULL, "row %zu", i);
        pass(S(60) + 1);
        assert_remaining(hit(100, &fixed), 2);
        wr_stripe_fini(&stripe);
    }
}

/* What it has already is not asked for once more. */
Test(stripe_kinds, growing_takes_as_many_places_as_it_adds)
{
    static const struct {
        uint64_t share, n_entries;
    } rows[] = {{4, 4}, {6, 8}, {10, 16}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        begin(rows[i].share);
        fill_log(1, rows[i].n_entries);
        cr_assert_eq(stripe.n_used, rows[i].share, "row %zu: %" PRIu64, i, stripe.n_used);
        pass(1);
        cr_assert_eq(hit(1, &logged).answer, WR_TAKE_FULL, "row %zu", i);
        wr_stripe_fini(&stripe);
    }
}

/* Its hits would need wider counts, if they were counted. */
Test(stripe_kinds, a_refused_hit_makes_nothing_grow)
{
    begin(100);
    assert_remaining(hit(1, &buckets), 2);
    for (uint64_t i = 0; i < 10; i++) {
        cr_assert(take(1, &buckets, 5000, false).verdict.over);
    }
    cr_assert_eq(stripe.n_used, 4u);
    assert_remaining(take(1, &buckets, 0, false), 2);
    wr_stripe_fini(&stripe);
}

/* From a small slot to a wide one, and to a block; what it had before is free again. */
Test(stripe_kinds, buckets_that_grow_keep_what_was_counted)
{
    static const struct {
        uint64_t hits, n_used;
    } rows[] = {{255, 4}, {1, 6}, {65535 - 256, 6}, {1, 1 + 9}, {UINT32_MAX - 65536 - 1, 1 + 9}};
    struct wr_limit many = buckets;
    uint64_t left = UINT32_MAX;

    many.requests = UINT32_MAX;
    begin(1000);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        left -= rows[i].hits;
        assert_remaining(take(1, &many, rows[i].hits, false), left);
        cr_assert_eq(stripe.n_used, rows[i].n_used, "row %zu: %" PRIu64, i, stripe.n_used);
    }
    pass(S(30));
    assert_remaining(take(1, &many, left, false), 0);
    pass(S(31));
    assert_remaining(take(1, &many, 0, false), UINT32_MAX - left);
    wr_stripe_fini(&stripe);
}

Test(stripe_kinds, what_would_be_refused_anyway_is_refused_when_full)
{
    begin(2);
    cr_assert_eq(hit(1, &logged).answer, WR_TAKE_FULL);

    const struct wr_take over = take(1, &logged, 21, false);

    cr_assert_eq(over.answer, WR_TAKE_DECIDED);
    cr_assert(over.verdict.over);
    assert_remaining(take(1, &logged, 0, false), 20);
    assert_remaining(take(1, &logged, 5, true), 20);
    cr_assert_eq(stripe.n_used, 0u);
    wr_stripe_fini(&stripe);
}

/* Those that warm up would note the hit, but that it is refused is certain without. */
Test(stripe_kinds, what_warms_up_is_refused_as_all_others_when_full)
{
    const struct wr_limit *const kinds[] = {&fixed, &bucket, &sliding, &buckets};

    begin(1);
    assert_remaining(hit(100, &fixed), 2);
    for (size_t i = 0; i < 2 * sizeof kinds / sizeof kinds[0]; i++) {
        struct wr_limit limit = *kinds[i / 2];

        limit.count = WR_COUNT_ADMITTED;
        limit.warm_up_us = i % 2 == 0 ? S(10) : 0;
        limit.warm_up_start = 2;
        cr_assert_eq(hit(i, &limit).answer, WR_TAKE_FULL, "kind %zu", i);

        const struct wr_take over = take(i, &limit, 11, false);

        cr_assert_eq(over.answer, WR_TAKE_DECIDED, "kind %zu", i);
        cr_assert(over.verdict.over);
        cr_assert_eq(over.verdict.enforced, i % 2 == 0 ? 2u : limit.requests, "kind %zu", i);
        limit.count = WR_COUNT_ALL;
        cr_assert_eq(take(i, &limit, 11, false).answer, WR_TAKE_FULL, "kind %zu: is booked", i);
    }
    cr_assert_eq(stripe.n_used, 1u);
    wr_stripe_fini(&stripe);
}

/* Whoever fills logs gets no more memory than whoever makes counters. */
Test(stripe_kinds, a_share_bounds_memory_whatever_is_counted)
{
    enum { SHARE = 20000 };
    const struct wr_limit large = {
        .requests = WR_SLIDING_LOG_MAX,
        .length_us = S(60),
        .count = WR_COUNT_ADMITTED,
        .algorithm = WR_ALGORITHM_SLIDING_LOG,
    };
    size_t n_full = 0;

    begin(SHARE);
    for (int i = 0; i < 100000; i++) {
        pass(1);
        n_full += hit((uint64_t) i % 100, &large).answer == WR_TAKE_FULL;
        cr_assert_leq(stripe.n_used, (uint64_t) SHARE);
    }
    cr_assert_gt(n_full, 0u);
    cr_assert_leq(wr_stripe_measure(&stripe).memory_bytes, SHARE * 64u);
    pass(S(61));
    for (uint64_t n = 200; n < 1200; n++) {
        assert_remaining(hit(n, &fixed), 2);
    }
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, stripe.n_used, "all blocks are gone");
    wr_stripe_fini(&stripe);
}

Test(stripe_kinds, without_memory_nothing_is_charged)
{
    static const struct wr_limit *const limits[] = {&bucket, &sliding, &buckets, &logged};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        size_t n = 0;

        begin(100);
        for (;; n++) {
            failing_malloc_start(n);

            const struct wr_take got = hit(1, limits[i]);

            failing_malloc_stop();
            if (got.answer == WR_TAKE_DECIDED) {
                break;
            }
            cr_assert_eq(got.answer, WR_TAKE_NO_MEMORY, "kind %zu", i);
            cr_assert_eq(stripe.n_used, 0u, "kind %zu", i);
            assert_remaining(take(1, limits[i], 0, false), limits[i]->requests);
        }
        cr_assert_geq(n, 2u, "the tables of a class, and one of them");
        assert_remaining(take(1, limits[i], 0, false), limits[i]->requests - 1);
        wr_stripe_fini(&stripe);
    }
}

Test(stripe_kinds, a_log_without_memory_to_grow_stays_as_it_was)
{
    begin(100);
    for (uint64_t n = 0; n < 12; n++) {
        pass(1);
        if (n == 4 || n == 8) {
            failing_malloc_start(0);
            cr_assert_eq(hit(1, &logged).answer, WR_TAKE_NO_MEMORY, "entry %" PRIu64, n);
            failing_malloc_stop();
        }
        assert_remaining(hit(1, &logged), 19 - n);
    }
    wr_stripe_fini(&stripe);
}

Test(stripe_kinds, buckets_of_another_number_and_width_keep_what_was_counted)
{
    struct wr_limit other = buckets;

    begin(1000);
    assert_remaining(hit(1, &buckets), 2);
    other.n_buckets = 200;
    assert_remaining(hit(1, &other), 1);
    other.requests = 100000;
    assert_remaining(hit(1, &other), 99997);
    assert_remaining(take(1, &buckets, 0, false), 0);
    wr_stripe_fini(&stripe);
}

Test(stripe_kinds, a_clock_set_back_concerns_only_what_goes_by_it)
{
    begin(100);
    assert_remaining(hit(1, &fixed), 2);
    assert_remaining(hit(2, &sliding), 2);
    assert_remaining(hit(3, &bucket), 9);
    assert_remaining(hit(4, &buckets), 2);
    now.wall_us -= S(7200);
    now.mono_us++;
    assert_remaining(hit(1, &fixed), 2);
    assert_remaining(hit(2, &sliding), 1);
    assert_remaining(hit(3, &bucket), 8);
    assert_remaining(hit(4, &buckets), 1);
    cr_assert_eq(events.n_restarts, 1u);
    wr_stripe_fini(&stripe);
}

/* Room comes by whichever clock is first. */
Test(stripe_kinds, a_full_stripe_waits_for_either_clock)
{
    static const struct wr_limit short_bucket = {
        .requests = 10, .length_us = S(10), .algorithm = WR_ALGORITHM_TOKEN_BUCKET, .burst = 10};

    begin(2);
    assert_remaining(hit(1, &fixed), 2);
    assert_remaining(hit(2, &short_bucket), 9);
    cr_assert_eq(hit(3, &fixed).answer, WR_TAKE_FULL);
    pass(S(1) - 1);
    cr_assert_eq(hit(3, &fixed).answer, WR_TAKE_FULL);
    pass(1);
    assert_remaining(hit(3, &fixed), 2);
    cr_assert_eq(hit(4, &bucket).answer, WR_TAKE_FULL);
    pass(S(60));
    assert_remaining(hit(4, &bucket), 9);
    wr_stripe_fini(&stripe);
}

/* What is given back expires at once, though the stripe was full for long. */
Test(stripe_kinds, a_refund_makes_room_in_a_full_stripe)
{
    begin(1);
    assert_remaining(take(1, &bucket, 10, false), 0);
    cr_assert_eq(hit(2, &bucket).answer, WR_TAKE_FULL);
    (void) take(1, &bucket, 10, true);
    pass(1);
    assert_remaining(hit(2, &bucket), 9);
    wr_stripe_fini(&stripe);
}

Test(stripe_kinds, a_class_has_tables_from_its_first_counter_on)
{
    begin(1000000);

    const uint64_t bytes = wr_stripe_measure(&stripe).memory_bytes;

    assert_remaining(take(1, &sliding, 0, false), 3);
    assert_remaining(take(1, &buckets, 2, true), 3);
    cr_assert_eq(wr_stripe_measure(&stripe).memory_bytes, bytes);
    assert_remaining(hit(1, &sliding), 2);
    cr_assert_gt(wr_stripe_measure(&stripe).memory_bytes, bytes);
    wr_stripe_fini(&stripe);
}

/* Tables of every class are looked after as takes of one come by. */
Test(stripe_kinds, a_quiet_class_empties)
{
    static const struct wr_limit *const limits[] = {&sliding, &bucket, &buckets, &logged};

    begin(100000);
    for (uint64_t n = 0; n < 4000; n++) {
        (void) hit(n, limits[n % 4]);
    }
    pass(S(700));
    for (int i = 0; i < 5000; i++) {
        (void) hit(99999, &fixed);
    }
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
    cr_assert_eq(stripe.n_used, 1u);
    wr_stripe_fini(&stripe);
}
