/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Days, weeks, months and years as people of a time zone know them: from midnight to midnight by
 * their clocks, though those are put forward and back. A day then has 23 or 25 hours; one whose
 * midnight was left out begins when the clocks go on, and one that has two begins at the first.
 * Weeks begin on Monday.
 *
 * Whoever loads rules fills the zones; here they are data.
 * Source: the algorithms of H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", for dates of
 * the proleptic Gregorian calendar.
 * Threads: pure functions of immutable values.
 */
#ifndef WR_LIMIT_CALENDAR_H
#define WR_LIMIT_CALENDAR_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "limit/unit.h"

/* The longest way of a zone's clocks from UTC. */
#define WR_ZONE_OFFSET_MAX_S 93600

/* From `from_us` on, since the Unix epoch, clocks show UTC and `offset_s` seconds. */
struct wr_zone_transition {
    int64_t from_us;
    int32_t offset_s; /* at most WR_ZONE_OFFSET_MAX_S either way */
};

/* The first transition holds for all time before it, too. None at all is UTC. */
struct wr_zone {
    size_t n;
    struct wr_zone_transition *transitions; /* in order of time; owned by whoever loaded it */
};

struct wr_calendar {
    enum wr_unit unit;          /* week, month or year; a day otherwise */
    const struct wr_zone *zone; /* borrowed; NULL is UTC */
    struct wr_str zone_name;    /* borrowed; empty is UTC */
};

struct wr_calendar_window {
    int64_t start_us, end_us; /* since the Unix epoch; the end is not part of it */
};

/* The window that `wall_us`, >= 0, is in. */
struct wr_calendar_window wr_calendar_window_of(const struct wr_calendar *calendar,
                                                int64_t wall_us);

/* Days from the Unix epoch to the first of `month`, 1 to 13, of `year`. */
int64_t wr_calendar_days_of(int64_t year, int64_t month);

#endif
