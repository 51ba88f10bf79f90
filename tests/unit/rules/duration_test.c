/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/duration.h"

#include <criterion/criterion.h>

#define S INT64_C(1000000)

Test(duration, is_read_as_go_does_with_days_and_weeks)
{
    static const struct {
        const char *text;
        enum wr_duration_fault fault;
        int64_t us;
    } rows[] = {
        {"100ms", WR_DURATION_GOOD, 100000},
        {"1s", WR_DURATION_GOOD, S},
        {"1h30m", WR_DURATION_GOOD, 5400 * S},
        {"2d", WR_DURATION_GOOD, 172800 * S},
        {"1w", WR_DURATION_GOOD, 604800 * S},
        {"1w2d3h4m5s6ms7us", WR_DURATION_GOOD, 788645 * S + 6007},
        {"1.5h", WR_DURATION_GOOD, 5400 * S},
        {".5s", WR_DURATION_GOOD, S / 2},
        {"1.s", WR_DURATION_GOOD, S},
        {"0.000001s", WR_DURATION_GOOD, 1},
        {"2000ns", WR_DURATION_GOOD, 2},
        {"7\xc2\xb5s", WR_DURATION_GOOD, 7},
        {"7\xce\xbcs", WR_DURATION_GOOD, 7},
        {"500ns500ns", WR_DURATION_GOOD, 1},
        {"0s", WR_DURATION_GOOD, 0},
        {"36500d", WR_DURATION_GOOD, WR_DURATION_MAX_US},
        {"36500d1us", WR_DURATION_TOO_LONG, 0},
        {"36500.1d", WR_DURATION_TOO_LONG, 0},
        {"99999999999999999999s", WR_DURATION_TOO_LONG, 0},
        {"18446744073709551620250000ns", WR_DURATION_TOO_LONG, 0},
        {"1ns", WR_DURATION_TOO_FINE, 0},
        {"1.5us", WR_DURATION_TOO_FINE, 0},
        {"0.0000000001s", WR_DURATION_TOO_FINE, 0},
        {"100", WR_DURATION_NO_UNIT, 0},
        {"1h30", WR_DURATION_NO_UNIT, 0},
        {"1.5", WR_DURATION_NO_UNIT, 0},
        {"", WR_DURATION_NO_LENGTH, 0},
        {"ms", WR_DURATION_NO_LENGTH, 0},
        {".s", WR_DURATION_NO_LENGTH, 0},
        {"1 s", WR_DURATION_NO_LENGTH, 0},
        {"-1s", WR_DURATION_NO_LENGTH, 0},
        {"1S", WR_DURATION_NO_LENGTH, 0},
        {"1month", WR_DURATION_NO_LENGTH, 0},
        {"minute", WR_DURATION_NO_LENGTH, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t us = 0;

        cr_assert_eq(wr_duration_parse(wr_str_of(rows[i].text), &us), rows[i].fault, "%s",
                     rows[i].text);
        cr_assert_eq(us, rows[i].us, "%s", rows[i].text);
    }
}

Test(duration, is_written_in_the_largest_unit_that_divides_it)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        {1, "1us"},          {1500, "1500us"},   {100000, "100ms"},    {S, "1s"},
        {90 * S, "90s"},     {300 * S, "5m"},    {3600 * S, "1h"},     {5400 * S, "90m"},
        {172800 * S, "2d"},  {604800 * S, "1w"}, {2592000 * S, "30d"}, {31536000 * S, "365d"},
        {1209600 * S, "2w"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[WR_DURATION_TEXT_SIZE];
        int64_t us = 0;

        wr_duration_write(rows[i].us, text);
        cr_assert_str_eq(text, rows[i].text);
        cr_assert_eq(wr_duration_parse(wr_str_of(text), &us), WR_DURATION_GOOD);
        cr_assert_eq(us, rows[i].us, "%s", text);
    }
}
