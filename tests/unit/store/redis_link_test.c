/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/link.h"

#include <criterion/criterion.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <hiredis/hiredis.h>

#include "metrics/metrics.h"
#include "store/redis/command.h"
#include "store/redis/loop.h"
#include "store/redis/request.h"
#include "tests/support/capture.h"
#include "tests/support/fake_redis.h"

#define PATIENT_US INT64_C(10000000)

/* A link to a fake server, and what is seen of both. */
struct desk {
    struct wr_fake_redis *fake;
    struct wr_metrics *metrics;
    struct wr_redis_loop *loop;
    struct wr_redis_link *link;
    struct wr_redis_link_options options;
    sem_t is_ready; /* posted at each change to ready */
    sem_t is_down, is_pushed;
    /* of the loop's thread, then read under a call of it */
    char why[256], pushed[64];
    int n_up, n_down;
    /* of the fake's thread */
    atomic_int n_loads, n_scripts, n_errors;
    const char *error; /* to EVALSHA, `n_errors` times */
    const char *ping, *login, *role, *name, *subscribe;
    atomic_int n_subscribes;
    char auth[64];
    double moment;
};

static struct desk desk;

static bool is(struct wr_str word, const char *text)
{
    return wr_str_equal(word, wr_str_of(text));
}

/* The fake's thread. */
static const char *answer(void *context, const struct wr_str *words, size_t n)
{
    (void) context;
    if (is(words[0], "DIE")) {
        return WR_FAKE_HANGS_UP;
    }
    if (is(words[0], "HUSH")) {
        return WR_FAKE_SAYS_NOTHING;
    }
    if (is(words[0], "RUBBISH")) {
        return "nonsense\r\n";
    }
    if (is(words[0], "TWICE")) {
        return "+OK\r\n+OK\r\n";
    }
    if (is(words[0], "PING")) {
        return desk.ping;
    }
    if (is(words[0], "ROLE")) {
        return desk.role;
    }
    if (is(words[0], "CLIENT")) {
        return desk.name;
    }
    if (is(words[0], "AUTH")) {
        (void) snprintf(desk.auth, sizeof desk.auth, "%.*s %.*s", (int) words[1].len, words[1].ptr,
                        n > 2 ? (int) words[2].len : 0, n > 2 ? words[2].ptr : "");
        return desk.login;
    }
    if (is(words[0], "SCRIPT")) {
        (void) atomic_fetch_add(&desk.n_loads, 1);
    }
    if (is(words[0], "MOMENT")) {
        memcpy(&desk.moment, words[1].ptr, sizeof desk.moment);
    }
    if (is(words[0], "SUBSCRIBE")) {
        (void) atomic_fetch_add(&desk.n_subscribes, 1);
        return desk.subscribe != NULL
                   ? desk.subscribe
                   : "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$"
                     "5\r\nhello\r\n";
    }
    if (is(words[0], "EVALSHA")) {
        (void) atomic_fetch_add(&desk.n_scripts, 1);
        return atomic_fetch_sub(&desk.n_errors, 1) > 0 ? desk.error : ":1\r\n";
    }
    return NULL;
}

static void on_ready(void *context, struct wr_redis_link *link, bool is_ready)
{
    (void) context;
    (void) link;
    if (is_ready) {
        (void) sem_post(&desk.is_ready);
    }
}

static void on_up(void *context, struct wr_redis_link *link)
{
    (void) context;
    (void) link;
    desk.n_up++;
}

static void on_down(void *context, struct wr_redis_link *link, const char *why)
{
    (void) context;
    (void) link;
    desk.n_down++;
    (void) snprintf(desk.why, sizeof desk.why, "%s", why);
    (void) sem_post(&desk.is_down);
}

static void on_push(void *context, struct wr_redis_link *link, const struct redisReply *reply)
{
    (void) context;
    (void) link;
    (void) snprintf(desk.pushed, sizeof desk.pushed, "%s",
                    reply->elements == 3 && reply->element[2]->str != NULL ? reply->element[2]->str
                                                                           : "");
    (void) sem_post(&desk.is_pushed);
}

static void on_loop(wr_redis_job_fn run, void *context)
{
    wr_redis_loop_call(desk.loop, &(struct wr_redis_job){.run = run, .context = context});
}

