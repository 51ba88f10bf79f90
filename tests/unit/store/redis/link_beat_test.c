/* SPDX-License-Identifier: Apache-2.0 */
/* When a link holds requests off, and asks whether the server is there. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/capture.h"
#include "tests/support/wait_for.h"
#include "tests/unit/store/redis/link_desk.h"

Test(redis_link_beat, a_row_of_timeouts_holds_requests_off_until_a_probe_is_answered,
     .timeout = 300)
{
    struct ask asks[3], next;

    lay_desk();
    link_desk.options.limits.slow_us = 2000;
    open_desk_and_wait();
    wr_fake_redis_freeze(link_desk.fake, true);
    for (int i = 0; i < 3; i++) {
        post(&asks[i], "ECHO", "x", 2000);
    }
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(wait_for(&asks[i]), WR_REDIS_TIMED_OUT);
    }
    cr_assert_eq(ask_for(&next, "ECHO", "x"), WR_REDIS_AWAY);
    cr_assert_eq(counted(WR_METRIC_REDIS_BREAKER_OPENS), 1);
    wr_fake_redis_freeze(link_desk.fake, false);
    cr_assert_eq(sem_wait(&link_desk.is_ready), 0);
    cr_assert_eq(ask_for(&next, "ECHO", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(wr_fake_redis_connections(link_desk.fake), 1);
    clear_desk();
}

Test(redis_link_beat, a_probe_that_nobody_answers_ends_the_connection, .timeout = 300)
{
    struct ask ask;

    lay_desk();
    link_desk.options.limits.connect_timeout_us = 50000;
    link_desk.options.limits.breaker_timeouts = 1;
    link_desk.options.limits.slow_us = 2000;
    open_desk_and_wait();
    wr_fake_redis_freeze(link_desk.fake, true);
    post(&ask, "ECHO", "x", 2000);
    cr_assert_eq(wait_for(&ask), WR_REDIS_TIMED_OUT);
    cr_assert_eq(sem_wait(&link_desk.is_down), 0);
    wr_fake_redis_freeze(link_desk.fake, false);
    wait_for_echo();
    clear_desk();
}

Test(redis_link_beat, callers_in_a_hurry_open_no_breaker, .timeout = 300)
{
    struct ask asks[5];

    lay_desk();
    open_desk_and_wait();
    wr_fake_redis_freeze(link_desk.fake, true);
    for (int i = 0; i < 5; i++) {
        post(&asks[i], "ECHO", "x", 1000);
    }
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(wait_for(&asks[i]), WR_REDIS_TIMED_OUT);
    }
    wr_fake_redis_freeze(link_desk.fake, false);
    cr_assert(is_ready());
    cr_assert_eq(counted(WR_METRIC_REDIS_BREAKER_OPENS), 0);
    clear_desk();
}

Test(redis_link_beat, an_idle_server_that_went_silent_is_found_out, .timeout = 300)
{
    lay_desk();
    link_desk.options.limits.beat_us = 5000;
    link_desk.options.limits.connect_timeout_us = 50000;
    open_desk_and_wait();
    wr_fake_redis_freeze(link_desk.fake, true);
    cr_assert_eq(sem_wait(&link_desk.is_down), 0);
    cr_assert_str_eq(link_desk.why, "does not answer (PING)");
    wr_fake_redis_freeze(link_desk.fake, false);
    wait_for_echo();
    clear_desk();
}

/* Pings are answered in time and requests are not: each takes its turn to be right. */
Test(redis_link_beat, a_breaker_that_comes_and_goes_has_few_lines, .timeout = 300)
{
    struct capture capture;
    int n_lines = 0;

    lay_desk();
    link_desk.options.limits.breaker_timeouts = 1;
    link_desk.options.limits.slow_us = 10000;
    open_desk_and_wait();
    capture_start(&capture);
    for (int i = 0; i < 50; i++) {
        struct ask slow;

        wr_fake_redis_freeze(link_desk.fake, true);
        post(&slow, "ECHO", "x", 6000);
        cr_assert_eq(wait_for(&slow), WR_REDIS_TIMED_OUT);
        wr_fake_redis_freeze(link_desk.fake, false);
        WAIT_FOR(is_ready());
    }
    capture_stop(&capture);
    for (const char *at = capture.text; (at = strstr(at, "Fake at")) != NULL; at++) {
        n_lines++;
    }
    cr_assert_geq(n_lines, 2, "%s", capture.text);
    cr_assert_leq(n_lines, 20, "of a hundred: %s", capture.text);
    clear_desk();
}
