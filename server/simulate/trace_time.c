/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/trace_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/number.h"
#include "limit/calendar.h"

#define US_PER_S INT64_C(1000000)
#define END_S INT64_C(7258118400) /* 2200-01-01 */
#define N_CLOCK (sizeof "YYYY-MM-DDThh:mm:ss" - 1)

/* What a number means from how much on; each kind ends where its years do. */
static const struct scale {
    uint64_t from;
    int64_t us; /* of one; 0: a thousandth */
} scales[] = {
    {UINT64_C(1000000000000000000), 0},
    {UINT64_C(1000000000000000), 1},
    {UINT64_C(1000000000000), 1000},
    {UINT64_C(1000000000), US_PER_S},
    {0, US_PER_S},
};

/* What a point and digits come to, of a whole that is `us`. False for no such. */
static bool parse_fraction(struct wr_str text, int64_t us, int64_t *out_us)
{
    *out_us = 0;
    if (text.len == 0) {
        return true;
    }
    if (text.ptr[0] != '.' || text.len == 1 ||
        wr_number_digits(wr_str_skip(text, 1)) != text.len - 1) {
        return false;
    }
    for (size_t i = 1; i < text.len; i++) {
        us /= 10;
        *out_us += us * (text.ptr[i] - '0');
    }
    return true;
}

static enum wr_trace_time_fault parse_number(struct wr_str text, struct wr_trace_time *out_time)
{
    const size_t n_digits = wr_number_digits(text);
    const struct wr_str fraction = wr_str_skip(text, n_digits);
    const struct scale *scale = scales;
    uint64_t whole = 0;
    int64_t fraction_us = 0;

    if (!wr_number_parse(wr_str_part(text, 0, n_digits), UINT64_MAX, &whole)) {
        return n_digits == 0 ? WR_TRACE_TIME_NONE : WR_TRACE_TIME_FAR;
    }
    while (whole < scale->from) {
        scale++;
    }
    if (!parse_fraction(fraction, scale->us, &fraction_us)) {
        return WR_TRACE_TIME_NONE;
    }

    const uint64_t most = scale->us == 0 ? UINT64_MAX : (uint64_t) (END_S * US_PER_S / scale->us);
    const int64_t us = scale->us == 0 ? (int64_t) (whole / 1000) : (int64_t) whole * scale->us;

    if (whole >= most || us >= END_S * US_PER_S) {
        return WR_TRACE_TIME_FAR;
    }
    *out_time = (struct wr_trace_time){.is_dated = scale->from > 0, .us = us + fraction_us};
    return WR_TRACE_TIME_GOOD;
}

/* A number of `len` digits at `from`, up to `max`, and what stands behind it. */
static bool parse_digits(struct wr_str text, size_t from, size_t len, uint64_t max, int64_t *out)
{
    uint64_t number = 0;

    if (text.len < from + len ||
        !wr_number_parse(wr_str_part(text, from, from + len), max, &number)) {
        return false;
    }
    *out = (int64_t) number;
    return true;
}

/* YYYY-MM-DD, in days since the epoch. */
static bool parse_date(struct wr_str text, int64_t *out_days)
{
    int64_t year = 0, month = 0, day = 0;

    if (!parse_digits(text, 0, 4, 9999, &year) || !parse_digits(text, 5, 2, 12, &month) ||
        !parse_digits(text, 8, 2, 31, &day) || text.ptr[4] != '-' || text.ptr[7] != '-' ||
        month < 1 || day < 1) {
        return false;
    }

    const int64_t first = wr_calendar_days_of(year, month);

    *out_days = first + day - 1;
    return *out_days < wr_calendar_days_of(year, month + 1);
}

