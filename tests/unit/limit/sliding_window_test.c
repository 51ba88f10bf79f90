/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/sliding_window.h"

#include <criterion/criterion.h>

#include "tests/unit/limit/counter.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define DAY S(86400)

#define SLIDING(n, length)                                                                         \
    {                                                                                              \
        .requests = (n), .length_us = (length), .count = WR_COUNT_ADMITTED,                        \
        .algorithm = WR_ALGORITHM_SLIDING_WINDOW,                                                  \
    }

static const struct wr_limit ten_a_minute = SLIDING(10, S(60));

Test(sliding_window, what_came_in_the_window_before_fades)
{
    static const struct wr_step steps[] = {
        {S(30), 0, false, 10, 0},
        {S(30), 4, false, 6, S(30) + S(15)}, /* of 4, 3 weigh at 75 s */
        {S(40), 6, false, 0, S(26)},         /* of 10, 9 at 66 s */
        {S(50), 1, true, 0, S(16)},
        {S(60), 1, true, 0, S(6)},
        {S(66) - 1, 1, true, 0, 1},
        {S(66), 1, false, 0, S(6)},
        {S(90), 4, false, 0, S(6)}, /* 5 of the 10, and 5 */
        {S(120), 0, false, 5, S(12)},
        {S(180), 0, false, 10, 0},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_window, windows_that_nobody_used_are_passed_over)
{
    static const struct wr_step steps[] = {
        {S(30), 10, false, 0, S(36)},
        {S(120), 1, false, 9, S(120)},
        {S(86400 * 400), 10, false, 0, S(66)},
    };
    WR_PLAY(ten_a_minute, steps);
}

/* Ten at 59 s: at 60.5 s more than nine of them weigh. */
Test(sliding_window, around_a_boundary_no_more_than_the_limit_passes)
{
    static const struct wr_step steps[] = {{S(59), 10, false, 0, S(7)},
                                           {S(60) + 500000, 1, true, 0, S(6) - 500000}};
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_window, a_refused_cost_waits_for_the_next_hit_and_leaves_no_trace)
{
    static const struct wr_step steps[] = {
        {S(0), 8, false, 2, S(60) + 7500000},
        {S(0), 5, true, 0, 1}, /* of which one fits at once */
        {S(0), 100, true, 0, 1},
        {S(0), 2, false, 0, S(66)},
        {S(0), 5, true, 0, S(66)},
        {S(66) - 1, 100, true, 0, 1},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_window, a_cost_above_the_limit_is_over_on_a_fresh_counter)
{
    static const struct wr_step steps[] = {
        {S(0), 100, true, 0, 1},
        {S(0), INT64_MAX, true, 0, 1},
        {S(0), 10, false, 0, S(66)},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_window, books_what_does_not_fit_when_all_is_counted)
{
    static const struct wr_limit limit = {.requests = 10,
                                          .length_us = S(60),
                                          .count = WR_COUNT_ALL,
                                          .algorithm = WR_ALGORITHM_SLIDING_WINDOW};
    static const struct wr_step steps[] = {
        {S(0), 100, true, 0, S(60) + S(60) - 5400000},
        {S(0), 0, true, 0, S(60) + S(60) - 5400000},
        {S(60), 0, true, 0, S(60) - 5400000},
        {S(114), 0, false, 0, S(6) / 10},
    };
    WR_PLAY(limit, steps);
}

Test(sliding_window, a_refund_takes_from_this_window_and_then_from_the_one_before)
{
    static const struct wr_step steps[] = {
        {S(0), 8, false, 2, S(60) + 7500000},
        {S(90), 3, false, 3, S(7) + 500000},
        {S(90), -2, false, 5, S(7) + 500000},
        {S(90), -3, false, 7, S(10)},
        {S(90), -99, false, 10, 0},
        {S(90), -1, false, 10, 0},
        {S(90), 11, true, 0, 1},
        {S(90), 10, false, 0, S(36)},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_window, a_refund_of_what_is_forgotten_gives_nothing)
{
    static const struct wr_step steps[] = {{S(0), 10, false, 0, S(66)}, {S(120), -5, false, 10, 0}};
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_window, a_late_hit_counts_at_the_beginning_of_the_newer_window)
{
    static const struct wr_step steps[] = {
        {S(30), 10, false, 0, S(36)},       {S(66), 1, false, 0, S(6)},
        {S(60) - 5, 1, true, 0, S(12) + 5}, {S(72) - 1, 1, true, 0, 1},
        {S(72), 1, false, 0, S(6)},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_window, a_window_further_ahead_than_its_length_begins_anew)
{
    static const struct wr_step steps[] = {
        {S(180), 10, false, 0, S(66)},
        {S(120), 1, true, 0, S(126)},
        {S(120) - 1, 10, false, 0, S(6) + 1},
    };
    WR_PLAY(ten_a_minute, steps);
}

Test(sliding_window, a_long_idle_time_forgets_all_at_any_rate)
{
    static const struct wr_limit limits[] = {
        SLIDING(1000000, S(1)),
        SLIDING(1, S(31536000)),
        SLIDING(UINT32_MAX, DAY),
    };
    static const int64_t idle_us[] = {0, S(3 * 3600), 40 * DAY, 800 * DAY};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct wr_counter counter;
        int64_t now_us = S(1700000000);

        wr_counter_init(&counter, &limits[i]);
        for (size_t k = 0; k < sizeof idle_us / sizeof idle_us[0]; k++) {
            now_us += idle_us[k];
            if (wr_counter_expiry(&counter) > now_us) {
                continue;
            }

            const struct wr_verdict verdict = wr_counter_take(&counter, 1, now_us);

            cr_assert_not(verdict.over, "row %zu, pause %zu", i, k);
            cr_assert_eq(verdict.remaining, limits[i].requests - 1, "row %zu, pause %zu", i, k);
            cr_assert_leq(verdict.reset_us, 2 * limits[i].length_us, "row %zu, pause %zu", i, k);
        }
        wr_counter_fini(&counter);
    }
}

/* The product of count and time needs more than a word. */
Test(sliding_window, large_limits_fade_exactly)
{
    static const struct wr_limit limit = SLIDING(UINT32_MAX, DAY);
    static const struct wr_step steps[] = {
        {DAY, UINT32_MAX, false, 0, DAY + 21},
        {2 * DAY + 20, 1, true, 0, 1},
        {2 * DAY + 21, 1, false, 0, 20},
        {2 * DAY + DAY / 2, UINT32_MAX / 2 - 1, false, 0, 11},
    };
    WR_PLAY(limit, steps);
}

Test(sliding_window, saturates_instead_of_wrapping)
{
    struct wr_limit limit = ten_a_minute;
    struct wr_counter counter;

    limit.count = WR_COUNT_ALL;
    wr_counter_init(&counter, &limit);
    for (int i = 0; i < 4; i++) {
        cr_assert(wr_counter_take(&counter, UINT64_MAX, S(59)).over);
        cr_assert(wr_counter_take(&counter, WR_COUNT_MAX, S(61)).over);
        cr_assert(wr_counter_take(&counter, 0, S(61)).over);
    }
    (void) wr_counter_refund(&counter, UINT64_MAX, S(61));
    cr_assert_eq(wr_counter_take(&counter, 0, S(61)).remaining, 10u);
    wr_counter_fini(&counter);
}

Test(sliding_window, a_limit_of_nothing_lets_only_looks_pass)
{
    static const struct wr_limit nothing = SLIDING(0, S(60));
    static const struct wr_step steps[] = {
        {S(0), 0, false, 0, 0}, {S(0), 1, true, 0, S(60)}, {S(1), 0, false, 0, 0}};

    WR_PLAY(nothing, steps);
}

Test(sliding_window, a_raised_limit_helps_at_once_and_a_lowered_one_counts_what_was_used)
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
