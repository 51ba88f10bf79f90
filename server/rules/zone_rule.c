/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/zone_rule.h"

#include <stddef.h>

#define SECONDS_PER_DAY 86400
#define DEFAULT_TIME_S (2 * 3600)
#define MAX_HOURS 167

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What is left of the text. */
struct cursor {
    struct wr_str rest;
};

static char peek(const struct cursor *cursor)
{
    return cursor->rest.len > 0 ? cursor->rest.ptr[0] : '\0';
}

static void skip(struct cursor *cursor)
{
    cursor->rest.ptr++;
    cursor->rest.len--;
}

static bool take(struct cursor *cursor, char c)
{
    if (peek(cursor) != c || cursor->rest.len == 0) {
        return false;
    }
    skip(cursor);
    return true;
}

/* Digits, from `min` to `max`. */
static bool take_number(struct cursor *cursor, int min, int max, int *out_number)
{
    int number = 0;

    if (!is_digit(peek(cursor))) {
        return false;
    }
    while (is_digit(peek(cursor)) && number <= max) {
        number = number * 10 + (peek(cursor) - '0');
        skip(cursor);
    }
    *out_number = number;
    return number >= min && number <= max;
}

/* A name of the clock: letters, or anything in <>. */
static bool take_name(struct cursor *cursor)
{
    size_t n = 0;

    if (take(cursor, '<')) {
        while (cursor->rest.len > 0 && peek(cursor) != '>') {
            skip(cursor);
            n++;
        }
        return n > 0 && take(cursor, '>');
    }
    while (is_letter(peek(cursor))) {
        skip(cursor);
        n++;
    }
    return n > 0;
}

/* [+-]hours[:minutes[:seconds]] */
static bool take_time(struct cursor *cursor, int32_t *out_s)
{
    const bool is_negative = take(cursor, '-');
    int parts[3] = {0};

    if (!is_negative) {
        (void) take(cursor, '+');
    }
    if (!take_number(cursor, 0, MAX_HOURS, &parts[0])) {
        return false;
    }
    for (size_t i = 1; i < 3 && take(cursor, ':'); i++) {
        if (!take_number(cursor, 0, 59, &parts[i])) {
            return false;
        }
    }

    const int32_t s = parts[0] * 3600 + parts[1] * 60 + parts[2];

    *out_s = is_negative ? -s : s;
    return true;
}

/* ,Mmonth.week.day[/time] */
static bool take_day(struct cursor *cursor, struct wr_zone_day *out_day)
{
    out_day->time_s = DEFAULT_TIME_S;
    return take(cursor, ',') && take(cursor, 'M') && take_number(cursor, 1, 12, &out_day->month) &&
           take(cursor, '.') && take_number(cursor, 1, 5, &out_day->week) && take(cursor, '.') &&
           take_number(cursor, 0, 6, &out_day->weekday) &&
           (!take(cursor, '/') || take_time(cursor, &out_day->time_s));
}

bool wr_zone_rule_parse(struct wr_str text, struct wr_zone_rule *out_rule)
{
    struct cursor cursor = {.rest = text};
    struct wr_zone_rule rule = {0};
    int32_t west_s;

    if (!take_name(&cursor) || !take_time(&cursor, &west_s)) {
        return false;
    }
    rule.standard_s = -west_s;
    if (cursor.rest.len > 0) {
        rule.has_summer = true;
        rule.summer_s = rule.standard_s + 3600;
        if (!take_name(&cursor)) {
            return false;
        }
        if (peek(&cursor) != ',') {
            if (!take_time(&cursor, &west_s)) {
                return false;
            }
            rule.summer_s = -west_s;
        }
        if (!take_day(&cursor, &rule.begin) || !take_day(&cursor, &rule.end) ||
            cursor.rest.len > 0) {
            return false;
        }
    }
    *out_rule = rule;
    return true;
}

/* Years from March on, so that the odd day is the last one; 400 of them have 146097 days. */
int64_t wr_zone_days(int year, int month, int day)
{
    const int64_t y = month <= 2 ? year - 1 : year;
    const int64_t m = (month + 9) % 12;

    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

int64_t wr_zone_day_moment_s(const struct wr_zone_day *day, int year, int32_t offset_s)
{
    const int64_t first = wr_zone_days(year, day->month, 1);
    const int64_t next =
        day->month == 12 ? wr_zone_days(year + 1, 1, 1) : wr_zone_days(year, day->month + 1, 1);
    /* 1970-01-01 was a Thursday */
    const int64_t first_weekday = (first + 4) % 7;
    int64_t date = first + (day->weekday - first_weekday + 7) % 7 + 7 * (day->week - 1);

    if (date >= next) {
        date -= 7;
    }
    return date * SECONDS_PER_DAY + day->time_s - offset_s;
}