static void open_link(struct wr_redis_job *job)
{
    (void) job;
    wr_redis_link_open(desk.link);
}

static void close_link(struct wr_redis_job *job)
{
    (void) job;
    wr_redis_link_close(desk.link);
}

static void renew_link(struct wr_redis_job *job)
{
    (void) job;
    wr_redis_link_renew(desk.link);
}

static void look(struct wr_redis_job *job)
{
    *(bool *) job->context = wr_redis_link_is_ready(desk.link);
}

static bool is_ready(void)
{
    bool is = false;

    on_loop(look, &is);
    return is;
}

static size_t count_late(const struct redisReply *reply)
{
    return reply->str != NULL && strcmp(reply->str, "late") == 0 ? 3 : 0;
}

/* A fake and a link that is not open yet; `desk.options` may be changed before `begin`. */
static void lay_desk(void)
{
    cr_assert_eq(sem_init(&desk.is_ready, 0, 0) + sem_init(&desk.is_down, 0, 0) +
                     sem_init(&desk.is_pushed, 0, 0),
                 0);
    desk.fake = wr_fake_redis_start(answer, NULL);
    desk.metrics = wr_metrics_new();

    struct wr_metrics_block *const block = wr_metrics_block_new(desk.metrics);

    cr_assert_eq(wr_redis_loop_new("test-loop", block, &desk.loop), WR_OK);
    cr_assert_eq(wr_redis_loop_start(desk.loop), WR_OK);
    desk.options = (struct wr_redis_link_options){
        .loop = desk.loop,
        .limits = {.connect_timeout_us = PATIENT_US,
                   .slow_us = PATIENT_US,
                   .pause_min_us = 1000,
                   .pause_max_us = 10000,
                   .breaker_timeouts = 3},
        .place = {.host = wr_fake_redis_path(desk.fake)},
        .script_load = WR_STR("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$1\r\nx\r\n"),
        .count_late = count_late,
        .what = WR_STR("Fake"),
        .on_ready = on_ready,
        .on_up = on_up,
        .on_down = on_down,
        .on_push = on_push,
    };
}

static void begin(void)
{
    cr_assert_eq(wr_redis_link_new(&desk.options, &desk.link), WR_OK);
    on_loop(open_link, NULL);
}

static void begin_and_wait(void)
{
    begin();
    cr_assert_eq(sem_wait(&desk.is_ready), 0);
}

static void clear_desk(void)
{
    on_loop(close_link, NULL);
    wr_redis_loop_stop(desk.loop);
    wr_redis_link_destroy(desk.link);
    wr_redis_loop_destroy(desk.loop);
    wr_fake_redis_stop(desk.fake);
    wr_metrics_destroy(desk.metrics);
}

static uint64_t counted(enum wr_metric metric)
{
    return wr_metrics_sum(desk.metrics, metric);
}

/* A request, and how it ended. */
struct ask {
    struct wr_redis_request request;
    struct wr_redis_job job;
    char bytes[256];
    int64_t timeout_us;
    sem_t is_done;
    enum wr_redis_end end;
    int n_ends;
    char text[64];
    long long number;
};

static void ended(struct wr_redis_request *request, enum wr_redis_end end,
                  const struct redisReply *reply)
{
    struct ask *const ask = request->context;

    ask->end = end;
    ask->n_ends++;
    if (reply != NULL) {
        ask->number = reply->integer;
        (void) snprintf(ask->text, sizeof ask->text, "%s", reply->str != NULL ? reply->str : "");
    }
    (void) sem_post(&ask->is_done);
}

static void send(struct wr_redis_job *job)
{
    struct ask *const ask = job->context;

    ask->request.deadline_mono_us = wr_redis_loop_now(desk.loop) + ask->timeout_us;
    wr_redis_request_start(&ask->request, desk.loop);
    wr_redis_link_send(desk.link, &ask->request, NULL, NULL);
}

