/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/limit_check.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/rules/texts.h"

/* Around a limit of a rule of domain d. */
#define BEFORE "domain: d\ndescriptors: [{key: a, rate_limit: {"
#define BEHIND "}}]\n"

Test(limit_check, what_makes_sense_is_taken_without_a_word)
{
    static const struct notes_row rows[] = {
        {"window: 100ms, requests_per_unit: 5", ""},
        {"window: 1w, requests_per_unit: 5", ""},
        {"unit: minute, unit_multiplier: 5, requests_per_unit: 5", ""},
        {"unit: day, align: calendar, time_zone: Europe/Paris", ""},
        {"unit: week, align: calendar", ""},
        {"unit: hour, align: first_hit", ""},
        {"unit: hour, requests_per_unit: 10, algorithm: sliding_window", ""},
        {"unit: hour, requests_per_unit: 10, algorithm: sliding_window, align: epoch", ""},
        {"unit: hour, requests_per_unit: 10, algorithm: sliding_buckets, buckets: 1000", ""},
        {"unit: hour, requests_per_unit: 1000, algorithm: sliding_log", ""},
        {"unit: hour, requests_per_unit: 1001, algorithm: sliding_log, headroom: 0.999", ""},
        {"unit: hour, requests_per_unit: 10, algorithm: token_bucket, burst: 10", ""},
        {"unit: year, requests_per_unit: 1, algorithm: token_bucket, burst: 142", ""},
        {"window: 36500d, requests_per_unit: 10, algorithm: token_bucket, warm_up: {duration: 1d, "
         "start: 0.3}",
         ""},
        {"unit: day, algorithm: token_bucket, burst: 4294967295", ""},
        {"unit: hour, requests_per_unit: 10, headroom: '.7', warm_up: {duration: 1h, start: 0.3}",
         ""},
        {"unit: hour, requests_per_unit: 10, algorithm: sliding_window, warm_up: {duration: 30s, "
         "start: 0.3}",
         ""},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

Test(limit_check, a_warm_up_that_ends_within_its_fixed_window_draws_a_warning)
{
#define SHORTER                                                                                    \
    "warning: `duration` is shorter than the fixed window, which keeps to its end the limit that " \
    "it begins with: after an idle time 3 of 10 (in d.a); a `duration` of several windows, or a "  \
    "sliding `algorithm`, which climbs within its window\n"
    static const struct notes_row rows[] = {
        {"unit: hour, requests_per_unit: 10, warm_up: {duration: 3599s, start: 0.3}",
         "f.yaml:2:92: " SHORTER},
        {"window: 10s, requests_per_unit: 10, warm_up: {duration: 1s, start: 0.3}",
         "f.yaml:2:93: " SHORTER},
        {"unit: day, requests_per_unit: 10, align: calendar, warm_up: {duration: 1h, start: 0.3}",
         "f.yaml:2:108: " SHORTER},
        {"unit: hour, requests_per_unit: 20, headroom: 0.5, align: first_hit, warm_up: {duration: "
         "1s, start: 0.3}",
         "f.yaml:2:125: " SHORTER},
    };
#undef SHORTER

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

Test(limit_check, a_warm_up_that_begins_with_all_of_the_limit_draws_a_warning)
{
#define USELESS "warning: `warm_up` has no effect: the limit begins with all that it climbs to, "
    static const struct notes_row rows[] = {
        {"unit: hour, requests_per_unit: 10, warm_up: {duration: 2h, start: 1}",
         "f.yaml:2:81: " USELESS "10 (in d.a); a `start` below 1\n"},
        {"unit: hour, requests_per_unit: 9, warm_up: {duration: 30s, start: 1.0}",
         "f.yaml:2:80: " USELESS "9 (in d.a); a `start` below 1\n"},
        {"unit: hour, requests_per_unit: 1, warm_up: {duration: 30s, start: 0.3}",
         "f.yaml:2:80: " USELESS "1 (in d.a); of a limit of 1 there is no smaller part\n"},
        {"unit: hour, requests_per_unit: 0, warm_up: {duration: 30s, start: 1}", ""},
    };
#undef USELESS

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

Test(limit_check, what_makes_no_sense_is_refused_with_place_and_hint)
{
#define FULL "a bucket is full within 142 years: make `burst` smaller, or the limit larger\n"
    static const struct notes_row rows[] = {
        {"unit: hour, window: 5m", "f.yaml:2:57: error: `window` must not stand beside `unit` (in "
                                   "d.a); remove one of the two\n"},
        {"window: 5", "f.yaml:2:45: error: `window`: 5 has no unit (in d.a); as in 100ms, 30s, 5m, "
                      "1h30m, 2d, 1w\n"},
        {"window: 0.5ms", "f.yaml:2:45: error: `window` must be at least 1ms (in d.a)\n"},
        {"window: 999us", "f.yaml:2:45: error: `window` must be at least 1ms (in d.a)\n"},
        {"window: soon", "f.yaml:2:45: error: `window`: soon is not a length of time (in d.a); as "
                         "in 100ms, 30s, 5m, 1h30m, 2d, 1w\n"},
        {"window: 40000d", "f.yaml:2:45: error: `window`: 40000d is more than 100 years (in d.a); "
                           "at most 36500d\n"},
        {"window: ''", "f.yaml:2:45: error: `window` is empty (in d.a); remove it\n"},
        {"window: [5m]",
         "f.yaml:2:45: error: `window` must be a text, not a list (in d.a); as in 30s\n"},
        {"window: 5m, unit_multiplier: 2",
         "f.yaml:2:66: error: `unit_multiplier` must not stand beside `window` (in d.a); write the "
         "length of the window out\n"},
        {"unit: hour, unit_multiplier: 0", "f.yaml:2:66: error: `unit_multiplier` must be at least "
                                           "1 (in d.a); 1 is what it is without\n"},
        {"unit: year, unit_multiplier: 101",
         "f.yaml:2:66: error: 101 times `year` is too long a window (in d.a); at most 100 years\n"},
        {"unit_multiplier: 5", "f.yaml:2:36: error: `rate_limit` has no `unit` (in d.a); one of "
                               "second, minute, hour, day, week, month, year; or `window: 90s` in "
                               "its place\n"},
        {"unit: 1h", "f.yaml:2:43: error: `1h` is not a unit (in d.a); one of second, minute, "
                     "hour, day, week, month, year; or `window: 90s` in its place\n"},
        {"unit: hour, algorithm: leaky",
         "f.yaml:2:60: error: `leaky` is not an `algorithm` (in d.a); one of fixed_window, "
         "sliding_window, sliding_buckets, sliding_log, token_bucket\n"},
        {"unit: hour, algorithm: sliding_windw",
         "f.yaml:2:60: error: `sliding_windw` is not an `algorithm` (in d.a); did you mean "
         "`sliding_window`?\n"},
        {"unit: hour, algorithm: token-bucket",
         "f.yaml:2:60: error: `token-bucket` is not an `algorithm` (in d.a); did you mean "
         "`token_bucket`?\n"},
        {"unit: hour, algorithm: Token_Bucket",
         "f.yaml:2:60: error: `Token_Bucket` is not an `algorithm` (in d.a); did you mean "
         "`token_bucket`?\n"},
        {"unit: day, align: calender", "f.yaml:2:55: error: `calender` is not an `align` (in d.a); "
                                       "did you mean `calendar`?\n"},
        {"unit: hours", "f.yaml:2:43: error: `hours` is not a unit (in d.a); did you mean "
                        "`hour`?\n"},
        {"unit: hour, failure_mode: alow",
         "f.yaml:2:63: error: `alow` is not a `failure_mode` (in d.a); did you mean `allow`?\n"},
        {"unit: hour, count: all-or-nothing",
         "f.yaml:2:56: error: `all-or-nothing` is not a `count` (in d.a); did you mean "
         "`all_or_nothing`?\n"},
        {"unit: hour, burst: 5", "f.yaml:2:56: error: `burst` has no meaning for `fixed_window` "
                                 "(in d.a); add `algorithm: token_bucket`, or remove it\n"},
        {"unit: hour, algorithm: token_bucket, burst: 0",
         "f.yaml:2:81: error: `burst` must be at least 1 (in d.a); `requests_per_unit: 0` lets "
         "nothing pass\n"},
        {"unit: year, requests_per_unit: 1, algorithm: token_bucket, burst: 143",
         "f.yaml:2:103: error: `burst` must be at most 142 with 1 in such a window, not 143 (in "
         "d.a); " FULL},
        {"unit: month, requests_per_unit: 20, headroom: 0.5, algorithm: token_bucket, burst: 20000",
         "f.yaml:2:120: error: `burst` must be at most 17374 with 10 in such a window, not 20000 "
         "(in d.a); " FULL},
        {"unit: hour, algorithm: sliding_log, buckets: 5",
         "f.yaml:2:82: error: `buckets` has no meaning for `sliding_log` (in d.a); add `algorithm: "
         "sliding_buckets`, or remove it\n"},
        {"unit: hour, algorithm: sliding_buckets, buckets: 0",
         "f.yaml:2:86: error: `buckets` must be a number from 1 to 1000, not 0 (in d.a); 60 is "
         "what it is without\n"},
        {"unit: hour, algorithm: sliding_buckets, buckets: 1001",
         "f.yaml:2:86: error: `buckets` must be a number from 1 to 1000, not 1001 (in d.a); 60 is "
         "what it is without\n"},
        {"unit: hour, requests_per_unit: 1001, algorithm: sliding_log",
         "f.yaml:2:85: error: `sliding_log` is for limits up to 1000, not 1001 (in d.a); "
         "sliding_buckets lets as little pass, without bound\n"},
        {"unit: second, requests_per_unit: 700000, algorithm: token_bucket",
         "f.yaml:2:36: warning: `token_bucket` has a token every 2 microseconds, which makes "
         "500000 in a window in place of 700000 (in d.a); sliding_window and sliding_buckets count "
         "such rates to the last hit\n"},
        {"window: 1ms, requests_per_unit: 5000, algorithm: token_bucket",
         "f.yaml:2:36: warning: `token_bucket` has a token every 1 microsecond, which makes 1000 "
         "in a window in place of 5000 (in d.a); sliding_window and sliding_buckets count such "
         "rates to the last hit\n"},
        {"window: 1ms, algorithm: sliding_buckets, buckets: 999",
         "f.yaml:2:36: warning: 999 buckets of whole microseconds, 2 each, last 1998 microseconds "
         "in place of 1000 (in d.a); fewer `buckets`, or a longer window\n"},
        {"window: 1ms, algorithm: sliding_buckets",
         "f.yaml:2:36: warning: 60 buckets of whole microseconds, 17 each, last 1020 microseconds "
         "in place of 1000 (in d.a); fewer `buckets`, or a longer window\n"},
        {"window: 1ms, algorithm: sliding_buckets, buckets: 50", ""},
        {"window: 10ms, algorithm: sliding_buckets", ""},
        {"unit: day, align: noon", "f.yaml:2:55: error: `noon` is not an `align` (in d.a); one of "
                                   "epoch, first_hit, calendar\n"},
        {"unit: hour, align: calendar", "f.yaml:2:56: error: `align: calendar` has no `unit: hour` "
                                        "(in d.a); one of day, week, month, year\n"},
        {"window: 1d, align: calendar",
         "f.yaml:2:56: error: `align: calendar` must not stand beside `window` (in d.a); `unit: "
         "day`, week, month or year in place of it\n"},
        {"unit: day, unit_multiplier: 2, align: calendar",
         "f.yaml:2:75: error: `align: calendar` must not stand beside `unit_multiplier` (in d.a); "
         "remove one of the two\n"},
        {"unit: day, align: calendar, time_zone: Europe/Atlantis",
         "f.yaml:2:76: error: `Europe/Atlantis` is not a `time_zone` (in d.a); a name as in "
         "Europe/Paris, of the system's tzdata\n"},
        {"unit: day, align: calendar, time_zone: ../../../etc/passwd",
         "f.yaml:2:76: error: `../../../etc/passwd` is not a `time_zone` (in d.a); a name as in "
         "Europe/Paris, of the system's tzdata\n"},
        {"unit: day, time_zone: Europe/Paris",
         "f.yaml:2:59: error: `time_zone` has no meaning without `align: calendar` (in d.a); add "
         "`align: calendar`, or remove it\n"},
        {"unit: day, align: first_hit, time_zone: Europe/Paris",
         "f.yaml:2:77: error: `time_zone` has no meaning without `align: calendar` (in d.a); add "
         "`align: calendar`, or remove it\n"},
        {"unit: day, align: calendar, algorithm: sliding_window",
         "f.yaml:2:55: error: `align: calendar` has no meaning for `sliding_window` (in d.a); it "
         "is for `fixed_window`; remove one of the two\n"},
        {"unit: day, align: first_hit, algorithm: token_bucket",
         "f.yaml:2:55: error: `align: first_hit` has no meaning for `token_bucket` (in d.a); it is "
         "for `fixed_window`; remove one of the two\n"},
        {"unit: hour, requests_per_unit: 1, headroom: 0.7",
         "f.yaml:2:81: warning: `headroom: 0.7` of 1 is 0, so that nothing passes (in d.a); what "
         "is enforced is rounded down\n"},
        {"unit: hour, headroom: 1.1",
         "f.yaml:2:59: error: `headroom` must be a number from 0 to 1, not 1.1 (in d.a); as in "
         "0.7, with at most 9 digits behind the point\n"},
        {"unit: hour, headroom: 70%",
         "f.yaml:2:59: error: `headroom` must be a number from 0 to 1, not 70% (in d.a); as in "
         "0.7, with at most 9 digits behind the point\n"},
        {"unit: hour, headroom: 7e-1",
         "f.yaml:2:59: error: `headroom` must be a number from 0 to 1, not 7e-1 (in d.a); as in "
         "0.7, with at most 9 digits behind the point\n"},
        {"unit: hour, warm_up: 30s", "f.yaml:2:58: error: `warm_up` must be a map, not a text (in "
                                     "d.a); as in `{duration: 30s, start: 0.3}`\n"},
        {"unit: hour, warm_up: {}", "f.yaml:2:58: error: `warm_up` has no `duration` (in d.a); as "
                                    "in `warm_up: {duration: 30s, start: 0.3}`\n"},
        {"unit: hour, warm_up: {duration: 30s}",
         "f.yaml:2:58: error: `warm_up` has no `start` (in d.a); as in `warm_up: {duration: 30s, "
         "start: 0.3}`\n"},
        {"unit: hour, warm_up: {duration: 30, start: 2}",
         "f.yaml:2:69: error: `duration`: 30 has no unit (in d.a); as in 100ms, 30s, 5m, 1h30m, "
         "2d, 1w\n"
         "f.yaml:2:80: error: `start` must be a number from 0 to 1, not 2 (in d.a); as in 0.7, "
         "with at most 9 digits behind the point\n"},
        {"unit: hour, warm_up: {duration: 30s, start: 0.5, until: 1}",
         "f.yaml:2:86: error: unknown key `until` (in d.a); `warm_up` has `duration`, `start`\n"},
        {"unlimited: true, window: 5m, algorithm: token_bucket, warm_up: {}",
         "f.yaml:2:62: error: `window` must not stand beside `unlimited: true` (in d.a); remove "
         "one of the two\n"
         "f.yaml:2:77: error: `algorithm` must not stand beside `unlimited: true` (in d.a); remove "
         "one of the two\n"
         "f.yaml:2:100: error: `warm_up` must not stand beside `unlimited: true` (in d.a); remove "
         "one of the two\n"},
        {"unit: hour, ipv4: 24",
         "f.yaml:2:49: error: `ipv4` does not belong here (in d.a); it belongs into `group_ip`\n"},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

Test(limit_check, the_store_says_how_short_a_window_may_be)
{
    static const struct {
        const char *window, *notes;
    } rows[] = {
        {"10ms", ""},
        {"9ms",
         "f.yaml:2:45: error: `window: 9ms` is too short for Redis, which needs 10ms or more "
         "(in d.a); a longer window; --store local counts in windows of 1ms and more\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct texts texts;
        char text[128];

        (void) snprintf(text, sizeof text,
                        "domain: d\ndescriptors: [{key: a, rate_limit: {window: %s}}]\n",
                        rows[i].window);
        texts_init(&texts);
        texts.min_window_us = 10000;
        texts_add(&texts, "f.yaml", text);
        texts_check(&texts, false);
        cr_assert_str_eq(texts_notes(&texts), rows[i].notes);
        texts_fini(&texts);
    }
}

#define TEN "abcdefghij"
#define FIFTY TEN TEN TEN TEN TEN
#define NAME_255 FIFTY FIFTY FIFTY FIFTY FIFTY "abcde"

Test(limit_check, a_name_has_a_bound)
{
    static const struct notes_row rows[] = {
        {"unit: hour, requests_per_unit: 1, name: " NAME_255, ""},
        {"unit: hour, requests_per_unit: 1, name: " NAME_255 "5",
         "f.yaml:2:77: error: `name` has 256 bytes, more than 255 (in d.a); each answer carries "
         "it, once a descriptor\n"},
        {"unlimited: true, name: " NAME_255 "5",
         "f.yaml:2:60: error: `name` has 256 bytes, more than 255 (in d.a); each answer carries "
         "it, once a descriptor\n"},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}
