/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/windows.h"

#include "limit/calendar.h"

struct wr_sim_windows wr_sim_windows_of(const struct wr_limit *limit, const struct wr_rate *against)
{
    struct wr_sim_windows windows = {.length_us = against->per_us};

    if (against->per_us == limit->length_us) {
        windows.calendar = limit->calendar;
        windows.begin_at_hit = limit->alignment == WR_ALIGN_FIRST_HIT;
    }
    return windows;
}

int64_t wr_sim_windows_next(const struct wr_sim_windows *windows, int64_t wall_us)
{
    if (windows->calendar != NULL) {
        const struct wr_calendar_window window = wr_calendar_window_of(windows->calendar, wall_us);

        return window.start_us == wall_us ? wall_us : window.end_us;
    }

    const int64_t over_us = wall_us % windows->length_us;

    return over_us == 0 ? wall_us : wall_us - over_us + windows->length_us;
}

int64_t wr_sim_windows_length(const struct wr_sim_windows *windows, int64_t wall_us)
{
    return wr_sim_windows_next(windows, wall_us + 1) - wall_us;
}
