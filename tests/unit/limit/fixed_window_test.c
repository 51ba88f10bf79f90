/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/fixed_window.h"

#include <criterion/criterion.h>

#include "limit/calendar.h"
#include "limit/unit.h"
#include "tests/unit/limit/counter.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

static const struct wr_limit three_a_minute = {.requests = 3, .length_us = S(60)};
static const struct wr_limit three_admitted = {
    .requests = 3, .length_us = S(60), .count = WR_COUNT_ADMITTED};
static const struct wr_limit nothing_a_minute = {.requests = 0, .length_us = S(60)};

Test(fixed_window, counts_to_the_limit_and_begins_anew_at_the_boundary)
{
    const struct wr_step steps[] = {
        {S(100), 1, false, 2, S(20)},
        {S(101), 2, false, 0, S(19)},
        {S(119), 1, true, 0, S(1)},
        {S(120), 1, false, 2, S(60)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(fixed_window, lets_twice_the_limit_pass_around_a_boundary)
{
    const struct wr_step steps[] = {{S(119), 3, false, 0, S(1)}, {S(120), 3, false, 0, S(60)}};
    WR_PLAY(three_a_minute, steps);
}

Test(fixed_window, windows_that_nobody_used_are_passed_over)
{
    const struct wr_step steps[] = {{S(100), 3, false, 0, S(20)},
                                    {S(86400 * 400), 1, false, 2, S(60)}};
    WR_PLAY(three_a_minute, steps);
}

/* The last microsecond of a window belongs to it, the next to the next. */
Test(fixed_window, the_end_of_every_unit_is_exact)
{
    for (int unit = WR_UNIT_SECOND; unit <= WR_UNIT_WEEK; unit++) {
        const struct wr_limit limit = {.requests = 3,
                                       .length_us = wr_unit_length_us((enum wr_unit) unit)};
        const int64_t begin_us = 1000 * limit.length_us;
        const int64_t end_us = begin_us + limit.length_us;
        const struct wr_step steps[] = {
            {begin_us, 1, false, 2, limit.length_us},
            {begin_us + limit.length_us / 2, 1, false, 1, limit.length_us / 2},
            {end_us - 1, 1, false, 0, 1},
            {end_us - 1, 1, true, 0, 1},
            {end_us, 0, false, 3, limit.length_us},
            {end_us, 3, false, 0, limit.length_us},
            {end_us + 1, 1, true, 0, limit.length_us - 1},
        };

        WR_PLAY(limit, steps);
    }
}

Test(fixed_window, books_a_cost_that_does_not_fit_and_refuses_later_looks)
{
    const struct wr_step steps[] = {
        {S(0), 0, false, 3, S(60)},
        {S(1), 9, true, 0, S(59)},
        {S(2), 0, true, 0, S(58)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(fixed_window, a_refused_hit_is_not_booked_when_only_admitted_ones_are)
{
    const struct wr_step steps[] = {
        {S(0), 2, false, 1, S(60)}, {S(1), 2, true, 0, S(59)},  {S(2), 1, false, 0, S(58)},
        {S(3), 1, true, 0, S(57)},  {S(4), 0, false, 0, S(56)},
    };
    WR_PLAY(three_admitted, steps);
}

Test(fixed_window, look_passes_when_exactly_all_is_used)
{
    const struct wr_step steps[] = {{S(0), 3, false, 0, S(60)}, {S(1), 0, false, 0, S(59)}};
    WR_PLAY(three_a_minute, steps);
}

Test(fixed_window, a_limit_of_nothing_lets_only_looks_pass_until_something_was_booked)
{
    const struct wr_step steps[] = {
        {S(0), 0, false, 0, S(60)},
        {S(1), 1, true, 0, S(59)},
        {S(2), 0, true, 0, S(58)},
    };
    WR_PLAY(nothing_a_minute, steps);
}

Test(fixed_window, a_take_that_comes_late_counts_in_the_newer_window)
{
    const struct wr_step steps[] = {
        {S(120), 3, false, 0, S(60)}, {S(120) - 3, 1, true, 0, S(60)}, {S(119), 1, true, 0, S(60)},
        {S(60), 1, true, 0, S(60)},   {S(121), 0, true, 0, S(59)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(fixed_window, a_window_further_ahead_than_its_length_begins_anew)
{
    const struct wr_step steps[] = {
        {S(120), 3, false, 0, S(60)},
        {S(60) - 1, 1, false, 2, 1},
        {S(60), 1, false, 2, S(60)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(fixed_window, a_refund_gives_back_down_to_nothing_used_and_is_never_over)
{
    const struct wr_step steps[] = {
        {S(0), 5, true, 0, S(60)},    {S(1), -1, false, 0, S(59)}, {S(2), -2, false, 1, S(58)},
        {S(3), -99, false, 3, S(57)}, {S(4), -1, false, 3, S(56)}, {S(5), 3, false, 0, S(55)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(fixed_window, a_refund_in_a_new_window_gives_nothing_back)
{
    const struct wr_step steps[] = {
        {S(0), 3, false, 0, S(60)},
        {S(60), -2, false, 3, S(60)},
        {S(61), 4, true, 0, S(59)},
    };
    WR_PLAY(three_a_minute, steps);
}

Test(fixed_window, a_late_refund_counts_in_the_newer_window)
{
    const struct wr_step steps[] = {
        {S(60), 3, false, 0, S(60)},
        {S(59), -1, false, 1, S(60)},
    };
    WR_PLAY(three_a_minute, steps);
}

static uint64_t used(const struct wr_counter *counter)
{
    return ((const struct wr_fixed_window *) (const void *) counter->words)->used;
}

Test(fixed_window, saturates_instead_of_wrapping)
{
    static const uint64_t hits[] = {UINT64_MAX, WR_COUNT_MAX, WR_COUNT_MAX + 1, UINT64_MAX - 1};

    for (size_t i = 0; i < sizeof hits / sizeof hits[0]; i++) {
        struct wr_counter counter;

        wr_counter_init(&counter, &three_a_minute);
        cr_assert_eq(wr_counter_take(&counter, 2, S(1)).remaining, 1u);
        cr_assert(wr_counter_take(&counter, hits[i], S(1)).over, "row %zu", i);
        cr_assert_eq(used(&counter), WR_COUNT_MAX, "row %zu", i);
        cr_assert(wr_counter_take(&counter, 1, S(2)).over, "row %zu", i);
        cr_assert_eq(used(&counter), WR_COUNT_MAX, "row %zu", i);
        (void) wr_counter_refund(&counter, 1, S(3));
        cr_assert_eq(used(&counter), WR_COUNT_MAX - 1, "row %zu", i);
        (void) wr_counter_refund(&counter, hits[i], S(3));
        cr_assert_eq(used(&counter), 0u, "row %zu", i);
        wr_counter_fini(&counter);
    }
}

Test(fixed_window, the_largest_limit_is_reached_exactly)
{
    const struct wr_limit limit = {.requests = UINT32_MAX, .length_us = S(60)};
    const struct wr_step steps[] = {
        {S(0), UINT32_MAX - 1, false, 1, S(60)},
        {S(1), 1, false, 0, S(59)},
        {S(2), 1, true, 0, S(58)},
    };
    WR_PLAY(limit, steps);
}

Test(fixed_window, a_raised_limit_helps_at_once_and_a_lowered_one_counts_what_was_used)
{
    struct wr_counter counter;

    wr_counter_init(&counter, &three_a_minute);
    (void) wr_counter_take(&counter, 3, S(0));
    counter.limit.requests = 5;
    cr_assert_eq(wr_counter_take(&counter, 1, S(1)).remaining, 1u);
    counter.limit.requests = 2;
    cr_assert(wr_counter_take(&counter, 0, S(2)).over);
    wr_counter_fini(&counter);
}

static const struct wr_limit five_from_first = {
    .requests = 5, .length_us = S(60), .alignment = WR_ALIGN_FIRST_HIT};

/* 5 a minute, hits at 39, 46, 53, 61, 62, 68, 98 and 99.5 s: from the first, and from the epoch. */
Test(fixed_window, a_minute_from_the_first_hit_is_no_minute_of_the_clock)
{
    static const struct wr_limit five = {.requests = 5, .length_us = S(60)};
    static const struct wr_step from_first[] = {
        {S(39), 1, false, 4, S(60)}, {S(46), 1, false, 3, S(53)},
        {S(53), 1, false, 2, S(46)}, {S(61), 1, false, 1, S(38)},
        {S(62), 1, false, 0, S(37)}, {S(68), 1, true, 0, S(31)},
        {S(98), 1, true, 0, S(1)},   {S(99) + 500000, 1, false, 4, S(60)},
    };
    static const struct wr_step from_epoch[] = {
        {S(39), 1, false, 4, S(21)}, {S(46), 1, false, 3, S(14)},
        {S(53), 1, false, 2, S(7)},  {S(61), 1, false, 4, S(59)},
        {S(62), 1, false, 3, S(58)}, {S(68), 1, false, 2, S(52)},
        {S(98), 1, false, 1, S(22)}, {S(99) + 500000, 1, false, 0, S(20) + 500000},
    };

    WR_PLAY(five_from_first, from_first);
    WR_PLAY(five, from_epoch);
}

Test(fixed_window, a_look_or_a_hit_that_is_not_counted_begins_no_window)
{
    struct wr_limit admitted = five_from_first;
    static const struct wr_step steps[] = {
        {S(10), 0, false, 5, S(60)}, {S(20), -1, false, 5, S(60)}, {S(30), 6, true, 0, S(60)},
        {S(40), 1, false, 4, S(60)}, {S(100) - 1, 5, true, 0, 1},  {S(100), 5, false, 0, S(60)},
    };

    admitted.count = WR_COUNT_ADMITTED;
    WR_PLAY(admitted, steps);
}

Test(fixed_window, a_hit_before_the_first_is_late_and_one_of_another_time_begins_anew)
{
    static const struct wr_step steps[] = {
        {S(100), 5, false, 0, S(60)},    {S(100) - 5, 1, true, 0, S(60)},
        {S(40) - 1, 1, false, 4, S(60)}, {S(99) - 1, 0, false, 4, S(1)},
        {S(99) - 1, -9, false, 5, S(1)},
    };

    WR_PLAY(five_from_first, steps);
}

/* In the zone of one transition, an hour east of Greenwich, and from 31 March at 1:00 two. */
static struct wr_zone_transition to_summer[] = {{INT64_MIN, 3600}, {S(1711846800), 7200}};
static const struct wr_zone zone = {2, to_summer};

Test(fixed_window, a_day_of_the_calendar_ends_at_midnight_of_its_zone)
{
    static const struct wr_calendar day = {.unit = WR_UNIT_DAY, .zone = &zone};
    static const struct wr_limit limit = {
        .requests = 3, .length_us = S(86400), .alignment = WR_ALIGN_CALENDAR, .calendar = &day};
    static const struct wr_step steps[] = {
        {S(1711839600), 2, false, 1, S(23 * 3600)},         /* the day has 23 hours */
        {S(1711839600) - 5, 1, false, 0, S(23 * 3600) + 5}, /* late */
        {S(1711922400) - 1, 1, true, 0, 1},
        {S(1711922400), 3, false, 0, S(86400)},
        {S(1711922400), -1, false, 1, S(86400)},
        {S(1712008800), 0, false, 3, S(86400)},
    };

    WR_PLAY(limit, steps);
}

Test(fixed_window, a_month_of_the_calendar_may_be_longer_than_its_unit)
{
    static const struct wr_calendar month = {.unit = WR_UNIT_MONTH, .zone = &zone};
    static const struct wr_limit limit = {.requests = 3,
                                          .length_us = S(30 * 86400),
                                          .alignment = WR_ALIGN_CALENDAR,
                                          .calendar = &month};
    static const struct wr_step steps[] = {
        {S(1709247600), 2, false, 1, S(743 * 3600)}, /* March, an hour short of 31 days */
        {S(1709247601), 1, false, 0, S(743 * 3600) - S(1)},
        {S(1709247602), 1, true, 0, S(743 * 3600) - S(2)},
        {S(1711922400) - 1, 1, true, 0, 1},
        {S(1711922400), 1, false, 2, S(720 * 3600)},
        {S(1706742000), 1, false, 2, S(696 * 3600)}, /* from another time: February */
    };

    WR_PLAY(limit, steps);
}
