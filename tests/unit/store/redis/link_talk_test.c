/* SPDX-License-Identifier: Apache-2.0 */
/* Requests and replies of a link. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "tests/support/capture.h"
#include "tests/unit/store/redis/link_desk.h"

Test(redis_link_talk, replies_come_to_those_who_asked, .timeout = 300)
{
    static struct ask asks[500];

    lay_desk();
    open_desk();
    for (size_t i = 0; i < 500; i++) {
        char text[16];

        (void) snprintf(text, sizeof text, "%zu", i);
        post(&asks[i], "ECHO", text, PATIENT_US);
    }
    for (size_t i = 0; i < 500; i++) {
        cr_assert_eq(wait_for(&asks[i]), WR_REDIS_REPLIED, "those before it was up included");
        cr_assert_eq((size_t) atoi(asks[i].text), i);
    }
    cr_assert_eq(link_desk.n_up, 1);
    cr_assert_eq(counted(WR_METRIC_REDIS_CONNECTS), 1);
    clear_desk();
}

Test(redis_link_talk, a_timeout_leaves_a_hole_in_the_order, .timeout = 300)
{
    struct ask late, next;

    lay_desk();
    open_desk_and_wait();
    wr_fake_redis_freeze(link_desk.fake, true);
    post(&late, "ECHO", "late", 2000);
    cr_assert_eq(wait_for(&late), WR_REDIS_TIMED_OUT);
    cr_assert(late.request.was_sent);
    post(&next, "ECHO", "next", PATIENT_US);
    wr_fake_redis_freeze(link_desk.fake, false);
    cr_assert_eq(wait_for(&next), WR_REDIS_REPLIED);
    cr_assert_str_eq(next.text, "next");
    cr_assert_eq(ask_for(&next, "ECHO", "late"), WR_REDIS_REPLIED);
    cr_assert_eq(counted(WR_METRIC_STORE_LATE), 3, "of what nobody waited for");
    clear_desk();
}

Test(redis_link_talk, a_forgotten_script_is_taught_and_asked_for_again, .timeout = 300)
{
    struct ask ask;

    lay_desk();
    link_desk.error = "-NOSCRIPT No matching script.\r\n";
    open_desk_and_wait();
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(atomic_load(&link_desk.n_loads), 1, "it is taught ahead of all requests");
    atomic_store(&link_desk.n_errors, 1);
    cr_assert_eq(ask_for(&ask, "EVALSHA", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(ask.number, 1);
    cr_assert_eq(atomic_load(&link_desk.n_loads), 2);
    cr_assert_eq(atomic_load(&link_desk.n_scripts), 2);
    cr_assert_eq(counted(WR_METRIC_REDIS_SCRIPT_LOADS), 1);
    atomic_store(&link_desk.n_errors, 3);
    cr_assert_eq(ask_for(&ask, "EVALSHA", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(ask.number, 1, "it may be forgotten again meanwhile");
    atomic_store(&link_desk.n_errors, 1000);
    atomic_store(&link_desk.n_scripts, 0);
    cr_assert_eq(ask_for(&ask, "EVALSHA", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(strncmp(ask.text, "NOSCRIPT", 8), 0);
    cr_assert_eq(atomic_load(&link_desk.n_scripts), 9, "eight times, not for ever");
    clear_desk();
}

Test(redis_link_talk, errors_that_say_how_the_server_is, .timeout = 300)
{
    static const struct {
        const char *error;
        bool is_held, is_renewed;
    } rows[] = {
        {"-LOADING Redis is loading the dataset in memory\r\n", true, false},
        {"-BUSY Redis is busy running a script.\r\n", true, false},
        {"-MASTERDOWN Link with MASTER is down\r\n", true, false},
        {"-READONLY You can't write against a read only replica.\r\n", false, true},
        {"-NOAUTH Authentication required.\r\n", false, true},
        {"-OOM command not allowed\r\n", false, false},
        {"-WRONGTYPE Operation against a key\r\n", false, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ask ask;

        memset(&link_desk, 0, sizeof link_desk);
        lay_desk();
        link_desk.error = rows[i].error;
        atomic_store(&link_desk.n_errors, 1);
        open_desk_and_wait();
        cr_assert_eq(ask_for(&ask, "EVALSHA", "x"), WR_REDIS_REPLIED, "%s", rows[i].error);
        cr_assert_eq(strncmp(ask.text, rows[i].error + 1, 4), 0);
        if (rows[i].is_held || rows[i].is_renewed) {
            cr_assert_eq(sem_wait(&link_desk.is_ready), 0);
        }
        wait_for_echo();
        cr_assert_eq(counted(WR_METRIC_REDIS_BREAKER_OPENS), rows[i].is_held, "%s", rows[i].error);
        cr_assert_eq(wr_fake_redis_connections(link_desk.fake), rows[i].is_renewed ? 2 : 1, "%s",
                     rows[i].error);
        clear_desk();
    }
}

Test(redis_link_talk, a_server_that_talks_nonsense_is_left, .timeout = 300)
{
    static const char *const words[] = {"RUBBISH", "TWICE"};

    for (size_t i = 0; i < 2; i++) {
        struct ask ask;

        memset(&link_desk, 0, sizeof link_desk);
        lay_desk();
        open_desk_and_wait();
        cr_assert_eq(ask_for(&ask, words[i], ""), i == 0 ? WR_REDIS_LOST : WR_REDIS_REPLIED);
        cr_assert_eq(sem_wait(&link_desk.is_down), 0);
        wait_for_echo();
        cr_assert_eq(wr_fake_redis_connections(link_desk.fake), 2);
        clear_desk();
    }
}

static void ended_ill(struct wr_redis_request *request, enum wr_redis_end end,
                      const struct redisReply *reply)
{
    if (end == WR_REDIS_REPLIED) {
        wr_redis_link_renew(request->from);
    }
    ask_ended(request, end, reply);
}

/* Whoever finds a reply to be no answer has the link renewed: that is a failure, after which there
 * is a pause, however well the server greets. */