static void write_ask(struct ask *ask, const char *word, const char *argument, int64_t timeout_us)
{
    const struct wr_str words[] = {wr_str_of(word), wr_str_of(argument)};

    *ask = (struct ask){.timeout_us = timeout_us};
    cr_assert_leq(wr_redis_command_size(words, 2), sizeof ask->bytes);
    ask->request.bytes.ptr = ask->bytes;
    ask->request.bytes.len = wr_redis_command_write(words, 2, ask->bytes, NULL);
    ask->request.on_end = ended;
    ask->request.context = ask;
    ask->job = (struct wr_redis_job){.run = send, .context = ask};
    cr_assert_eq(sem_init(&ask->is_done, 0, 0), 0);
}

static void post(struct ask *ask, const char *word, const char *argument, int64_t timeout_us)
{
    write_ask(ask, word, argument, timeout_us);
    wr_redis_loop_push(desk.loop, &ask->job);
}

static enum wr_redis_end wait_for(struct ask *ask)
{
    cr_assert_eq(sem_wait(&ask->is_done), 0);
    cr_assert_eq(ask->n_ends, 1);
    return ask->end;
}

static enum wr_redis_end ask_for(struct ask *ask, const char *word, const char *argument)
{
    post(ask, word, argument, PATIENT_US);
    return wait_for(ask);
}

/* Asks again and again until the answer is REPLIED: the link is on its way back. */
static void wait_for_echo(void)
{
    struct ask ask;
    int n = 0;

    while (ask_for(&ask, "ECHO", "back") != WR_REDIS_REPLIED) {
        cr_assert_lt(n++, 1000000);
    }
    cr_assert_str_eq(ask.text, "back");
}

Test(redis_link, replies_come_to_those_who_asked, .timeout = 60)
{
    static struct ask asks[500];

    lay_desk();
    begin();
    for (size_t i = 0; i < 500; i++) {
        char text[16];

        (void) snprintf(text, sizeof text, "%zu", i);
        post(&asks[i], "ECHO", text, PATIENT_US);
    }
    for (size_t i = 0; i < 500; i++) {
        cr_assert_eq(wait_for(&asks[i]), WR_REDIS_REPLIED, "those before it was up included");
        cr_assert_eq((size_t) atoi(asks[i].text), i);
    }
    cr_assert_eq(desk.n_up, 1);
    cr_assert_eq(counted(WR_METRIC_REDIS_CONNECTS), 1);
    clear_desk();
}

Test(redis_link, a_timeout_leaves_a_hole_in_the_order, .timeout = 60)
{
    struct ask late, next;

    lay_desk();
    begin_and_wait();
    wr_fake_redis_freeze(desk.fake, true);
    post(&late, "ECHO", "late", 2000);
    cr_assert_eq(wait_for(&late), WR_REDIS_TIMED_OUT);
    cr_assert(late.request.was_sent);
    post(&next, "ECHO", "next", PATIENT_US);
    wr_fake_redis_freeze(desk.fake, false);
    cr_assert_eq(wait_for(&next), WR_REDIS_REPLIED);
    cr_assert_str_eq(next.text, "next");
    cr_assert_eq(ask_for(&next, "ECHO", "late"), WR_REDIS_REPLIED);
    cr_assert_eq(counted(WR_METRIC_STORE_LATE), 3, "of what nobody waited for");
    clear_desk();
}

Test(redis_link, what_was_in_flight_is_lost_and_the_next_finds_a_new_connection, .timeout = 60)
{
    struct ask hushed, killer, next;

    lay_desk();
    begin_and_wait();
    post(&hushed, "HUSH", "", PATIENT_US);
    cr_assert_eq(ask_for(&killer, "DIE", ""), WR_REDIS_LOST);
    cr_assert_eq(wait_for(&hushed), WR_REDIS_LOST);
    cr_assert_eq(ask_for(&next, "ECHO", "x"), WR_REDIS_REPLIED, "it waits while it is replaced");
    cr_assert_eq(wr_fake_redis_connections(desk.fake), 2);
    cr_assert_eq(counted(WR_METRIC_REDIS_CONNECTIONS_LOST), 1);
    clear_desk();
}

Test(redis_link, nobody_there, .timeout = 60)
{
    struct ask ask;

    lay_desk();
    desk.options.place.host = wr_str_of("/nowhere/at/all");
    begin();
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(sem_wait(&desk.is_down), 0);
    }
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_AWAY);
    cr_assert_not(is_ready());
    cr_assert_str_eq(desk.why, "No such file or directory");
    cr_assert_geq(counted(WR_METRIC_REDIS_CONNECT_FAILURES), 3);
    clear_desk();
}

