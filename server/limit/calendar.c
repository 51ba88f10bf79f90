/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/calendar.h"

#define US_PER_S INT64_C(1000000)
#define US_PER_DAY (INT64_C(86400) * US_PER_S)

/* The epoch was a Thursday. */
#define DAYS_TO_MONDAY 3

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0 ? 1 : 0);
}

/* A zone with one offset at least. */
static const struct wr_zone *zone_of(const struct wr_calendar *calendar)
{
    static struct wr_zone_transition at_utc = {.from_us = INT64_MIN};
    static const struct wr_zone utc = {.n = 1, .transitions = &at_utc};

    return calendar->zone == NULL || calendar->zone->n == 0 ? &utc : calendar->zone;
}

/* The last transition at or before `wall_us`; the first when there is none. */
static size_t transition_at(const struct wr_zone *zone, int64_t wall_us)
{
    size_t low = 0, high = zone->n;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (zone->transitions[middle].from_us <= wall_us) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

static int64_t offset_us(const struct wr_zone *zone, size_t i)
{
    return zone->transitions[i].offset_s * US_PER_S;
}

/* The first moment at which the zone's clocks show `local_us` or later. */
static int64_t moment_of(const struct wr_zone *zone, int64_t local_us)
{
    size_t i = transition_at(zone, local_us - WR_ZONE_OFFSET_MAX_S * US_PER_S);

    for (;; i++) {
        const int64_t shown_us = local_us - offset_us(zone, i);

        if (i + 1 == zone->n || shown_us < zone->transitions[i + 1].from_us) {
            const int64_t from_us = zone->transitions[i].from_us;

            return i == 0 || shown_us > from_us ? shown_us : from_us;
        }
    }
}

struct date {
    int64_t year;
    int64_t month; /* 1 to 12 */
};

/* Hinnant's civil_from_days, without the day; years begin in March inside. */
static struct date date_of(int64_t days)
{
    const int64_t shifted = days + 719468;
    const int64_t era = floor_div(shifted, 146097);
    const int64_t day_of_era = shifted - era * 146097;
    const int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const int64_t shifted_month = (5 * day_of_year + 2) / 153;
    const int64_t month = shifted_month < 10 ? shifted_month + 3 : shifted_month - 9;

    return (struct date){.year = year_of_era + era * 400 + (month <= 2 ? 1 : 0), .month = month};
}

/* Hinnant's days_from_civil. */
int64_t wr_calendar_days_of(int64_t year, int64_t month)
{
    const int64_t y = year + (month > 12 ? 1 : 0) - ((month - 1) % 12 + 1 <= 2 ? 1 : 0);
    const int64_t m = (month - 1) % 12 + 1;
    const int64_t era = floor_div(y, 400);
    const int64_t year_of_era = y - era * 400;
    const int64_t day_of_year = (153 * (m > 2 ? m - 3 : m + 9) + 2) / 5;

    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
           719468;
}

/* Days since the epoch. */
struct days {
    int64_t first, next; /* of the unit, and of the one after it */
};

static struct days unit_around(enum wr_unit unit, int64_t day)
{
    const struct date date = date_of(day);
    const int64_t monday = floor_div(day + DAYS_TO_MONDAY, 7) * 7 - DAYS_TO_MONDAY;

    switch (unit) {
    case WR_UNIT_WEEK:
        return (struct days){monday, monday + 7};
    case WR_UNIT_MONTH:
        return (struct days){wr_calendar_days_of(date.year, date.month),
                             wr_calendar_days_of(date.year, date.month + 1)};
    case WR_UNIT_YEAR:
        return (struct days){wr_calendar_days_of(date.year, 1),
                             wr_calendar_days_of(date.year + 1, 1)};
    case WR_UNIT_UNKNOWN:
    case WR_UNIT_SECOND:
    case WR_UNIT_MINUTE:
    case WR_UNIT_HOUR:
    case WR_UNIT_DAY:
        break;
    }
    return (struct days){day, day + 1};
}

/* Clocks that go back over a midnight show the day before once more: that is of the new window. */
struct wr_calendar_window wr_calendar_window_of(const struct wr_calendar *calendar, int64_t wall_us)
{
    const struct wr_zone *const zone = zone_of(calendar);
    const int64_t local_us = wall_us + offset_us(zone, transition_at(zone, wall_us));
    struct days days = unit_around(calendar->unit, floor_div(local_us, US_PER_DAY));
    int64_t end_us = moment_of(zone, days.next * US_PER_DAY);

    while (end_us <= wall_us) {
        days = unit_around(calendar->unit, days.next);
        end_us = moment_of(zone, days.next * US_PER_DAY);
    }
    return (struct wr_calendar_window){
        .start_us = moment_of(zone, days.first * US_PER_DAY),
        .end_us = end_us,
    };
}
