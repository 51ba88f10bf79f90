/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calendars of some time zones, with their changes of clocks, and a witness of which day, week,
 * month or year a moment is in that shares no code with them: the C library's own local time.
 *
 * Threads: one thread, since the local time of a process is global.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_CIVIL_H
#define WR_TESTS_STRESS_GUARANTEES_CIVIL_H

#include <stdint.h>

#include "base/arena.h"
#include "limit/calendar.h"

#define WR_CIVIL_ZONES 7
#define WR_CIVIL_UNITS 4

struct wr_civil {
    struct wr_arena arena;
    struct wr_zone zones[WR_CIVIL_ZONES];
    struct wr_calendar calendars[WR_CIVIL_ZONES][WR_CIVIL_UNITS];
    const struct wr_calendar *current;
};

void wr_civil_init(struct wr_civil *civil);

void wr_civil_fini(struct wr_civil *civil);

/* Makes the calendar of that zone and unit the current one, of the C library, too. */
const struct wr_calendar *wr_civil_choose(struct wr_civil *civil, unsigned zone, unsigned unit);

/* A moment, and half of the time one within a window of a change of clocks. */
int64_t wr_civil_moment(const struct wr_civil *civil, uint64_t *random);

/* The number of the current calendar's window at that moment, by the witness. */
int64_t wr_civil_span(void *civil, int64_t at_us);

#endif