Test(redis_link, a_forgotten_script_is_taught_and_asked_for_once_more, .timeout = 60)
{
    struct ask ask;

    lay_desk();
    desk.error = "-NOSCRIPT No matching script.\r\n";
    begin_and_wait();
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(atomic_load(&desk.n_loads), 1, "it is taught ahead of all requests");
    atomic_store(&desk.n_errors, 1);
    cr_assert_eq(ask_for(&ask, "EVALSHA", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(ask.number, 1);
    cr_assert_eq(atomic_load(&desk.n_loads), 2);
    cr_assert_eq(atomic_load(&desk.n_scripts), 2);
    cr_assert_eq(counted(WR_METRIC_REDIS_SCRIPT_LOADS), 1);
    atomic_store(&desk.n_errors, 1000);
    atomic_store(&desk.n_scripts, 0);
    cr_assert_eq(ask_for(&ask, "EVALSHA", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(strncmp(ask.text, "NOSCRIPT", 8), 0);
    cr_assert_eq(atomic_load(&desk.n_scripts), 2, "once, not for ever");
    clear_desk();
}

Test(redis_link, a_row_of_timeouts_holds_requests_off_until_a_probe_is_answered, .timeout = 60)
{
    struct ask asks[3], next;

    lay_desk();
    desk.options.limits.slow_us = 2000;
    begin_and_wait();
    wr_fake_redis_freeze(desk.fake, true);
    for (int i = 0; i < 3; i++) {
        post(&asks[i], "ECHO", "x", 2000);
    }
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(wait_for(&asks[i]), WR_REDIS_TIMED_OUT);
    }
    cr_assert_eq(ask_for(&next, "ECHO", "x"), WR_REDIS_AWAY);
    cr_assert_eq(counted(WR_METRIC_REDIS_BREAKER_OPENS), 1);
    wr_fake_redis_freeze(desk.fake, false);
    cr_assert_eq(sem_wait(&desk.is_ready), 0);
    cr_assert_eq(ask_for(&next, "ECHO", "x"), WR_REDIS_REPLIED);
    cr_assert_eq(wr_fake_redis_connections(desk.fake), 1);
    clear_desk();
}

Test(redis_link, a_probe_that_nobody_answers_ends_the_connection, .timeout = 60)
{
    struct ask ask;

    lay_desk();
    desk.options.limits.connect_timeout_us = 50000;
    desk.options.limits.breaker_timeouts = 1;
    desk.options.limits.slow_us = 2000;
    begin_and_wait();
    wr_fake_redis_freeze(desk.fake, true);
    post(&ask, "ECHO", "x", 2000);
    cr_assert_eq(wait_for(&ask), WR_REDIS_TIMED_OUT);
    cr_assert_eq(sem_wait(&desk.is_down), 0);
    wr_fake_redis_freeze(desk.fake, false);
    wait_for_echo();
    clear_desk();
}

Test(redis_link, callers_in_a_hurry_open_no_breaker, .timeout = 60)
{
    struct ask asks[5];

    lay_desk();
    begin_and_wait();
    wr_fake_redis_freeze(desk.fake, true);
    for (int i = 0; i < 5; i++) {
        post(&asks[i], "ECHO", "x", 1000);
    }
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(wait_for(&asks[i]), WR_REDIS_TIMED_OUT);
    }
    wr_fake_redis_freeze(desk.fake, false);
    cr_assert(is_ready());
    cr_assert_eq(counted(WR_METRIC_REDIS_BREAKER_OPENS), 0);
    clear_desk();
}

Test(redis_link, an_idle_server_that_went_silent_is_found_out, .timeout = 60)
{
    lay_desk();
    desk.options.limits.beat_us = 5000;
    desk.options.limits.connect_timeout_us = 50000;
    begin_and_wait();
    wr_fake_redis_freeze(desk.fake, true);
    cr_assert_eq(sem_wait(&desk.is_down), 0);
    cr_assert_str_eq(desk.why, "does not answer (PING)");
    wr_fake_redis_freeze(desk.fake, false);
    wait_for_echo();
    clear_desk();
}

Test(redis_link, errors_that_say_how_the_server_is, .timeout = 60)
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

        memset(&desk, 0, sizeof desk);
        lay_desk();
        desk.error = rows[i].error;
        atomic_store(&desk.n_errors, 1);
        begin_and_wait();
        cr_assert_eq(ask_for(&ask, "EVALSHA", "x"), WR_REDIS_REPLIED, "%s", rows[i].error);
        cr_assert_eq(strncmp(ask.text, rows[i].error + 1, 4), 0);
        if (rows[i].is_held || rows[i].is_renewed) {
            cr_assert_eq(sem_wait(&desk.is_ready), 0);
        }
        wait_for_echo();
        cr_assert_eq(counted(WR_METRIC_REDIS_BREAKER_OPENS), rows[i].is_held, "%s", rows[i].error);
        cr_assert_eq(wr_fake_redis_connections(desk.fake), rows[i].is_renewed ? 2 : 1, "%s",
                     rows[i].error);
        clear_desk();
    }
}

