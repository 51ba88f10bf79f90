/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/link.h"

#include <criterion/criterion.h>

#include "tests/unit/store/redis/link_desk.h"

Test(redis_link, closing_ends_what_is_in_flight, .timeout = 300)
{
    struct ask hushed, after;

    lay_desk();
    open_desk_and_wait();
    post(&hushed, "HUSH", "", PATIENT_US);
    on_loop(close_link, NULL);
    cr_assert(wait_for(&hushed) == WR_REDIS_LOST || hushed.end == WR_REDIS_AWAY);
    cr_assert_eq(ask_for(&after, "ECHO", "x"), WR_REDIS_AWAY);
    clear_desk();
}

static void drop_both(struct wr_redis_job *job)
{
    struct ask *const asks = job->context;

    wr_redis_request_drop(&asks[0].request);
    wr_redis_request_drop(&asks[1].request);
}

Test(redis_link, a_request_that_is_dropped_hears_nothing, .timeout = 300)
{
    struct ask asks[3];

    lay_desk();
    open_desk_and_wait();
    wr_fake_redis_freeze(link_desk.fake, true);
    for (size_t i = 0; i < 3; i++) {
        post(&asks[i], "ECHO", i == 2 ? "kept" : "dropped", PATIENT_US);
    }
    on_loop(drop_both, asks);
    wr_fake_redis_freeze(link_desk.fake, false);
    cr_assert_eq(wait_for(&asks[2]), WR_REDIS_REPLIED);
    cr_assert_str_eq(asks[2].text, "kept");
    cr_assert_eq(asks[0].n_ends + asks[1].n_ends, 0);
    clear_desk();
}

static void subscribe(struct wr_redis_job *job)
{
    (void) job;
    cr_assert_eq(wr_redis_link_subscribe(link_desk.link, wr_str_of("a b")), WR_OK);
    wr_redis_link_open(link_desk.link);
}

Test(redis_link, a_subscriber_is_told_what_is_published, .timeout = 300)
{
    struct ask ask;

    lay_desk();
    cr_assert_eq(wr_redis_link_new(&link_desk.options, &link_desk.link), WR_OK);
    on_loop(subscribe, NULL);
    cr_assert_eq(sem_wait(&link_desk.is_pushed), 0);
    cr_assert_eq(sem_wait(&link_desk.is_pushed), 0);
    cr_assert_str_eq(link_desk.pushed, "hello");
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_AWAY, "no requests over that link");
    clear_desk();
}

/* That server is as one to which nothing is subscribed: a status answers PING. */
Test(redis_link, a_subscriber_who_is_denied_stays_and_tries_again, .timeout = 300)
{
    lay_desk();
    link_desk.subscribe = "-NOPERM User weir has no permissions to run the 'subscribe' command\r\n";
    link_desk.ping = "+PONG\r\n";
    link_desk.options.limits.beat_us = 1000;
    cr_assert_eq(wr_redis_link_new(&link_desk.options, &link_desk.link), WR_OK);
    on_loop(subscribe, NULL);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(sem_wait(&link_desk.is_pushed), 0);
    }
    cr_assert_geq(atomic_load(&link_desk.n_subscribes), 5);
    cr_assert_eq(wr_fake_redis_connections(link_desk.fake), 1);
    on_loop(close_link, NULL);
    cr_assert_eq(link_desk.n_down, 0);
    clear_desk();
}
