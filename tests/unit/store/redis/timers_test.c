/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/timers.h"

#include <criterion/criterion.h>

#define START INT64_C(1000000000)
#define N 100

struct desk {
    struct wr_redis_timers timers;
    struct wr_redis_timer timer[N];
    int64_t fired_us[N]; /* 0: not yet */
    size_t n_fired;
};

static struct desk desk;

static void fired(struct wr_redis_timer *timer, int64_t mono_us)
{
    const size_t number = (size_t) (timer - desk.timer);

    cr_assert_eq(desk.fired_us[number], 0, "timer %zu went off twice", number);
    desk.fired_us[number] = mono_us;
    desk.n_fired++;
}

static void lay_desk(void)
{
    desk = (struct desk){0};
    wr_redis_timers_init(&desk.timers, START);
    for (size_t i = 0; i < N; i++) {
        desk.timer[i].on_due = fired;
    }
}

static void set(size_t number, int64_t due_us)
{
    wr_redis_timer_set(&desk.timers, &desk.timer[number], due_us);
}

Test(redis_timers, each_goes_off_once_never_early_and_hardly_late)
{
    static const int64_t after_us[] = {0,      1,      255,    256,     257,     5000,
                                       131071, 131072, 131073, 1000000, 9999999, 60000000};
    const size_t n = sizeof after_us / sizeof after_us[0];

    lay_desk();
    for (size_t i = 0; i < n; i++) {
        set(i, START + after_us[i]);
    }
    while (desk.n_fired < n) {
        const int64_t next_us = wr_redis_timers_next(&desk.timers);

        cr_assert_neq(next_us, INT64_MAX);
        wr_redis_timers_run(&desk.timers, next_us);
    }
    for (size_t i = 0; i < n; i++) {
        const int64_t late_us = desk.fired_us[i] - (START + after_us[i]);

        cr_assert(late_us >= 0 && late_us < WR_REDIS_TICK_US + 1, "row %zu: %ld us late", i,
                  (long) late_us);
    }
    cr_assert_eq(wr_redis_timers_next(&desk.timers), INT64_MAX);
}

Test(redis_timers, a_long_gap_misses_nobody)
{
    lay_desk();
    for (size_t i = 0; i < N; i++) {
        set(i, START + (int64_t) i * 77777);
    }
    wr_redis_timers_run(&desk.timers, START + 3600 * INT64_C(1000000));
    cr_assert_eq(desk.n_fired, N);
}

Test(redis_timers, nothing_set_is_nothing_to_wait_for)
{
    lay_desk();
    cr_assert_eq(wr_redis_timers_next(&desk.timers), INT64_MAX);
    wr_redis_timers_run(&desk.timers, START + 1000000);
    cr_assert_eq(desk.n_fired, 0);
}

Test(redis_timers, a_cleared_one_stays_silent)
{
    lay_desk();
    set(0, START + 1000);
    set(1, START + 1000);
    cr_assert(wr_redis_timer_is_set(&desk.timer[0]));
    wr_redis_timer_clear(&desk.timer[0]);
    wr_redis_timer_clear(&desk.timer[0]);
    cr_assert_not(wr_redis_timer_is_set(&desk.timer[0]));
    wr_redis_timers_run(&desk.timers, START + 2000);
    cr_assert_eq(desk.n_fired, 1);
    cr_assert_neq(desk.fired_us[1], 0);
}

Test(redis_timers, a_moved_one_goes_off_at_its_new_moment)
{
    lay_desk();
    set(0, START + 1000);
    set(0, START + 900000);
    wr_redis_timers_run(&desk.timers, START + 500000);
    cr_assert_eq(desk.n_fired, 0);
    wr_redis_timers_run(&desk.timers, START + 901000);
    cr_assert_eq(desk.n_fired, 1);
}

Test(redis_timers, what_is_over_comes_at_the_next_run)
{
    lay_desk();
    wr_redis_timers_run(&desk.timers, START + 50000);
    set(0, START + 10);
    cr_assert_leq(wr_redis_timers_next(&desk.timers), START + 50000 + WR_REDIS_TICK_US);
    wr_redis_timers_run(&desk.timers, START + 50000 + WR_REDIS_TICK_US);
    cr_assert_eq(desk.n_fired, 1);
}

static void set_and_clear_others(struct wr_redis_timer *timer, int64_t mono_us)
{
    fired(timer, mono_us);
    wr_redis_timer_clear(&desk.timer[1]);
    wr_redis_timer_set(&desk.timers, &desk.timer[2], mono_us);
}

Test(redis_timers, one_that_is_due_may_clear_another_and_set_a_third)
{
    lay_desk();
    desk.timer[0].on_due = set_and_clear_others;
    set(0, START + 10);
    set(1, START + 20);
    wr_redis_timers_run(&desk.timers, START + 1000);
    cr_assert_eq(desk.n_fired, 1);
    wr_redis_timers_run(&desk.timers, START + 2000);
    cr_assert_eq(desk.n_fired, 2);
    cr_assert_eq(desk.fired_us[1], 0);
    cr_assert_neq(desk.fired_us[2], 0);
}
