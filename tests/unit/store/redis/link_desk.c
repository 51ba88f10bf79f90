/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/redis/link_desk.h"

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/command.h"

struct link_desk link_desk;

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
        return link_desk.ping;
    }
    if (is(words[0], "ROLE")) {
        return link_desk.role;
    }
    if (is(words[0], "CLIENT")) {
        return link_desk.name;
    }
    if (is(words[0], "AUTH")) {
        (void) snprintf(link_desk.auth, sizeof link_desk.auth, "%.*s %.*s", (int) words[1].len,
                        words[1].ptr, n > 2 ? (int) words[2].len : 0, n > 2 ? words[2].ptr : "");
        return link_desk.login;
    }
    if (is(words[0], "SCRIPT")) {
        (void) atomic_fetch_add(&link_desk.n_loads, 1);
    }
    if (is(words[0], "MOMENT")) {
        memcpy(&link_desk.moment, words[1].ptr, sizeof link_desk.moment);
    }
    if (is(words[0], "SUBSCRIBE")) {
        (void) atomic_fetch_add(&link_desk.n_subscribes, 1);
        return link_desk.subscribe != NULL
                   ? link_desk.subscribe
                   : "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:1\r\n*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$"
                     "5\r\nhello\r\n";
    }
    if (is(words[0], "EVALSHA")) {
        (void) atomic_fetch_add(&link_desk.n_scripts, 1);
        return atomic_fetch_sub(&link_desk.n_errors, 1) > 0 ? link_desk.error : ":1\r\n";
    }
    return NULL;
}

static void on_ready(void *context, struct wr_redis_link *link, bool is_ready)
{
    (void) context;
    (void) link;
    if (is_ready) {
        (void) sem_post(&link_desk.is_ready);
    }
}

static void on_up(void *context, struct wr_redis_link *link)
{
    (void) context;
    (void) link;
    link_desk.n_up++;
}

static void on_down(void *context, struct wr_redis_link *link, const char *why)
{
    (void) context;
    (void) link;
    link_desk.n_down++;
    (void) snprintf(link_desk.why, sizeof link_desk.why, "%s", why);
    (void) sem_post(&link_desk.is_down);
}

static void on_push(void *context, struct wr_redis_link *link, const struct redisReply *reply)
{
    (void) context;
    (void) link;
    (void) snprintf(link_desk.pushed, sizeof link_desk.pushed, "%s",
                    reply->elements == 3 && reply->element[2]->str != NULL ? reply->element[2]->str
                                                                           : "");
    (void) sem_post(&link_desk.is_pushed);
}

void on_loop(wr_redis_job_fn run, void *context)
{
    wr_redis_loop_call(link_desk.loop, &(struct wr_redis_job){.run = run, .context = context});
}

static void open_link(struct wr_redis_job *job)
{
    (void) job;
    wr_redis_link_open(link_desk.link);
}

void close_link(struct wr_redis_job *job)
{
    (void) job;
    wr_redis_link_close(link_desk.link);
}

static void look(struct wr_redis_job *job)
{
    *(bool *) job->context = wr_redis_link_is_ready(link_desk.link);
}

bool is_ready(void)
{
    bool is = false;

    on_loop(look, &is);
    return is;
}

static size_t count_late(const struct redisReply *reply)
{
    return reply->str != NULL && strcmp(reply->str, "late") == 0 ? 3 : 0;
}

void lay_desk(void)
{
    cr_assert_eq(sem_init(&link_desk.is_ready, 0, 0) + sem_init(&link_desk.is_down, 0, 0) +
                     sem_init(&link_desk.is_pushed, 0, 0),
                 0);
    link_desk.fake = wr_fake_redis_start(answer, NULL);
    link_desk.metrics = wr_metrics_new();

    struct wr_metrics_block *const block = wr_metrics_block_new(link_desk.metrics);

    cr_assert_eq(wr_redis_loop_new("test-loop", block, &link_desk.loop), WR_OK);
    cr_assert_eq(wr_redis_loop_start(link_desk.loop), WR_OK);
    link_desk.options = (struct wr_redis_link_options){
        .loop = link_desk.loop,
        .limits = {.connect_timeout_us = PATIENT_US,
                   .slow_us = PATIENT_US,
                   .pause_min_us = 1000,
                   .pause_max_us = 10000,
                   .breaker_timeouts = 3},
        .place = {.host = wr_fake_redis_path(link_desk.fake)},
        .script_load = WR_STR("*3\r\n$6\r\nSCRIPT\r\n$4\r\nLOAD\r\n$1\r\nx\r\n"),
        .count_late = count_late,
        .what = WR_STR("Fake"),
        .on_ready = on_ready,
        .on_up = on_up,
        .on_down = on_down,
        .on_push = on_push,
    };
}

void open_desk(void)
{
    cr_assert_eq(wr_redis_link_new(&link_desk.options, &link_desk.link), WR_OK);
    on_loop(open_link, NULL);
}

void open_desk_and_wait(void)
{
    open_desk();
    cr_assert_eq(sem_wait(&link_desk.is_ready), 0);
}

void clear_desk(void)
{
    on_loop(close_link, NULL);
    wr_redis_loop_stop(link_desk.loop);
    wr_redis_link_destroy(link_desk.link);
    wr_redis_loop_destroy(link_desk.loop);
    wr_fake_redis_stop(link_desk.fake);
    wr_metrics_destroy(link_desk.metrics);
}

uint64_t counted(enum wr_metric metric)
{
    return wr_metrics_sum(link_desk.metrics, metric);
}

void ask_ended(struct wr_redis_request *request, enum wr_redis_end end,
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

void send_ask(struct wr_redis_job *job)
{
    struct ask *const ask = job->context;

    ask->request.deadline_mono_us = wr_redis_loop_now(link_desk.loop) + ask->timeout_us;
    wr_redis_request_start(&ask->request, link_desk.loop);
    wr_redis_link_send(link_desk.link, &ask->request, NULL, NULL);
}

void write_ask(struct ask *ask, const char *word, const char *argument, int64_t timeout_us)
{
    const struct wr_str words[] = {wr_str_of(word), wr_str_of(argument)};

    *ask = (struct ask){.timeout_us = timeout_us};
    cr_assert_leq(wr_redis_command_size(words, 2), sizeof ask->bytes);
    ask->request.bytes.ptr = ask->bytes;
    ask->request.bytes.len = wr_redis_command_write(words, 2, ask->bytes, NULL);
    ask->request.on_end = ask_ended;
    ask->request.context = ask;
    ask->job = (struct wr_redis_job){.run = send_ask, .context = ask};
    cr_assert_eq(sem_init(&ask->is_done, 0, 0), 0);
}

void post(struct ask *ask, const char *word, const char *argument, int64_t timeout_us)
{
    write_ask(ask, word, argument, timeout_us);
    wr_redis_loop_push(link_desk.loop, &ask->job);
}

enum wr_redis_end wait_for(struct ask *ask)
{
    cr_assert_eq(sem_wait(&ask->is_done), 0);
    cr_assert_eq(ask->n_ends, 1);
    return ask->end;
}

enum wr_redis_end ask_for(struct ask *ask, const char *word, const char *argument)
{
    post(ask, word, argument, PATIENT_US);
    return wait_for(ask);
}

void wait_for_echo(void)
{
    struct ask ask;
    int n = 0;

    while (ask_for(&ask, "ECHO", "back") != WR_REDIS_REPLIED) {
        cr_assert_lt(n++, 1000000);
    }
    cr_assert_str_eq(ask.text, "back");
}
