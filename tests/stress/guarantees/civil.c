/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* timegm, tzset */

#include "tests/stress/guarantees/civil.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "limit/unit.h"
#include "rules/zone.h"
#include "tests/stress/crew.h"
#include "tests/stress/guarantees/rule.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

/* 2001 to 2036, of which all zones know the changes. */
#define EARLIEST S(978307200)
#define LATEST S(2082758400)

/* Some put their clocks forward at midnight, one by half an hour, one left out a day in 2011. */
static const char *const names[WR_CIVIL_ZONES] = {
    "Europe/Paris", "America/New_York",    "America/Havana", "America/Santiago",
    "Asia/Beirut",  "Australia/Lord_Howe", "Pacific/Apia",
};

static const enum wr_unit units[WR_CIVIL_UNITS] = {WR_UNIT_DAY, WR_UNIT_WEEK, WR_UNIT_MONTH,
                                                   WR_UNIT_YEAR};

void wr_civil_init(struct wr_civil *civil)
{
    memset(civil, 0, sizeof *civil);
    wr_arena_init(&civil->arena, 4096);
    for (unsigned i = 0; i < WR_CIVIL_ZONES; i++) {
        wr_check(wr_zone_load(&civil->arena, wr_str_of(names[i]), &civil->zones[i]) == WR_ZONE_GOOD,
                 "no zone %s", names[i]);
        for (unsigned k = 0; k < WR_CIVIL_UNITS; k++) {
            civil->calendars[i][k].unit = units[k];
            civil->calendars[i][k].zone = &civil->zones[i];
        }
    }
}

void wr_civil_fini(struct wr_civil *civil)
{
    wr_arena_fini(&civil->arena);
}

const struct wr_calendar *wr_civil_choose(struct wr_civil *civil, unsigned zone, unsigned unit)
{
    const struct wr_calendar *const chosen = &civil->calendars[zone][unit];

    if (civil->current == NULL || civil->current->zone != chosen->zone) {
        wr_check(setenv("TZ", names[zone], 1) == 0, "no memory");
        tzset();
    }
    civil->current = chosen;
    return chosen;
}

int64_t wr_civil_moment(const struct wr_civil *civil, uint64_t *random)
{
    const struct wr_zone *const zone = civil->current->zone;
    const int64_t length_us = wr_unit_length_us(civil->current->unit);
    const size_t i = (size_t) wr_draw_between(random, 0, (int64_t) zone->n - 1);
    const int64_t change_us = zone->transitions[i].from_us;

    if (change_us > EARLIEST && change_us < LATEST && wr_draw_between(random, 1, 2) == 1) {
        return change_us + wr_draw_between(random, -length_us, length_us);
    }
    return wr_draw_between(random, EARLIEST, LATEST);
}

int64_t wr_civil_span(void *context, int64_t at_us)
{
    const struct wr_civil *const civil = context;
    const time_t at_s = (time_t) (at_us / S(1));
    struct tm local;

    wr_check(localtime_r(&at_s, &local) != NULL, "no local time");

    struct tm date = {.tm_year = local.tm_year, .tm_mon = local.tm_mon, .tm_mday = local.tm_mday};
    const int64_t day = timegm(&date) / 86400;

    switch (civil->current->unit) {
    case WR_UNIT_WEEK:
        return day - (local.tm_wday + 6) % 7;
    case WR_UNIT_MONTH:
        return local.tm_year * 12 + local.tm_mon;
    case WR_UNIT_YEAR:
        return local.tm_year;
    case WR_UNIT_UNKNOWN:
    case WR_UNIT_SECOND:
    case WR_UNIT_MINUTE:
    case WR_UNIT_HOUR:
    case WR_UNIT_DAY:
        break;
    }
    return day;
}
