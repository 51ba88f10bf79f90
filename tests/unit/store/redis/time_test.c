/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/time.h"

#include <criterion/criterion.h>

#define HERE INT64_C(1000000000)
#define THERE INT64_C(1700000000000000)

Test(redis_time, unknown_until_an_exchange)
{
    struct wr_redis_time time = {0};

    cr_assert_eq(wr_redis_time_latest(&time, HERE), 0);
    wr_redis_time_note(&time, THERE, HERE, HERE + 500);
    cr_assert_neq(wr_redis_time_latest(&time, HERE), 0);
    wr_redis_time_forget(&time);
    cr_assert_eq(wr_redis_time_latest(&time, HERE), 0);
}

Test(redis_time, the_latest_is_as_if_the_answer_was_given_at_once)
{
    struct wr_redis_time time = {0};

    wr_redis_time_note(&time, THERE, HERE, HERE + 500);
    cr_assert_eq(wr_redis_time_latest(&time, HERE), THERE);
    cr_assert_eq(wr_redis_time_latest(&time, HERE + 500), THERE + 500);
}

/* The server's clock is THERE at HERE; an exchange that took long said little. */
Test(redis_time, exchanges_narrow_it)
{
    struct wr_redis_time time = {0};

    wr_redis_time_note(&time, THERE + 90000, HERE, HERE + 100000);
    cr_assert_eq(wr_redis_time_latest(&time, HERE + 100000), THERE + 190000);
    wr_redis_time_note(&time, THERE + 100050, HERE + 100000, HERE + 100100);
    cr_assert_eq(wr_redis_time_latest(&time, HERE + 100100), THERE + 100150);
    wr_redis_time_note(&time, THERE + 290000, HERE + 200000, HERE + 300000);

    const int64_t latest_us = wr_redis_time_latest(&time, HERE + 300000);

    cr_assert(latest_us >= THERE + 300000 && latest_us <= THERE + 300300, "%ld us off",
              (long) (latest_us - THERE - 300000));
}

Test(redis_time, a_clock_that_was_set_is_believed)
{
    static const int64_t steps_us[] = {3600000000, -3600000000, 50000, -50000};

    for (size_t i = 0; i < sizeof steps_us / sizeof steps_us[0]; i++) {
        struct wr_redis_time time = {0};

        wr_redis_time_note(&time, THERE, HERE, HERE + 100);
        wr_redis_time_note(&time, THERE + 1000 + steps_us[i], HERE + 1000, HERE + 1100);
        cr_assert_eq(wr_redis_time_latest(&time, HERE + 1100), THERE + 1100 + steps_us[i],
                     "row %zu", i);
    }
}

/* Two clocks part by up to some hundred millionths; the bound grows with the time without word. */
Test(redis_time, never_before_the_true_time_though_clocks_drift)
{
    struct wr_redis_time time = {0};
    int64_t true_us = THERE;

    for (int64_t here_us = HERE; here_us < HERE + 600000000; here_us += 1000000) {
        wr_redis_time_note(&time, true_us + 50, here_us, here_us + 100);
        true_us += 1000000 + 500;
        cr_assert_geq(wr_redis_time_latest(&time, here_us + 1000000), true_us);
        cr_assert_leq(wr_redis_time_latest(&time, here_us + 1000000), true_us + 2000);
    }
}
