/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/terms.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "limit/calendar.h"
#include "tests/unit/rules/texts.h"

#define HOUR_US INT64_C(3600000000)

Test(terms, names_are_read_as_they_are_written)
{
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;

    for (unsigned i = 0; i <= WR_ALGORITHM_TOKEN_BUCKET; i++) {
        const char *const name = wr_algorithm_name((enum wr_algorithm) i);

        cr_assert(wr_algorithm_of_name(wr_str_of(name), &algorithm) && algorithm == i, "%s", name);
    }
    for (unsigned i = 0; i <= WR_ALIGN_CALENDAR; i++) {
        const char *const name = wr_alignment_name((enum wr_alignment) i);

        cr_assert(wr_alignment_of_name(wr_str_of(name), &alignment) && alignment == i, "%s", name);
    }
    cr_assert_not(wr_algorithm_of_name(wr_str_of("Fixed_window"), &algorithm));
    cr_assert_not(wr_alignment_of_name(wr_str_of(""), &alignment));
}

Test(terms, what_keys_come_to)
{
    static const struct {
        const char *limit;
        struct wr_limit want;
    } rows[] = {
        {"unit: hour, requests_per_unit: 100, headroom: 0.29",
         {.requests = 29, .length_us = HOUR_US}},
        {"unit: hour, requests_per_unit: 100, headroom: 0.29, algorithm: token_bucket",
         {.requests = 29,
          .length_us = HOUR_US,
          .algorithm = WR_ALGORITHM_TOKEN_BUCKET,
          .burst = 2}},
        {"unit: hour, requests_per_unit: 9, algorithm: token_bucket",
         {.requests = 9, .length_us = HOUR_US, .algorithm = WR_ALGORITHM_TOKEN_BUCKET, .burst = 1}},
        {"unit: hour, requests_per_unit: 9, algorithm: token_bucket, burst: 50",
         {.requests = 9,
          .length_us = HOUR_US,
          .algorithm = WR_ALGORITHM_TOKEN_BUCKET,
          .burst = 50}},
        {"unit: hour, algorithm: sliding_buckets",
         {.length_us = HOUR_US, .algorithm = WR_ALGORITHM_SLIDING_BUCKETS, .n_buckets = 60}},
        {"unit: hour, algorithm: sliding_buckets, buckets: 7",
         {.length_us = HOUR_US, .algorithm = WR_ALGORITHM_SLIDING_BUCKETS, .n_buckets = 7}},
        {"unit: hour, requests_per_unit: 10, headroom: 0.5, warm_up: {duration: 30s, start: 0.3}",
         {.requests = 5, .length_us = HOUR_US, .warm_up_us = 30000000, .warm_up_start = 1}},
        {"unit: hour, requests_per_unit: 2, warm_up: {duration: 30s, start: 0}",
         {.requests = 2, .length_us = HOUR_US, .warm_up_us = 30000000, .warm_up_start = 1}},
        {"unit: hour, warm_up: {duration: 30s, start: 1}",
         {.length_us = HOUR_US, .warm_up_us = 30000000}},
        {"unit: hour, align: first_hit", {.length_us = HOUR_US, .alignment = WR_ALIGN_FIRST_HIT}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct texts texts;
        char text[256];

        (void) snprintf(text, sizeof text, "domain: d\ndescriptors: [{key: a, rate_limit: {%s}}]\n",
                        rows[i].limit);
        texts_init(&texts);
        texts_add(&texts, "f.yaml", text);

        const struct wr_limit got = wr_terms_limit(&texts.drafts[0].rules[0].limit);
        const struct wr_limit *const want = &rows[i].want;

        cr_assert_eq(got.requests, want->requests, "%s", text);
        cr_assert_eq(got.length_us, want->length_us, "%s", text);
        cr_assert_eq(got.algorithm, want->algorithm, "%s", text);
        cr_assert_eq(got.alignment, want->alignment, "%s", text);
        cr_assert_eq(got.burst, want->burst, "%s", text);
        cr_assert_eq(got.n_buckets, want->n_buckets, "%s", text);
        cr_assert_eq(got.warm_up_us, want->warm_up_us, "%s", text);
        cr_assert_eq(got.warm_up_start, want->warm_up_start, "%s", text);
        texts_fini(&texts);
    }
}

Test(terms, an_override_has_its_number_and_unit_and_the_rest_of_the_path)
{
    static const struct wr_rule bucket = {.limit = {.requests = 100,
                                                    .length_us = HOUR_US,
                                                    .count = WR_COUNT_ADMITTED,
                                                    .algorithm = WR_ALGORITHM_TOKEN_BUCKET,
                                                    .burst = 7,
                                                    .warm_up_us = 5,
                                                    .warm_up_start = 5}};
    static const struct wr_rule log = {
        .limit = {.requests = 10, .length_us = HOUR_US, .algorithm = WR_ALGORITHM_SLIDING_LOG}};
    static const struct wr_calendar calendars[WR_CALENDAR_UNITS] = {{.unit = WR_UNIT_DAY}};
    static const struct wr_rule calendar = {
        .limit = {.requests = 10, .length_us = 24 * HOUR_US, .alignment = WR_ALIGN_CALENDAR},
        .calendars = calendars};
    struct wr_rule with_burst = bucket;
    struct wr_limit limit = wr_terms_override(&bucket, 50, WR_UNIT_DAY);

    cr_assert_eq(limit.requests, 50u);
    cr_assert_eq(limit.length_us, 24 * HOUR_US);
    cr_assert_eq(limit.count, WR_COUNT_ADMITTED);
    cr_assert_eq(limit.algorithm, WR_ALGORITHM_TOKEN_BUCKET);
    cr_assert_eq(limit.burst, 5u);
    cr_assert_eq(limit.warm_up_us, 0);

    with_burst.has_burst = true;
    limit = wr_terms_override(&with_burst, 50, WR_UNIT_DAY);
    cr_assert_eq(limit.burst, 7u);
    with_burst.limit.burst = 1000;
    limit = wr_terms_override(&with_burst, 1, WR_UNIT_YEAR);
    cr_assert_eq(limit.burst, 142u, "what comes in 142 years");

    limit = wr_terms_override(&log, WR_SLIDING_LOG_MAX, WR_UNIT_DAY);
    cr_assert_eq(limit.algorithm, WR_ALGORITHM_SLIDING_LOG);

    limit = wr_terms_override(&log, WR_SLIDING_LOG_MAX + 1, WR_UNIT_DAY);
    cr_assert_eq(limit.algorithm, WR_ALGORITHM_SLIDING_BUCKETS);
    cr_assert_eq(limit.n_buckets, 60u);

    limit = wr_terms_override(&calendar, 5, WR_UNIT_DAY);
    cr_assert_eq(limit.alignment, WR_ALIGN_CALENDAR);
    cr_assert_eq(limit.calendar, &calendars[0]);

    limit = wr_terms_override(&calendar, 5, WR_UNIT_YEAR);
    cr_assert_eq(limit.calendar, &calendars[3]);

    limit = wr_terms_override(&calendar, 5, WR_UNIT_HOUR);
    cr_assert_eq(limit.alignment, WR_ALIGN_EPOCH);
    cr_assert_null(limit.calendar);
}