Test(redis_link, a_renewal_lets_those_in_flight_have_their_answers, .timeout = 60)
{
    struct ask before, after;

    lay_desk();
    begin_and_wait();
    wr_fake_redis_freeze(desk.fake, true);
    post(&before, "ECHO", "before", PATIENT_US);
    on_loop(renew_link, NULL);
    post(&after, "ECHO", "after", PATIENT_US);
    wr_fake_redis_freeze(desk.fake, false);
    cr_assert_eq(wait_for(&before), WR_REDIS_REPLIED);
    cr_assert_eq(wait_for(&after), WR_REDIS_REPLIED);
    cr_assert_str_eq(after.text, "after");
    cr_assert_eq(wr_fake_redis_connections(desk.fake), 2);
    clear_desk();
}

Test(redis_link, a_server_that_talks_nonsense_is_left, .timeout = 60)
{
    static const char *const words[] = {"RUBBISH", "TWICE"};

    for (size_t i = 0; i < 2; i++) {
        struct ask ask;

        memset(&desk, 0, sizeof desk);
        lay_desk();
        begin_and_wait();
        cr_assert_eq(ask_for(&ask, words[i], ""), i == 0 ? WR_REDIS_LOST : WR_REDIS_REPLIED);
        cr_assert_eq(sem_wait(&desk.is_down), 0);
        wait_for_echo();
        cr_assert_eq(wr_fake_redis_connections(desk.fake), 2);
        clear_desk();
    }
}

static void ended_ill(struct wr_redis_request *request, enum wr_redis_end end,
                      const struct redisReply *reply)
{
    if (end == WR_REDIS_REPLIED) {
        wr_redis_link_renew(request->from);
    }
    ended(request, end, reply);
}

/* Whoever finds a reply to be no answer has the link renewed: that is a failure, after which there
 * is a pause, however well the server greets. */
Test(redis_link, a_server_whose_answers_are_none_is_not_asked_in_a_hurry, .timeout = 60)
{
    struct ask garbled, next;
    struct capture capture;

    lay_desk();
    desk.options.limits.pause_min_us = desk.options.limits.pause_max_us = 100000 * PATIENT_US;
    begin_and_wait();
    capture_start(&capture);
    write_ask(&garbled, "ECHO", "x", PATIENT_US);
    garbled.request.on_end = ended_ill;
    wr_redis_loop_push(desk.loop, &garbled.job);
    cr_assert_eq(wait_for(&garbled), WR_REDIS_REPLIED);
    cr_assert_eq(sem_wait(&desk.is_down), 0);
    cr_assert_eq(ask_for(&next, "ECHO", "x"), WR_REDIS_AWAY);
    capture_stop(&capture);
    cr_assert_eq(wr_fake_redis_connections(desk.fake), 1);
    cr_assert_not_null(strstr(capture.text, "with what is no answer of it"), "%s", capture.text);
    clear_desk();
}

