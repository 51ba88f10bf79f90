/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule by which a zone goes on after the changes that are listed, as the last line of its file
 * has it: TZ of POSIX with days as Mmonth.week.day, which is all that the database uses, for
 * example CET-1CEST,M3.5.0,M10.5.0/3.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_ZONE_RULE_H
#define WR_RULES_ZONE_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* When something happens each year. */
struct wr_zone_day {
    int month;      /* 1 to 12 */
    int week;       /* 1 to 5, which is the last */
    int weekday;    /* 0: Sunday */
    int32_t time_s; /* of the clock as it is before, after midnight; may be out of the day */
};

struct wr_zone_rule {
    int32_t standard_s; /* east of UTC */
    bool has_summer;
    int32_t summer_s;
    struct wr_zone_day begin, end; /* of summer time */
};

/* False when `text` is not such a rule. */
bool wr_zone_rule_parse(struct wr_str text, struct wr_zone_rule *out_rule);

/* The moment of `day` in `year`, when the clock is `offset_s` east of UTC. */
int64_t wr_zone_day_moment_s(const struct wr_zone_day *day, int year, int32_t offset_s);

/* The days from 1970-01-01 to that date of the Gregorian calendar. */
int64_t wr_zone_days(int year, int month, int day);

#endif
