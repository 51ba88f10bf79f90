/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/loss_check.h"

#include <criterion/criterion.h>

#include "tests/unit/rules/texts.h"

/* Around a limit of a rule of domain d. */
#define BEFORE "domain: d\ndescriptors: [{key: a, rate_limit: {unit: hour, requests_per_unit: "
#define BEHIND "}}]\n"

#define EVEN(algorithm, one_of, hint)                                                              \
    "f.yaml:2:36: warning: `" algorithm "` refuses one hit in " one_of                             \
    " of traffic that comes evenly, just as much as the limit lets through (in d.a); " hint "\n"
#define LOG "`sliding_log` counts limits up to 1000 to the hit"
#define MORE "more `buckets`; 60 is what it is without"

Test(loss_check, what_refuses_more_than_a_tenth_of_even_traffic_draws_a_warning)
{
    static const struct notes_row rows[] = {
        {"1, algorithm: sliding_window", EVEN("sliding_window", "2", LOG)},
        {"2, algorithm: sliding_window", EVEN("sliding_window", "2", LOG)},
        {"9, algorithm: sliding_window", EVEN("sliding_window", "9", LOG)},
        {"10, algorithm: sliding_window", ""},
        {"0, algorithm: sliding_window", ""},
        {"100, headroom: 0.05, algorithm: sliding_window", EVEN("sliding_window", "5", LOG)},
        {"1, algorithm: sliding_buckets", EVEN("sliding_buckets", "2", LOG)},
        {"8, algorithm: sliding_buckets", EVEN("sliding_buckets", "9", LOG)},
        {"9, algorithm: sliding_buckets", ""},
        {"0, algorithm: sliding_buckets", ""},
        {"1000, algorithm: sliding_buckets, buckets: 1", EVEN("sliding_buckets", "2", MORE)},
        {"1000, algorithm: sliding_buckets, buckets: 8", EVEN("sliding_buckets", "9", MORE)},
        {"1000, algorithm: sliding_buckets, buckets: 9", ""},
        {"5, algorithm: sliding_buckets, buckets: 2", EVEN("sliding_buckets", "3", LOG)},
        {"1, algorithm: sliding_log", ""},
        {"1, algorithm: token_bucket", ""},
        {"1", ""},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}
