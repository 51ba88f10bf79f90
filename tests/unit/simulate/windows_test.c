/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/windows.h"

#include <criterion/criterion.h>

#include "limit/calendar.h"

#define S(seconds) (INT64_C(1000000) * (seconds))
#define DAY S(86400)
#define NEW_YEAR S(INT64_C(1767225600)) /* 2026-01-01 */

static const struct wr_calendar months = {.unit = WR_UNIT_MONTH};

Test(simulate_windows, of_a_limit)
{
    static const struct wr_limit limit = {
        .length_us = 30 * DAY, .alignment = WR_ALIGN_CALENDAR, .calendar = &months};
    static const struct wr_limit at_hit = {.length_us = S(60), .alignment = WR_ALIGN_FIRST_HIT};
    const struct wr_rate own = {.hits = 5, .per_us = 30 * DAY}, minute = {5, S(60)};

    cr_assert_eq(wr_sim_windows_of(&limit, &own).calendar, &months);
    cr_assert_null(wr_sim_windows_of(&limit, &minute).calendar);
    cr_assert(wr_sim_windows_of(&at_hit, &minute).begin_at_hit);
    cr_assert_not(wr_sim_windows_of(&at_hit, &own).begin_at_hit);
}

Test(simulate_windows, follow_one_another)
{
    const struct {
        struct wr_sim_windows windows;
        int64_t wall_us, next_us, length_us;
    } rows[] = {
        {{.length_us = S(60)}, S(60), S(60), S(60)},
        {{.length_us = S(60)}, S(60) + 1, S(120), S(60)},
        {{.length_us = S(660)}, NEW_YEAR, NEW_YEAR + S(300), S(660)},
        {{.length_us = 30 * DAY, .calendar = &months}, NEW_YEAR, NEW_YEAR, 31 * DAY},
        {{.length_us = 30 * DAY, .calendar = &months}, NEW_YEAR + 1, NEW_YEAR + 31 * DAY, 28 * DAY},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const int64_t next_us = wr_sim_windows_next(&rows[i].windows, rows[i].wall_us);

        cr_assert_eq(next_us, rows[i].next_us, "row %zu: %ld", i, (long) next_us);
        cr_assert_eq(wr_sim_windows_length(&rows[i].windows, next_us), rows[i].length_us, "row %zu",
                     i);
    }
}
