/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/retry.h"

#include <criterion/criterion.h>

Test(redis_retry, pauses_grow_to_the_largest_and_begin_anew)
{
    static const int64_t most_us[] = {100, 200, 400, 800, 1000, 1000, 1000};
    struct wr_redis_pauses pauses = {.min_us = 100, .max_us = 1000};

    for (size_t i = 0; i < sizeof most_us / sizeof most_us[0]; i++) {
        cr_assert_eq(wr_redis_pauses_next(&pauses, (uint64_t) most_us[i]), most_us[i], "row %zu",
                     i);
    }
    wr_redis_pauses_reset(&pauses);
    cr_assert_eq(wr_redis_pauses_next(&pauses, 100), 100);
}

Test(redis_retry, jitter_is_full)
{
    struct wr_redis_pauses pauses = {.min_us = 100, .max_us = 1000, .n = 10};
    bool is_low = false, is_high = false;

    for (uint64_t random = 0; random < 100000; random += 37) {
        const int64_t pause_us = wr_redis_pauses_next(&pauses, random);

        cr_assert(pause_us >= 0 && pause_us <= 1000);
        is_low = is_low || pause_us < 100;
        is_high = is_high || pause_us > 900;
    }
    cr_assert(is_low && is_high);
}

Test(redis_retry, very_many_failures_overflow_nothing)
{
    struct wr_redis_pauses pauses = {.min_us = 1, .max_us = INT64_MAX / 2, .n = UINT32_MAX};

    cr_assert_geq(wr_redis_pauses_next(&pauses, UINT64_MAX), 0);
    cr_assert_eq(pauses.n, UINT32_MAX);
}

Test(redis_retry, a_row_of_timeouts_opens_the_breaker_once)
{
    struct wr_redis_breaker breaker = {.max_timeouts = 3};

    cr_assert_not(wr_redis_breaker_timed_out(&breaker));
    cr_assert_not(wr_redis_breaker_timed_out(&breaker));
    cr_assert_not(breaker.is_open);
    cr_assert(wr_redis_breaker_timed_out(&breaker));
    cr_assert(breaker.is_open);
    cr_assert_not(wr_redis_breaker_timed_out(&breaker));
}

Test(redis_retry, an_answer_ends_the_row)
{
    struct wr_redis_breaker breaker = {.max_timeouts = 2};

    for (int i = 0; i < 10; i++) {
        cr_assert_not(wr_redis_breaker_timed_out(&breaker));
        wr_redis_breaker_answered(&breaker);
    }
}

Test(redis_retry, an_answer_does_not_close_an_open_breaker_but_a_probe_does)
{
    struct wr_redis_breaker breaker = {.max_timeouts = 2};

    cr_assert(wr_redis_breaker_trip(&breaker));
    cr_assert_not(wr_redis_breaker_trip(&breaker));
    wr_redis_breaker_answered(&breaker);
    cr_assert(breaker.is_open);
    cr_assert(wr_redis_breaker_close(&breaker));
    cr_assert_not(wr_redis_breaker_close(&breaker));
    cr_assert_not(wr_redis_breaker_timed_out(&breaker));
}