/* Pings are answered in time and requests are not: each takes its turn to be right. */
Test(redis_link, a_breaker_that_comes_and_goes_has_few_lines, .timeout = 60)
{
    struct capture capture;
    int n_lines = 0;

    lay_desk();
    desk.options.limits.breaker_timeouts = 1;
    desk.options.limits.slow_us = 10000;
    begin_and_wait();
    capture_start(&capture);
    for (int i = 0; i < 50; i++) {
        struct ask slow;

        wr_fake_redis_freeze(desk.fake, true);
        post(&slow, "ECHO", "x", 6000);
        cr_assert_eq(wait_for(&slow), WR_REDIS_TIMED_OUT);
        wr_fake_redis_freeze(desk.fake, false);
        cr_assert_eq(sem_wait(&desk.is_ready), 0);
    }
    capture_stop(&capture);
    for (const char *at = capture.text; (at = strstr(at, "Fake at")) != NULL; at++) {
        n_lines++;
    }
    cr_assert_geq(n_lines, 2, "%s", capture.text);
    cr_assert_leq(n_lines, 10, "%s", capture.text);
    clear_desk();
}

Test(redis_link, closing_ends_what_is_in_flight, .timeout = 60)
{
    struct ask hushed, after;

    lay_desk();
    begin_and_wait();
    post(&hushed, "HUSH", "", PATIENT_US);
    on_loop(close_link, NULL);
    cr_assert(wait_for(&hushed) == WR_REDIS_LOST || hushed.end == WR_REDIS_AWAY);
    cr_assert_eq(ask_for(&after, "ECHO", "x"), WR_REDIS_AWAY);
    clear_desk();
}

Test(redis_link, greets_with_user_and_password, .timeout = 60)
{
    struct ask ask;

    lay_desk();
    desk.options.user = (struct wr_str) WR_STR("ann");
    desk.options.password = (struct wr_str) WR_STR("secret");
    begin_and_wait();
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_REPLIED);
    cr_assert_str_eq(desk.auth, "ann secret");
    clear_desk();
}

Test(redis_link, a_greeting_that_is_refused_is_no_connection, .timeout = 60)
{
    static const struct {
        const char *ping, *login, *role, *name, *why;
        bool needs_primary;
    } rows[] = {
        {.ping = "-LOADING Redis is loading\r\n", .why = "answers LOADING to PING"},
        {.ping = "-NOAUTH Authentication required.\r\n", .why = "a password is needed"},
        {.ping = "+OK\r\n", .why = "no PONG"},
        {.name = "-NOAUTH Authentication required.\r\n", .why = "a password is needed"},
        {.name = "-ERR max number of clients reached\r\n", .why = "as many clients as it allows"},
        {.login = "-WRONGPASS invalid\r\n", .why = "user or password is wrong"},
        {.role = "*3\r\n$5\r\nslave\r\n$1\r\na\r\n:1\r\n",
         .why = "is a replica",
         .needs_primary = true},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct ask ask;

        memset(&desk, 0, sizeof desk);
        lay_desk();
        desk.ping = rows[i].ping;
        desk.login = rows[i].login;
        desk.name = rows[i].name;
        desk.role = rows[i].role;
        desk.options.password = (struct wr_str) WR_STR("secret");
        desk.options.needs_primary = rows[i].needs_primary;
        begin();
        cr_assert_eq(sem_wait(&desk.is_down), 0);
        cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_AWAY, "row %zu", i);
        cr_assert_not_null(strstr(desk.why, rows[i].why), "row %zu: %s", i, desk.why);
        cr_assert_null(strstr(desk.why, "secret"));
        clear_desk();
    }
}

Test(redis_link, a_user_who_may_not_ping_is_let_in, .timeout = 60)
{
    struct ask ask;

    lay_desk();
    desk.ping = "-NOPERM User weir has no permissions to run the 'ping' command\r\n";
    begin_and_wait();
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_REPLIED);
    clear_desk();
}

static void send_moment(struct wr_redis_job *job)
{
    struct ask *const ask = job->context;

    ask->request.not_after_at = ask->request.bytes.len - 2 - 8;
    send(job);
}

