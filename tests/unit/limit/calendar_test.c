/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/calendar.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#define S(seconds) ((int64_t) (seconds) *1000000)

/* As in the IANA time zone database, for the years that are asked about. */
static struct wr_zone_transition paris_times[] = {
    {S(1704067200), 3600}, {S(1711846800), 7200}, {S(1729990800), 3600}, {S(1743296400), 7200},
    {S(1761440400), 3600}, {S(1774746000), 7200}, {S(1792890000), 3600},
};
static struct wr_zone_transition sao_paulo_times[] = {
    {S(1496275200), -10800}, {S(1508036400), -7200},  {S(1518919200), -10800},
    {S(1541300400), -7200},  {S(1550368800), -10800},
};
static struct wr_zone_transition apia_times[] = {
    {S(1306886400), -39600}, {S(1316872800), -36000}, {S(1325239200), 50400},
    {S(1333202400), 46800},  {S(1348927200), 50400},
};
static struct wr_zone_transition kathmandu_times[] = {
    {S(1704067200), 20700},
};
static struct wr_zone_transition st_johns_times[] = {
    {S(1262304000), -12600},
    {S(1268537460), -9000},
    {S(1289097060), -12600},
};

#define ZONE(name)                                                                                 \
    static const struct wr_zone name = {sizeof name##_times / sizeof name##_times[0], name##_times}

ZONE(paris);
ZONE(sao_paulo); /* clocks change at midnight */
ZONE(apia);      /* left out a day at the end of 2011 */
ZONE(kathmandu);
ZONE(st_johns); /* clocks go back a minute after midnight */

static const struct {
    const struct wr_zone *zone;
    enum wr_unit unit;
    int64_t wall_us, start_us, end_us;
} rows[] = {
    {&paris, WR_UNIT_DAY, S(1711845000), S(1711839600),
     S(1711922400)}, /* Sun 2024-03-31 01:30: 23 h */
    {&paris, WR_UNIT_DAY, S(1711924200), S(1711922400),
     S(1712008800)}, /* Mon 2024-04-01 00:30: 24 h */
    {&paris, WR_UNIT_DAY, S(1730030400), S(1729980000),
     S(1730070000)}, /* Sun 2024-10-27 13:00: 25 h */
    {&paris, WR_UNIT_WEEK, S(1711886400), S(1711321200),
     S(1711922400)}, /* Sun 2024-03-31 14:00: 167 h */
    {&paris, WR_UNIT_WEEK, S(1711929600), S(1711922400),
     S(1712527200)}, /* Mon 2024-04-01 02:00: 168 h */
    {&paris, WR_UNIT_MONTH, S(1711922340), S(1709247600),
     S(1711922400)}, /* Sun 2024-03-31 23:59: 743 h */
    {&paris, WR_UNIT_MONTH, S(1711922400), S(1711922400),
     S(1714514400)}, /* Mon 2024-04-01 00:00: 720 h */
    {&paris, WR_UNIT_MONTH, S(1709208000), S(1706742000),
     S(1709247600)}, /* Thu 2024-02-29 13:00: 696 h */
    {&paris, WR_UNIT_YEAR, S(1735685940), S(1704063600),
     S(1735686000)}, /* Tue 2024-12-31 23:59: 8784 h */
    {&paris, WR_UNIT_YEAR, S(1735686000), S(1735686000),
     S(1767222000)}, /* Wed 2025-01-01 00:00: 8760 h */
    {&sao_paulo, WR_UNIT_DAY, S(1518917400), S(1518832800),
     S(1518922800)}, /* Sat 2018-02-17 23:30: 25 h */
    {&sao_paulo, WR_UNIT_DAY, S(1518921000), S(1518832800),
     S(1518922800)}, /* Sat 2018-02-17 23:30: 25 h */
    {&sao_paulo, WR_UNIT_DAY, S(1541298600), S(1541214000),
     S(1541300400)}, /* Sat 2018-11-03 23:30: 24 h */
    {&sao_paulo, WR_UNIT_DAY, S(1541300400), S(1541300400),
     S(1541383200)}, /* Sun 2018-11-04 01:00: 23 h */
    {&sao_paulo, WR_UNIT_WEEK, S(1541332800), S(1540782000),
     S(1541383200)}, /* Sun 2018-11-04 10:00: 167 h */
    {&sao_paulo, WR_UNIT_MONTH, S(1542240000), S(1541041200),
     S(1543629600)}, /* Wed 2018-11-14 22:00: 719 h */
    {&apia, WR_UNIT_DAY, S(1325239140), S(1325152800),
     S(1325239200)}, /* Thu 2011-12-29 23:59: 24 h */
    {&apia, WR_UNIT_DAY, S(1325239200), S(1325239200),
     S(1325325600)}, /* Sat 2011-12-31 00:00: 24 h */
    {&apia, WR_UNIT_WEEK, S(1325116800), S(1324893600),
     S(1325412000)}, /* Wed 2011-12-28 14:00: 144 h */
    {&apia, WR_UNIT_MONTH, S(1323907200), S(1322733600),
     S(1325325600)}, /* Wed 2011-12-14 14:00: 720 h */
    {&kathmandu, WR_UNIT_DAY, S(1714932840), S(1714846500),
     S(1714932900)}, /* Sun 2024-05-05 23:59: 24 h */
    {&kathmandu, WR_UNIT_DAY, S(1714932900), S(1714932900),
     S(1715019300)}, /* Mon 2024-05-06 00:00: 24 h */
    {&st_johns, WR_UNIT_DAY, S(1289097000), S(1289097000),
     S(1289187000)}, /* Sun 2010-11-07 00:00: 25 h */
    {&st_johns, WR_UNIT_DAY, S(1289097060), S(1289097000),
     S(1289187000)}, /* Sat 2010-11-06 23:01: 25 h */
    {&st_johns, WR_UNIT_DAY, S(1289100600), S(1289097000),
     S(1289187000)}, /* Sun 2010-11-07 00:00: 25 h */
    {&st_johns, WR_UNIT_DAY, S(1289100660), S(1289097000),
     S(1289187000)}, /* Sun 2010-11-07 00:01: 25 h */
    {NULL, WR_UNIT_DAY, S(0), S(0), S(86400)},
    {NULL, WR_UNIT_WEEK, S(0), S(-3 * 86400), S(4 * 86400)},
    {NULL, WR_UNIT_YEAR, S(951782400), S(946684800), S(978307200)},     /* 29 February 2000 */
    {NULL, WR_UNIT_MONTH, S(4107542399), S(4105123200), S(4107542400)}, /* no 29 February 2100 */
};

Test(calendar, windows_are_those_of_the_zones_clocks)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_calendar calendar = {.unit = rows[i].unit, .zone = rows[i].zone};
        const struct wr_calendar_window got = wr_calendar_window_of(&calendar, rows[i].wall_us);

        cr_assert_eq(got.start_us, rows[i].start_us, "row %zu: begins at %" PRId64, i,
                     got.start_us);
        cr_assert_eq(got.end_us, rows[i].end_us, "row %zu: ends at %" PRId64, i, got.end_us);
    }
}

