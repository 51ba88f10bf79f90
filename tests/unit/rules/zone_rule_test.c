/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/zone_rule.h"

#include <criterion/criterion.h>

Test(zone_rule, rules_of_the_database_are_read)
{
    static const struct {
        const char *text;
        int32_t standard_s, summer_s;
        bool has_summer;
    } rows[] = {
        {"UTC0", 0, 0, false},
        {"CET-1CEST,M3.5.0,M10.5.0/3", 3600, 7200, true},
        {"EST5EDT,M3.2.0,M11.1.0", -18000, -14400, true},
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 37800, 39600, true},
        {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", -7200, -3600, true},
        {"IST-2IDT,M3.4.4/26,M10.5.0", 7200, 10800, true},
        {"IST-1GMT0,M10.5.0,M3.5.0/1", 3600, 0, true},
        {"<+0545>-5:45", 20700, 0, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_zone_rule rule;

        cr_assert(wr_zone_rule_parse(wr_str_of(rows[i].text), &rule), "%s", rows[i].text);
        cr_assert_eq(rule.standard_s, rows[i].standard_s, "%s", rows[i].text);
        cr_assert_eq(rule.summer_s, rows[i].summer_s, "%s", rows[i].text);
        cr_assert_eq(rule.has_summer, rows[i].has_summer, "%s", rows[i].text);
    }
}

Test(zone_rule, what_is_no_rule_is_refused)
{
    static const char *const rows[] = {"",
                                       "CET",
                                       "-1",
                                       "<>-1",
                                       "<CET-1",
                                       "CET-1CEST",
                                       "CET-1CEST,M3.5.0",
                                       "CET-1CEST,M3.5.0,M13.5.0",
                                       "CET-1CEST,M3.5.0,M10.6.0",
                                       "CET-1CEST,M3.5.0,M10.5.7",
                                       "CET-1CEST,M3.5.0,M10.5.0/3x",
                                       "CET-1CEST,J60,J300",
                                       "CET-168",
                                       "CET-1:60",
                                       "CET-1:00:00:00"};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_zone_rule rule;

        cr_assert_not(wr_zone_rule_parse(wr_str_of(rows[i]), &rule), "%s", rows[i]);
    }
}

Test(zone_rule, days_of_a_year_are_found)
{
    static const struct {
        struct wr_zone_day day;
        int year;
        int32_t offset_s;
        int64_t moment_s;
    } rows[] = {
        /* 2026-03-29 01:00 UTC, and 2026-10-25 01:00 UTC */
        {{.month = 3, .week = 5, .weekday = 0, .time_s = 7200}, 2026, 3600, 1774746000},
        {{.month = 10, .week = 5, .weekday = 0, .time_s = 10800}, 2026, 7200, 1792890000},
        /* 2024-03-10 07:00 UTC */
        {{.month = 3, .week = 2, .weekday = 0, .time_s = 7200}, 2024, -18000, 1710054000},
        /* 2024-12-31 00:00 UTC, a Tuesday */
        {{.month = 12, .week = 5, .weekday = 2, .time_s = 0}, 2024, 0, 1735603200},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_zone_day_moment_s(&rows[i].day, rows[i].year, rows[i].offset_s),
                     rows[i].moment_s, "row %zu", i);
    }
}

Test(zone_rule, days_are_counted_by_the_calendar)
{
    cr_assert_eq(wr_zone_days(1970, 1, 1), 0);
    cr_assert_eq(wr_zone_days(1969, 12, 31), -1);
    cr_assert_eq(wr_zone_days(2000, 2, 29), 11016);
    cr_assert_eq(wr_zone_days(2000, 3, 1), 11017);
    cr_assert_eq(wr_zone_days(2026, 11, 30), 20787);
    cr_assert_eq(wr_zone_days(2100, 3, 1), 47541);
}