Test(redis_link_talk, a_server_whose_answers_are_none_is_not_asked_in_a_hurry, .timeout = 300)
{
    struct ask garbled, next;
    struct capture capture;

    lay_desk();
    link_desk.options.limits.pause_min_us = link_desk.options.limits.pause_max_us =
        100000 * PATIENT_US;
    open_desk_and_wait();
    capture_start(&capture);
    write_ask(&garbled, "ECHO", "x", PATIENT_US);
    garbled.request.on_end = ended_ill;
    wr_redis_loop_push(link_desk.loop, &garbled.job);
    cr_assert_eq(wait_for(&garbled), WR_REDIS_REPLIED);
    cr_assert_eq(sem_wait(&link_desk.is_down), 0);
    cr_assert_eq(ask_for(&next, "ECHO", "x"), WR_REDIS_AWAY);
    capture_stop(&capture);
    cr_assert_eq(wr_fake_redis_connections(link_desk.fake), 1);
    cr_assert_not_null(strstr(capture.text, "with what is no answer of it"), "%s", capture.text);
    clear_desk();
}

static void send_moment(struct wr_redis_job *job)
{
    struct ask *const ask = job->context;

    ask->request.not_after_at = ask->request.bytes.len - 2 - 8;
    send_ask(job);
}

/* The fake's clock is this machine's. */
Test(redis_link_talk, writes_the_deadline_by_the_servers_clock, .timeout = 300)
{
    struct ask ask;
    struct timespec now;

    lay_desk();
    open_desk_and_wait();
    write_ask(&ask, "MOMENT", "12345678", PATIENT_US);
    ask.job.run = send_moment;
    wr_redis_loop_push(link_desk.loop, &ask.job);
    cr_assert_eq(wait_for(&ask), WR_REDIS_REPLIED);
    cr_assert_eq(clock_gettime(CLOCK_REALTIME, &now), 0);

    const double left_us =
        link_desk.moment - (double) now.tv_sec * 1e6 - (double) now.tv_nsec / 1e3;

    cr_assert(left_us > 0 && left_us < 1.1 * (double) PATIENT_US, "%f us left", left_us);
    clear_desk();
}
