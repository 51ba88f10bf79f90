/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/sliding_buckets.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/random.h"
#include "tests/unit/limit/counter.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

#define BUCKETS(limit, length, n)                                                                  \
    {                                                                                              \
        .requests = (limit), .length_us = (length), .n_buckets = (n), .count = WR_COUNT_ADMITTED,  \
        .algorithm = WR_ALGORITHM_SLIDING_BUCKETS,                                                 \
    }

/* Buckets of ten seconds, seven of which add up. */
static const struct wr_limit ten_a_minute = BUCKETS(10, S(60), 6);

Test(sliding_buckets, a_hit_is_forgotten_when_its_bucket_is_out_of_reach)
{
    static const struct wr_step steps[] = {
        {S(105), 0, false, 10, 0},    {S(105), 4, false, 6, S(65)}, /* its bucket, of 100 s, counts
                                                                       until 170 s */
        {S(109), 1, false, 5, S(61)}, {S(112), 5, false, 0, S(58)}, {S(160), 1, true, 0, S(10)},
        {S(170) - 1, 1, true, 0, 1},  {S(170), 1, false, 4, S(10)}, {S(170), 5, true, 0, 1},
        {S(180), 5, false, 4, S(60)}, /* the 1 of 170 s counts until 240 s */
        {S(240), 0, false, 5, S(10)}, {S(250), 0, false, 10, 0},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_buckets, buckets_that_nobody_used_are_passed_over)
{
    static const struct wr_step steps[] = {
        {S(105), 10, false, 0, S(65)},
        {S(86400 * 400) + 1, 10, false, 0, S(70) - 1},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_buckets, around_a_boundary_no_more_than_the_limit_passes)
{
    static const struct wr_limit limit = BUCKETS(10, S(60), 60);
    static const struct wr_step steps[] = {{S(59), 10, false, 0, S(61)},
                                           {S(60) + 500000, 1, true, 0, S(60) - 500000}};
    WR_PLAY(limit, steps);
}

Test(sliding_buckets, a_refused_cost_waits_for_the_next_hit_and_leaves_no_trace)
{
    static const struct wr_step steps[] = {
        {S(100), 4, false, 6, S(70)}, {S(110), 4, false, 2, S(60)},  {S(120), 5, true, 0, 1},
        {S(120), 7, true, 0, 1},      {S(120), 100, true, 0, 1},     {S(120), 2, false, 0, S(50)},
        {S(120), 7, true, 0, S(50)},  {S(170) - 1, 100, true, 0, 1}, {S(170), 7, true, 0, 1},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_buckets, a_cost_above_the_limit_is_over_on_a_fresh_counter)
{
    static const struct wr_step steps[] = {
        {S(0), 100, true, 0, 1},
        {S(0), INT64_MAX, true, 0, 1},
        {S(0), 10, false, 0, S(70)},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_buckets, books_what_does_not_fit_when_all_is_counted)
{
    struct wr_limit limit = ten_a_minute;
    static const struct wr_step steps[] = {
        {S(100), 100, true, 0, S(70)},       {S(110), 5, true, 0, S(60)},
        {S(120), 0, true, 0, S(50)},         {S(170), 0, false, 5, S(10)},
        {S(170), INT64_MAX, true, 0, S(70)}, {S(170), 1, true, 0, S(70)},
        {S(170), -INT64_MAX, false, 10, 0},
    };

    limit.count = WR_COUNT_ALL;
    WR_PLAY(limit, steps);
}

Test(sliding_buckets, a_refund_takes_from_the_newest_bucket_first)
{
    static const struct wr_step steps[] = {
        {S(105), 4, false, 6, S(65)},  {S(115), 4, false, 2, S(55)},  {S(125), -3, false, 5, S(45)},
        {S(125), -3, false, 8, S(45)}, {S(170), 0, false, 10, 0},     {S(125), -99, false, 10, 0},
        {S(125), -1, false, 10, 0},    {S(125), 10, false, 0, S(65)},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_buckets, a_late_hit_counts_in_the_newest_bucket)
{
    static const struct wr_step steps[] = {
        {S(110), 9, false, 1, S(70)},        {S(110) - 5, 1, false, 0, S(70) + 5},
        {S(110) - 5, 1, true, 0, S(70) + 5}, {S(180) - 1, 1, true, 0, 1},
        {S(180), 10, false, 0, S(70)},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_buckets, a_bucket_further_ahead_than_a_window_begins_anew)
{
    static const struct wr_step steps[] = {
        {S(200), 10, false, 0, S(70)},
        {S(140), 1, true, 0, S(130)},
        {S(140) - 1, 10, false, 0, S(60) + 1},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_buckets, a_length_that_n_does_not_divide_is_covered_all_the_same)
{
    static const struct wr_limit limit = BUCKETS(1, 1000, 7); /* of 143 us */
    static const struct wr_step steps[] = {
        {143, 1, false, 0, 1144},
        {1143, 1, true, 0, 144},
        {1286, 1, true, 0, 1},
        {1287, 1, false, 0, 1144},
    };
    WR_PLAY(limit, steps);
}

Test(sliding_buckets, a_state_is_packed_as_tightly_as_its_counts_allow)
{
    static const struct {
        uint64_t requests, hits;
        uint32_t n;
        enum wr_count count;
        uint32_t words;
    } rows[] = {
        {UINT32_MAX, UINT8_MAX, 60, WR_COUNT_ADMITTED, 4 + 8},
        {UINT32_MAX, UINT8_MAX + 1, 60, WR_COUNT_ADMITTED, 4 + 16},
        {UINT32_MAX, UINT16_MAX, 60, WR_COUNT_ADMITTED, 4 + 16},
        {UINT32_MAX, UINT16_MAX + 1, 60, WR_COUNT_ADMITTED, 4 + 31},
        {UINT32_MAX, UINT32_MAX, 60, WR_COUNT_ADMITTED, 4 + 31},
        {10, UINT8_MAX, 60, WR_COUNT_ALL, 4 + 8},
        {10, UINT64_C(1) << 32, 60, WR_COUNT_ALL, 4 + 61},
        {10, UINT64_C(1) << 32, 60, WR_COUNT_ADMITTED, 4 + 8},
        {10, 10, 1, WR_COUNT_ALL_OR_NOTHING, 4 + 1},
        {10, 10, WR_BUCKETS_MAX, WR_COUNT_ADMITTED, 4 + 126},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_limit limit = BUCKETS(rows[i].requests, S(60), rows[i].n);
        struct wr_counter counter;

        limit.count = rows[i].count;
        wr_counter_init(&counter, &limit);
        (void) wr_counter_take(&counter, rows[i].hits, S(60));
        cr_assert_eq(counter.n_words, rows[i].words, "row %zu: %u", i, counter.n_words);
        wr_counter_fini(&counter);
    }
}

Test(sliding_buckets, many_hits_in_as_many_buckets_need_no_wider_counts)
{
    static const struct wr_limit limit = BUCKETS(10000, S(60), 60);
    struct wr_counter counter;

    wr_counter_init(&counter, &limit);
    for (int i = 0; i < 60 * 100; i++) {
        cr_assert_not(wr_counter_take(&counter, 1, S(60) + i * 10000).over);
    }
    cr_assert_eq(counter.n_words, 4u + 8);
    cr_assert_eq(wr_counter_peek(&counter, 0, S(120) - 1).remaining, 10000u - 6000);
    wr_counter_fini(&counter);
}

/* Hits of each bucket go on being forgotten in their turn. */
Test(sliding_buckets, a_count_that_no_longer_fits_is_widened_with_the_others)
{
    static const struct {
        uint64_t more;
        enum wr_count count;
        uint32_t words;
    } rows[] = {
        {UINT8_MAX - 1, WR_COUNT_ADMITTED, 4 + 2},
        {UINT16_MAX - 1, WR_COUNT_ADMITTED, 4 + 4},
        {UINT32_MAX - 1, WR_COUNT_ALL, 4 + 7},
        {UINT64_C(1) << 40, WR_COUNT_ALL, 4 + 7},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_counter counter;

        wr_counter_init(&counter, &ten_a_minute);
        for (int k = 0; k < 4; k++) {
            (void) wr_counter_take(&counter, 2, S(100 + 10 * k));
        }
        cr_assert_eq(counter.n_words, 4u + 1);
        counter.limit.requests = UINT32_MAX;
        counter.limit.count = rows[i].count;
        (void) wr_counter_take(&counter, rows[i].more, S(135));
        cr_assert_eq(counter.n_words, rows[i].words, "row %zu: %u", i, counter.n_words);
        (void) wr_counter_refund(&counter, rows[i].more, S(135));
        counter.limit = ten_a_minute;
        cr_assert_eq(wr_counter_peek(&counter, 0, S(135)).remaining, 2u, "row %zu", i);
        for (int k = 1; k < 4; k++) {
            cr_assert_eq(wr_counter_peek(&counter, 0, S(160 + 10 * k)).remaining,
                         (uint64_t) (2 + 2 * k), "row %zu, bucket %d", i, k);
        }
        wr_counter_fini(&counter);
    }
}

/* As many hits as a random number has bits to spare, so that counts of every width come up. */
static uint64_t drawn_hits(uint64_t random)
{
    return (random >> 8 & UINT32_MAX) >> random % 33;
}

/* Buckets as wide as can be, none of which is ever thrown away. */
Test(sliding_buckets, agrees_with_counts_that_are_wide_from_the_beginning)
{
    enum { N = 6, ROUNDS = 20, TAKES = 2000, TIMES = TAKES * 4 };
    static uint64_t counts[TIMES];
    uint64_t random = 88172645463325252u;
    size_t n_over = 0;

    for (int round = 0; round < ROUNDS; round++) {
        struct wr_limit limit = BUCKETS(UINT32_MAX >> round, S(60), N);
        struct wr_counter counter;
        size_t newest = N;

        memset(counts, 0, sizeof counts);
        limit.count = round % 2 == 0 ? WR_COUNT_ADMITTED : WR_COUNT_ALL;
        wr_counter_init(&counter, &limit);
        for (int i = 0; i < TAKES; i++) {
            uint64_t used = 0;

            (void) wr_random_next(&random);
            newest += random >> 60 > 9 ? random >> 60 & 3 : 0;
            for (size_t k = newest - N; k <= newest; k++) {
                used += counts[k];
            }

            const uint64_t hits = drawn_hits(random);
            const bool is_over = used + hits > limit.requests;
            const struct wr_verdict got =
                wr_counter_take(&counter, hits, S(10) * (int64_t) newest + 5);

            cr_assert_eq(got.over, is_over, "round %d, take %d", round, i);
            cr_assert_eq(got.remaining, is_over ? 0 : limit.requests - used - hits);
            counts[newest] += is_over && limit.count != WR_COUNT_ALL ? 0 : hits;
            n_over += is_over;
        }
        wr_counter_fini(&counter);
    }
    cr_assert(n_over > TAKES && n_over < (ROUNDS - 1) * TAKES, "%zu over", n_over);
}

Test(sliding_buckets, another_number_of_buckets_keeps_what_was_used)
{
    static const uint32_t numbers[] = {1, 3, 60, WR_BUCKETS_MAX};

    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct wr_counter counter;

        wr_counter_init(&counter, &ten_a_minute);
        (void) wr_counter_take(&counter, 3, S(120));
        (void) wr_counter_take(&counter, 3, S(140));
        counter.limit.n_buckets = numbers[i];
        cr_assert_eq(wr_counter_take(&counter, 1, S(150)).remaining, 3u);
        cr_assert_eq(wr_counter_take(&counter, 0, S(210) - 1).remaining, 3u);
        cr_assert_eq(wr_counter_take(&counter, 10, S(270)).remaining, 0u);
        cr_assert(wr_counter_take(&counter, 1, S(330) - 1).over);
        wr_counter_fini(&counter);
    }
}

Test(sliding_buckets, a_limit_of_nothing_lets_only_looks_pass)
{
    static const struct wr_limit nothing = BUCKETS(0, S(60), 6);
    static const struct wr_step steps[] = {
        {S(0), 0, false, 0, 0}, {S(0), 1, true, 0, S(60)}, {S(1), 0, false, 0, 0}};

    WR_PLAY(nothing, steps);
}

Test(sliding_buckets, a_raised_limit_helps_at_once_and_a_lowered_one_counts_what_was_used)
{
    struct wr_counter counter;

    wr_counter_init(&counter, &ten_a_minute);
    (void) wr_counter_take(&counter, 10, S(30));
    counter.limit.requests = 15;
    cr_assert_eq(wr_counter_take(&counter, 1, S(30)).remaining, 4u);
    counter.limit.requests = 5;
    cr_assert(wr_counter_take(&counter, 0, S(30)).over);
    wr_counter_fini(&counter);
}

Test(sliding_buckets, a_charge_under_another_number_is_told_the_wait_of_what_it_leaves)
{
    struct wr_counter counter;

    wr_counter_init(&counter, &ten_a_minute);
    cr_assert_eq(wr_counter_take(&counter, 8, S(30)).reset_us, S(70));
    counter.limit.n_buckets = 2;
    cr_assert_eq(wr_counter_take(&counter, 0, S(35)).reset_us, S(65), "a look charges nothing");
    cr_assert_eq(wr_counter_take(&counter, 9, S(35)).reset_us, 1, "nor does a refused hit");
    cr_assert_eq(wr_counter_take(&counter, 1, S(35)).reset_us, S(85));
    cr_assert_eq(wr_counter_take(&counter, 0, S(35)).reset_us, S(85));
    wr_counter_fini(&counter);
}
