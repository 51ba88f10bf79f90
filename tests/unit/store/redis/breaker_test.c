/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/breaker.h"

#include <criterion/criterion.h>

Test(redis_breaker, a_row_of_timeouts_opens_the_breaker_once)
{
    struct wr_redis_breaker breaker = {.max_timeouts = 3};

    cr_assert_not(wr_redis_breaker_timed_out(&breaker));
    cr_assert_not(wr_redis_breaker_timed_out(&breaker));
    cr_assert_not(breaker.is_open);
    cr_assert(wr_redis_breaker_timed_out(&breaker));
    cr_assert(breaker.is_open);
    cr_assert_not(wr_redis_breaker_timed_out(&breaker));
}

Test(redis_breaker, an_answer_ends_the_row)
{
    struct wr_redis_breaker breaker = {.max_timeouts = 2};

    for (int i = 0; i < 10; i++) {
        cr_assert_not(wr_redis_breaker_timed_out(&breaker));
        wr_redis_breaker_answered(&breaker);
    }
}

Test(redis_breaker, an_answer_does_not_close_an_open_breaker_but_a_probe_does)
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