/* The fake's clock is this machine's. */
Test(redis_link, writes_the_deadline_by_the_servers_clock, .timeout = 60)
{
    struct ask ask;
    struct timespec now;

    lay_desk();
    begin_and_wait();
    write_ask(&ask, "MOMENT", "12345678", PATIENT_US);
    ask.job.run = send_moment;
    wr_redis_loop_push(desk.loop, &ask.job);
    cr_assert_eq(wait_for(&ask), WR_REDIS_REPLIED);
    cr_assert_eq(clock_gettime(CLOCK_REALTIME, &now), 0);

    const double left_us = desk.moment - (double) now.tv_sec * 1e6 - (double) now.tv_nsec / 1e3;

    cr_assert(left_us > 0 && left_us < 1.1 * (double) PATIENT_US, "%f us left", left_us);
    clear_desk();
}

static void drop_both(struct wr_redis_job *job)
{
    struct ask *const asks = job->context;

    wr_redis_request_drop(&asks[0].request);
    wr_redis_request_drop(&asks[1].request);
}

Test(redis_link, a_request_that_is_dropped_hears_nothing, .timeout = 60)
{
    struct ask asks[3];

    lay_desk();
    begin_and_wait();
    wr_fake_redis_freeze(desk.fake, true);
    for (size_t i = 0; i < 3; i++) {
        post(&asks[i], "ECHO", i == 2 ? "kept" : "dropped", PATIENT_US);
    }
    on_loop(drop_both, asks);
    wr_fake_redis_freeze(desk.fake, false);
    cr_assert_eq(wait_for(&asks[2]), WR_REDIS_REPLIED);
    cr_assert_str_eq(asks[2].text, "kept");
    cr_assert_eq(asks[0].n_ends + asks[1].n_ends, 0);
    clear_desk();
}

static void subscribe(struct wr_redis_job *job)
{
    (void) job;
    cr_assert_eq(wr_redis_link_subscribe(desk.link, wr_str_of("a b")), WR_OK);
    wr_redis_link_open(desk.link);
}

Test(redis_link, a_subscriber_is_told_what_is_published, .timeout = 60)
{
    struct ask ask;

    lay_desk();
    cr_assert_eq(wr_redis_link_new(&desk.options, &desk.link), WR_OK);
    on_loop(subscribe, NULL);
    cr_assert_eq(sem_wait(&desk.is_pushed), 0);
    cr_assert_eq(sem_wait(&desk.is_pushed), 0);
    cr_assert_str_eq(desk.pushed, "hello");
    cr_assert_eq(ask_for(&ask, "ECHO", "x"), WR_REDIS_AWAY, "no requests over that link");
    clear_desk();
}

/* That server is as one to which nothing is subscribed: a status answers PING. */
Test(redis_link, a_subscriber_who_is_denied_stays_and_tries_again, .timeout = 60)
{
    lay_desk();
    desk.subscribe = "-NOPERM User weir has no permissions to run the 'subscribe' command\r\n";
    desk.ping = "+PONG\r\n";
    desk.options.limits.beat_us = 1000;
    cr_assert_eq(wr_redis_link_new(&desk.options, &desk.link), WR_OK);
    on_loop(subscribe, NULL);
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(sem_wait(&desk.is_pushed), 0);
    }
    cr_assert_geq(atomic_load(&desk.n_subscribes), 5);
    cr_assert_eq(wr_fake_redis_connections(desk.fake), 1);
    on_loop(close_link, NULL);
    cr_assert_eq(desk.n_down, 0);
    clear_desk();
}

static void move_link(struct wr_redis_job *job)
{
    cr_assert_eq(wr_redis_link_move(desk.link, *(struct wr_redis_place *) job->context), WR_OK);
}

Test(redis_link, moves_to_another_place, .timeout = 60)
{
    struct wr_fake_redis *const other = wr_fake_redis_start(NULL, NULL);
    struct wr_redis_place place = {.host = wr_fake_redis_path(other)};

    lay_desk();
    begin_and_wait();
    on_loop(move_link, &place);
    wait_for_echo();
    cr_assert_eq(wr_fake_redis_connections(other), 1);
    place.host = wr_str_of("/nowhere/at/all");
    on_loop(move_link, &place);
    cr_assert_eq(sem_wait(&desk.is_down), 0);
    place.host = wr_fake_redis_path(desk.fake);
    on_loop(move_link, &place);
    wait_for_echo();
    cr_assert_eq(wr_fake_redis_connections(desk.fake), 2);
    clear_desk();
    wr_fake_redis_stop(other);
}
