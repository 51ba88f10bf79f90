/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/sliding_log.h"

#include <criterion/criterion.h>

#include "tests/unit/limit/counter.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

#define LOG(limit, length)                                                                         \
    {                                                                                              \
        .requests = (limit), .length_us = (length), .count = WR_COUNT_ADMITTED,                    \
        .algorithm = WR_ALGORITHM_SLIDING_LOG,                                                     \
    }

static const struct wr_limit three_a_minute = LOG(3, S(60));

Test(sliding_log, each_hit_is_forgotten_a_window_after_it_came)
{
    static const struct wr_step steps[] = {
        {S(100), 0, false, 3, 0},     {S(100), 1, false, 2, S(60)}, {S(110), 1, false, 1, S(50)},
        {S(130), 1, false, 0, S(30)}, {S(159), 1, true, 0, S(1)},   {S(160) - 1, 1, true, 0, 1},
        {S(160), 1, false, 0, S(10)}, {S(170), 2, true, 0, 1},      {S(190), 2, false, 0, S(30)},
        {S(250), 0, false, 3, 0},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(sliding_log, around_a_boundary_no_more_than_the_limit_passes)
{
    static const struct wr_limit limit = LOG(10, S(60));
    static const struct wr_step steps[] = {{S(59), 10, false, 0, S(60)},
                                           {S(60) + 500000, 1, true, 0, S(58) + 500000}};
    WR_PLAY(limit, steps);
}

Test(sliding_log, a_refused_cost_waits_for_the_next_hit_and_leaves_no_trace)
{
    static const struct wr_step steps[] = {
        {S(100), 2, false, 1, S(60)}, {S(110), 2, true, 0, 1},      {S(110), 3, true, 0, 1},
        {S(110), 9, true, 0, 1},      {S(110), 1, false, 0, S(50)}, {S(110), 3, true, 0, S(50)},
        {S(160) - 1, 9, true, 0, 1},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(sliding_log, a_cost_above_the_limit_is_over_on_a_fresh_counter)
{
    static const struct wr_step steps[] = {
        {S(0), 100, true, 0, 1},
        {S(0), INT64_MAX, true, 0, 1},
        {S(0), 3, false, 0, S(60)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(sliding_log, books_what_does_not_fit_when_all_is_counted)
{
    struct wr_limit limit = three_a_minute;
    static const struct wr_step steps[] = {
        {S(100), 9, true, 0, S(60)},
        {S(110), 1, true, 0, S(50)},
        {S(120), 1, true, 0, S(40)},
        {S(130), 1, true, 0, S(40)}, /* no place left: it joins the 1 of 120 s */
        {S(160), 0, false, 0, S(10)},
        {S(180), 0, false, 1, S(10)},
        {S(180), INT64_MAX, true, 0, S(60)},
        {S(181), 1, true, 0, S(59)},
        {S(240), 0, false, 3, 0},
        {S(181), -INT64_MAX, false, 3, 0},
    };

    limit.count = WR_COUNT_ALL;
    WR_PLAY(limit, steps);
}

Test(sliding_log, a_refund_removes_the_newest_hits)
{
    static const struct wr_step steps[] = {
        {S(100), 2, false, 1, S(60)}, {S(110), 1, false, 0, S(50)}, {S(120), -2, false, 2, S(40)},
        {S(120), 2, false, 0, S(40)}, {S(160), 0, false, 1, S(20)}, {S(160), -99, false, 3, 0},
        {S(160), -1, false, 3, 0},    {S(160), 3, false, 0, S(60)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(sliding_log, a_late_hit_counts_from_the_newest_on)
{
    static const struct wr_step steps[] = {
        {S(100), 2, false, 1, S(60)},        {S(100) - 5, 1, false, 0, S(60) + 5},
        {S(100) - 5, 1, true, 0, S(60) + 5}, {S(160) - 1, 1, true, 0, 1},
        {S(160), 3, false, 0, S(60)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(sliding_log, a_log_further_ahead_than_a_window_begins_anew)
{
    static const struct wr_step steps[] = {
        {S(200), 3, false, 0, S(60)},
        {S(140), 1, true, 0, S(120)},
        {S(140) - 1, 3, false, 0, S(60)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(sliding_log, a_state_grows_in_small_steps_up_to_the_limit)
{
    static const struct wr_limit limit = LOG(20, S(60));
    static const uint32_t capacities[] = {4,  4,  4,  4,  8,  8,  8,  8,  16, 16,
                                          16, 16, 16, 16, 16, 16, 20, 20, 20, 20};
    struct wr_counter counter;

    wr_counter_init(&counter, &limit);
    for (uint32_t i = 0; i < 20; i++) {
        cr_assert_not(wr_counter_take(&counter, 1, S(100) + i).over);
        cr_assert_eq(counter.n_words, 3 + 2 * capacities[i], "hit %u: %u words", i,
                     counter.n_words);
    }
    for (int i = 0; i < 5000; i++) {
        cr_assert_eq(wr_counter_take(&counter, 1, S(101) + i * S(3)).over, i * 3 < 59, "hit %d", i);
    }
    cr_assert_eq(counter.n_words, 3u + 2 * 20);
    wr_counter_fini(&counter);
}

/* The ring is full and does not begin at its first place. */
Test(sliding_log, a_raised_limit_moves_the_entries_in_order)
{
    struct wr_counter counter;

    for (int turn = 0; turn < 9; turn++) {
        const struct wr_limit limit = LOG(8, S(60));

        wr_counter_init(&counter, &limit);
        for (int i = 0; i < 8 + turn; i++) {
            cr_assert_not(wr_counter_take(&counter, 1, S(100) + i * S(8)).over);
        }
        counter.limit.requests = 30;

        const int64_t now_us = S(100) + (7 + turn) * S(8);

        for (uint64_t i = 0; i < 22; i++) {
            cr_assert_eq(wr_counter_take(&counter, 1, now_us + 1).remaining, 21 - i);
        }
        for (int64_t i = 0; i < 7; i++) {
            cr_assert_eq(wr_counter_take(&counter, 9, now_us + 1).reset_us > 0, true);
            cr_assert_eq(wr_counter_peek(&counter, 0, now_us + S(4) + i * S(8)).remaining,
                         (uint64_t) i + 1, "turn %d, entry %ld", turn, i);
        }
        wr_counter_fini(&counter);
    }
}

static void books_alike(struct wr_counter *a, struct wr_counter *b, int64_t now_us)
{
    const struct wr_verdict one = wr_counter_take(a, 1, now_us);
    const struct wr_verdict other = wr_counter_take(b, 1, now_us);

    cr_assert_eq(one.over, other.over, "at %ld", now_us);
    cr_assert_eq(one.remaining, other.remaining, "at %ld", now_us);
    cr_assert_eq(one.reset_us, other.reset_us, "at %ld: %ld, not %ld", now_us, one.reset_us,
                 other.reset_us);
}

/* What there was room for while the limit was higher is of no account when it has expired. */
Test(sliding_log, a_lowered_limit_has_as_many_entries_as_if_it_had_always_been_so)
{
    struct wr_limit limit = LOG(9, S(60));
    struct wr_counter counter, fresh;

    limit.count = WR_COUNT_ALL;
    wr_counter_init(&counter, &limit);
    for (int i = 0; i < 9; i++) {
        (void) wr_counter_take(&counter, 1, S(100) + i);
    }
    counter.limit.requests = limit.requests = 3;
    wr_counter_init(&fresh, &limit);
    for (int i = 0; i < 50; i++) {
        books_alike(&counter, &fresh, S(200) + i * S(7));
    }
    wr_counter_fini(&counter);
    wr_counter_fini(&fresh);
}

Test(sliding_log, beyond_a_lowered_limit_entries_join_the_newest_at_once)
{
    struct wr_limit limit = LOG(9, S(60));
    struct wr_counter counter;

    limit.count = WR_COUNT_ALL;
    wr_counter_init(&counter, &limit);
    for (int i = 0; i < 6; i++) {
        (void) wr_counter_take(&counter, 1, S(100) + i * S(1));
    }
    counter.limit.requests = 5;
    cr_assert_eq(wr_counter_take(&counter, 1, S(110)).reset_us, S(52));
    cr_assert_eq(wr_counter_peek(&counter, 0, S(165)).remaining, 3u, "both count from 110 s on");
    cr_assert_eq(wr_counter_peek(&counter, 0, S(170)).remaining, 5u);
    wr_counter_fini(&counter);
}

/* The wait is for the newest entry, which time has not reached yet. */
Test(sliding_log, what_is_late_and_finds_no_place_counts_from_the_newest_on)
{
    struct wr_limit limit = LOG(1, S(60));
    static const struct wr_step steps[] = {
        {S(100), 1, false, 0, S(60)},
        {S(99), 1, true, 0, S(61)},
        {S(160) - 1, 1, true, 0, S(60)},
    };

    limit.count = WR_COUNT_ALL;
    WR_PLAY(limit, steps);
}

Test(sliding_log, a_limit_above_the_most_entries_lets_no_more_pass)
{
    static const struct wr_limit limit = LOG(WR_SLIDING_LOG_MAX + 500, S(60));
    struct wr_counter counter;
    uint64_t admitted = 0;

    wr_counter_init(&counter, &limit);
    for (int i = 0; i < 3000; i++) {
        admitted += !wr_counter_take(&counter, 1, S(100) + i).over;
    }
    cr_assert_eq(admitted, limit.requests);
    cr_assert_eq(counter.n_words, 3u + 2 * WR_SLIDING_LOG_MAX);
    wr_counter_fini(&counter);
}

Test(sliding_log, a_limit_of_nothing_lets_only_looks_pass)
{
    static const struct wr_limit nothing = LOG(0, S(60));
    static const struct wr_step steps[] = {
        {S(0), 0, false, 0, 0}, {S(0), 1, true, 0, S(60)}, {S(1), 0, false, 0, 0}};

    WR_PLAY(nothing, steps);
}

Test(sliding_log, a_raised_limit_helps_at_once_and_a_lowered_one_counts_what_was_used)
{
    struct wr_counter counter;

    wr_counter_init(&counter, &three_a_minute);
    (void) wr_counter_take(&counter, 3, S(30));
    counter.limit.requests = 5;
    cr_assert_eq(wr_counter_take(&counter, 1, S(31)).remaining, 1u);
    counter.limit.requests = 2;
    cr_assert(wr_counter_take(&counter, 0, S(32)).over);
    cr_assert_eq(wr_counter_take(&counter, 1, S(90)).remaining, 0u);
    wr_counter_fini(&counter);
}