/* Z, or +HH:MM, in seconds that are to be taken off. */
static bool parse_zone(struct wr_str text, int64_t *out_offset_s)
{
    int64_t hours = 0, minutes = 0;

    *out_offset_s = 0;
    if (text.len == 1) {
        return text.ptr[0] == 'Z' || text.ptr[0] == 'z';
    }
    if (text.len != 6 || (text.ptr[0] != '+' && text.ptr[0] != '-') || text.ptr[3] != ':' ||
        !parse_digits(text, 1, 2, 23, &hours) || !parse_digits(text, 4, 2, 59, &minutes)) {
        return false;
    }
    *out_offset_s = (text.ptr[0] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    return true;
}

static enum wr_trace_time_fault fault_of_zone(struct wr_str text)
{
    const bool has_sign = text.len > 0 && (text.ptr[0] == '+' || text.ptr[0] == '-');
    const size_t n_digits = has_sign ? wr_number_digits(wr_str_skip(text, 1)) : 0;

    if (text.len == 0) {
        return WR_TRACE_TIME_NO_ZONE;
    }
    return n_digits + 1 == text.len && (n_digits == 2 || n_digits == 4) ? WR_TRACE_TIME_NO_COLON
                                                                        : WR_TRACE_TIME_BAD_ZONE;
}

size_t wr_trace_time_zone_at(struct wr_str text)
{
    const size_t n = text.len < N_CLOCK ? text.len : N_CLOCK;

    return n < text.len && text.ptr[n] == '.' ? n + 1 + wr_number_digits(wr_str_skip(text, n + 1))
                                              : n;
}

/* What begins with a date. */
static enum wr_trace_time_fault parse_date_time(struct wr_str text, struct wr_trace_time *out_time)
{
    const size_t n = wr_trace_time_zone_at(text);
    int64_t days = 0, hours = 0, minutes = 0, seconds = 0, fraction_us = 0, offset_s = 0;

    if (text.len < N_CLOCK || !parse_date(text, &days) || !parse_digits(text, 11, 2, 23, &hours) ||
        !parse_digits(text, 14, 2, 59, &minutes) || !parse_digits(text, 17, 2, 60, &seconds) ||
        (text.ptr[10] != 'T' && text.ptr[10] != 't' && text.ptr[10] != ' ') ||
        text.ptr[13] != ':' || text.ptr[16] != ':') {
        return WR_TRACE_TIME_NONE;
    }
    if (!parse_fraction(wr_str_part(text, N_CLOCK, n), US_PER_S, &fraction_us)) {
        return WR_TRACE_TIME_NONE;
    }
    if (!parse_zone(wr_str_skip(text, n), &offset_s)) {
        return fault_of_zone(wr_str_skip(text, n));
    }

    const int64_t at_s = days * 86400 + hours * 3600 + minutes * 60 + seconds - offset_s;

    if (at_s < 0 || at_s >= END_S) {
        return WR_TRACE_TIME_FAR;
    }
    *out_time = (struct wr_trace_time){.is_dated = true, .us = at_s * US_PER_S + fraction_us};
    return WR_TRACE_TIME_GOOD;
}

enum wr_trace_time_fault wr_trace_time_parse(struct wr_str text, struct wr_trace_time *out_time)
{
    return text.len > 4 && text.ptr[4] == '-' ? parse_date_time(text, out_time)
                                              : parse_number(text, out_time);
}

void wr_trace_time_write(int64_t wall_us, char out_text[WR_TRACE_TIME_TEXT_SIZE])
{
    const time_t seconds = (time_t) (wall_us / US_PER_S);
    const int64_t rest_us = wall_us % US_PER_S;
    struct tm utc = {0};

    (void) gmtime_r(&seconds, &utc);

    size_t n = strftime(out_text, WR_TRACE_TIME_TEXT_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
    const bool is_milli = rest_us % 1000 == 0;

    if (rest_us > 0) {
        const int rest = snprintf(out_text + n, WR_TRACE_TIME_TEXT_SIZE - n, ".%0*" PRId64,
                                  is_milli ? 3 : 6, is_milli ? rest_us / 1000 : rest_us);

        n += rest > 0 ? (size_t) rest : 0;
    }
    (void) snprintf(out_text + n, WR_TRACE_TIME_TEXT_SIZE - n, "Z");
}