/* Each begins where the last one ended, and both ends find themselves. */
static void assert_chain(const struct wr_calendar *calendar, int64_t from_us, int64_t to_us)
{
    struct wr_calendar_window window = wr_calendar_window_of(calendar, from_us);
    int n = 0;

    while (window.end_us < to_us) {
        const struct wr_calendar_window next = wr_calendar_window_of(calendar, window.end_us);
        const struct wr_calendar_window last = wr_calendar_window_of(calendar, next.end_us - 1);

        cr_assert_eq(next.start_us, window.end_us, "at %" PRId64, window.end_us);
        cr_assert_gt(next.end_us, next.start_us);
        cr_assert_eq(last.start_us, next.start_us, "at %" PRId64, next.end_us - 1);
        cr_assert_eq(last.end_us, next.end_us, "at %" PRId64, next.end_us - 1);
        window = next;
        n++;
    }
    cr_assert_gt(n, 0);
}

Test(calendar, windows_follow_one_another_without_a_gap)
{
    static const struct wr_zone *const zones[] = {&paris,     &sao_paulo, &apia,
                                                  &kathmandu, &st_johns,  NULL};
    static const enum wr_unit units[] = {WR_UNIT_DAY, WR_UNIT_WEEK, WR_UNIT_MONTH, WR_UNIT_YEAR};

    for (size_t i = 0; i < sizeof zones / sizeof zones[0]; i++) {
        for (size_t k = 0; k < sizeof units / sizeof units[0]; k++) {
            const struct wr_calendar calendar = {.unit = units[k], .zone = zones[i]};

            assert_chain(&calendar, S(1200000000), S(1800000000));
        }
    }
}

Test(calendar, a_zone_without_transitions_is_utc)
{
    static const struct wr_zone none = {0};
    const struct wr_calendar calendar = {.unit = WR_UNIT_DAY, .zone = &none};

    cr_assert_eq(wr_calendar_window_of(&calendar, S(86400) - 1).end_us, S(86400));
}

/* The moments from 0:00 to 23:59 and back, in the night when it strikes twelve twice. */
Test(calendar, every_moment_is_in_its_window)
{
    const struct wr_calendar calendar = {.unit = WR_UNIT_DAY, .zone = &st_johns};

    for (int64_t at_s = 1289090000; at_s < 1289110000; at_s += 7) {
        const struct wr_calendar_window window = wr_calendar_window_of(&calendar, S(at_s));

        cr_assert(window.start_us <= S(at_s) && S(at_s) < window.end_us, "at %" PRId64, at_s);
    }
}

Test(calendar, days_of_the_first_of_a_month)
{
    static const struct {
        int64_t year, month, days;
    } firsts[] = {
        {1970, 1, 0},     {1970, 2, 31},    {1969, 12, -31},   {2000, 3, 11017},
        {2024, 3, 19783}, {2026, 1, 20454}, {2025, 13, 20454}, {2100, 3, 47541},
    };

    for (size_t i = 0; i < sizeof firsts / sizeof firsts[0]; i++) {
        cr_assert_eq(wr_calendar_days_of(firsts[i].year, firsts[i].month), firsts[i].days,
                     "row %zu", i);
    }
}
