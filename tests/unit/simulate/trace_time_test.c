/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/trace_time.h"

#include <criterion/criterion.h>

#define S(seconds) (INT64_C(1000000) * (seconds))
#define NEW_YEAR INT64_C(1767225600) /* 2026-01-01 */

Test(trace_time, read)
{
    static const struct {
        const char *text;
        bool is_dated;
        int64_t us;
    } rows[] = {
        {"0", false, 0},
        {"59.25", false, S(59) + 250000},
        {"0.0000019", false, 1},
        {"999999999.999999", false, S(999999999) + 999999},
        {"1000000000", true, S(1000000000)},
        {"1767225600.125", true, S(NEW_YEAR) + 125000},
        {"7258118399.999999", true, S(7258118399) + 999999},
        {"1767225600125", true, S(NEW_YEAR) + 125000},
        {"1767225600125.0625", true, S(NEW_YEAR) + 125062},
        {"1767225600000007", true, S(NEW_YEAR) + 7},
        {"1767225600000007.9", true, S(NEW_YEAR) + 7},
        {"1767225600000007999", true, S(NEW_YEAR) + 7},
        {"2026-01-01T00:00:00Z", true, S(NEW_YEAR)},
        {"2026-01-01 00:00:00z", true, S(NEW_YEAR)},
        {"2026-01-01t01:30:00.5+01:30", true, S(NEW_YEAR) + 500000},
        {"2025-12-31T19:00:00.123456789-05:00", true, S(NEW_YEAR) + 123456},
        {"2025-12-31T23:59:60Z", true, S(NEW_YEAR)},
        {"2024-02-29T12:00:00Z", true, S(INT64_C(1709208000))},
        {"1970-01-01T00:00:00Z", true, 0},
        {"2199-12-31T23:59:59Z", true, S(7258118399)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_trace_time time = {0};

        cr_assert_eq(wr_trace_time_parse(wr_str_of(rows[i].text), &time), WR_TRACE_TIME_GOOD, "%s",
                     rows[i].text);
        cr_assert_eq(time.is_dated, rows[i].is_dated, "%s", rows[i].text);
        cr_assert_eq(time.us, rows[i].us, "%s: %ld", rows[i].text, (long) time.us);
    }
}

Test(trace_time, refused)
{
    static const struct {
        const char *text;
        enum wr_trace_time_fault fault;
    } rows[] = {
        {"", WR_TRACE_TIME_NONE},
        {"x", WR_TRACE_TIME_NONE},
        {"-1", WR_TRACE_TIME_NONE},
        {"1.", WR_TRACE_TIME_NONE},
        {".5", WR_TRACE_TIME_NONE},
        {"1.5.5", WR_TRACE_TIME_NONE},
        {"1e3", WR_TRACE_TIME_NONE},
        {"0x10", WR_TRACE_TIME_NONE},
        {"1 ", WR_TRACE_TIME_NONE},
        {"7258118400", WR_TRACE_TIME_FAR},
        {"999999999999", WR_TRACE_TIME_FAR},
        {"7258118400000", WR_TRACE_TIME_FAR},
        {"7258118400000000", WR_TRACE_TIME_FAR},
        {"7258118400000000000", WR_TRACE_TIME_FAR},
        {"18446744073709551615", WR_TRACE_TIME_FAR},
        {"18446744073709551616", WR_TRACE_TIME_FAR},
        {"2026-01-01", WR_TRACE_TIME_NONE},
        {"2026-13-01T00:00:00Z", WR_TRACE_TIME_NONE},
        {"2026-00-01T00:00:00Z", WR_TRACE_TIME_NONE},
        {"2026-02-29T00:00:00Z", WR_TRACE_TIME_NONE},
        {"2026-02-00T00:00:00Z", WR_TRACE_TIME_NONE},
        {"2026-12-32T00:00:00Z", WR_TRACE_TIME_NONE},
        {"2026-01-01T24:00:00Z", WR_TRACE_TIME_NONE},
        {"2026-01-01T00:60:00Z", WR_TRACE_TIME_NONE},
        {"2026-01-01T00:00:61Z", WR_TRACE_TIME_NONE},
        {"2026-01-01_00:00:00Z", WR_TRACE_TIME_NONE},
        {"2026-01-01T00-00:00Z", WR_TRACE_TIME_NONE},
        {"2026-01-01T00:00.00Z", WR_TRACE_TIME_NONE},
        {"2026-01x01T00:00:00Z", WR_TRACE_TIME_NONE},
        {"2026-01-01T00:00:00.Z", WR_TRACE_TIME_NONE},
        {"2026-01-01T00:00:00", WR_TRACE_TIME_NO_ZONE},
        {"2026-01-01T00:00:00.5", WR_TRACE_TIME_NO_ZONE},
        {"2026-01-01T00:00:00 Z", WR_TRACE_TIME_BAD_ZONE},
        {"2026-01-01T00:00:00+0100", WR_TRACE_TIME_NO_COLON},
        {"2026-01-01T00:00:00.5-01", WR_TRACE_TIME_NO_COLON},
        {"2026-01-01T00:00:00+", WR_TRACE_TIME_BAD_ZONE},
        {"2026-01-01T00:00:00+010", WR_TRACE_TIME_BAD_ZONE},
        {"2026-01-01T00:00:00+0100Z", WR_TRACE_TIME_BAD_ZONE},
        {"2026-01-01T00:00:00+24:00", WR_TRACE_TIME_BAD_ZONE},
        {"2026-01-01T00:00:00+01:60", WR_TRACE_TIME_BAD_ZONE},
        {"1970-01-01T00:00:00+00:01", WR_TRACE_TIME_FAR},
        {"2200-01-01T00:00:00Z", WR_TRACE_TIME_FAR},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_trace_time time = {.us = -1};

        cr_assert_eq(wr_trace_time_parse(wr_str_of(rows[i].text), &time), rows[i].fault, "%s",
                     rows[i].text);
        cr_assert_eq(time.us, -1, "%s", rows[i].text);
    }
}

Test(trace_time, written)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        {0, "1970-01-01T00:00:00Z"},
        {S(NEW_YEAR) + 7, "2026-01-01T00:00:00.000007Z"},
        {S(NEW_YEAR) + 125000, "2026-01-01T00:00:00.125Z"},
        {S(7258118399) + 999999, "2199-12-31T23:59:59.999999Z"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[WR_TRACE_TIME_TEXT_SIZE];

        wr_trace_time_write(rows[i].us, text);
        cr_assert_str_eq(text, rows[i].text);
    }
}
