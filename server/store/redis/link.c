/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

#include <hiredis/hiredis.h>

#include "base/assert.h"
#include "base/log.h"
#include "metrics/metrics.h"
#include "store/redis/command.h"
#include "store/redis/dialogue.h"
#include "store/redis/fault.h"
#include "store/redis/loop.h"
#include "store/redis/resolve.h"
#include "store/redis/retry.h"
#include "store/redis/socket.h"
#include "store/redis/time.h"

#define BEAT_US INT64_C(1000000)      /* between two looks whether the server is there */
#define SAME_WHY_US INT64_C(30000000) /* a reason that stays is told again after that */
#define WHY_SIZE 192
#define READS_PER_TURN 16
#define MAX_WORD 512 /* of user and password */

enum state {
    STATE_CLOSED,
    STATE_SEEKING,
    STATE_CONNECTING,
    STATE_GREETING,
    STATE_UP,
    STATE_RESTING,
};

/* What a line of the dialogue is for. */
enum step {
    STEP_REQUEST,
    STEP_IGNORED, /* its reply says nothing */
    STEP_LOGIN,   /* AUTH, SELECT: an error ends the greeting */
    STEP_LOAD,
    STEP_TIME,
    STEP_GREETED, /* the PING at the end of the greeting */
    STEP_BEAT,    /* the PING of a heartbeat or probe */
};

/* Requests that wait until the link is up. */
struct queue {
    struct wr_redis_request *first, **end;
};

struct wr_redis_link {
    struct wr_redis_link_options options; /* texts owned by `texts`, but script_load */
    char *texts, *host;                   /* owned */
    uint16_t port;
    char label[96]; /* for the log: what and where */
    enum state state;
    uint64_t generation; /* one more with each connection that ends */
    struct wr_redis_socket socket;
    struct wr_redis_watch watch;
    struct wr_redis_flush flush;
    struct wr_redis_timer timer; /* of SEEKING, CONNECTING, GREETING: too late; of RESTING: over */
    struct wr_redis_timer beat;  /* of UP */
    struct wr_redis_lookup *lookup; /* NULL: none */
    struct wr_redis_endpoints endpoints;
    size_t next_endpoint;
    struct wr_redis_dialogue dialogue;
    struct queue waiting;
    struct wr_redis_breaker breaker;
    struct wr_redis_pauses pauses;
    struct wr_redis_time time;
    int64_t beat_us;      /* when the beat that is out was sent */
    int64_t time_sent_us; /* the same of TIME */
    char *channels;       /* owned; NULL: no subscriber */
    bool has_failed;      /* the last attempt, or a connection that was of no use */
    bool is_beat_out, is_time_out, is_load_out, is_renewing, is_moving;
    bool was_ready;    /* as last told */
    bool is_told_away; /* in the log */
    int64_t told_us;
    char why[WHY_SIZE]; /* as last told */
    struct wr_log_limit fault_log;
};

static void seek(struct wr_redis_link *link);
static void disconnect(struct wr_redis_link *link, const char *why);
static void begin_renewal(struct wr_redis_link *link);

static void count(struct wr_redis_link *link, enum wr_metric metric)
{
    wr_metrics_add(wr_redis_loop_metrics(link->options.loop), metric, 1);
}

static int64_t now(const struct wr_redis_link *link)
{
    return wr_redis_loop_now(link->options.loop);
}

static void set_timer(struct wr_redis_link *link, struct wr_redis_timer *timer, int64_t after_us)
{
    wr_redis_timer_set(wr_redis_loop_timers(link->options.loop), timer, now(link) + after_us);
}

bool wr_redis_link_is_ready(const struct wr_redis_link *link)
{
    return link->state == STATE_UP && !link->breaker.is_open && !link->is_renewing;
}

static void tell_ready(struct wr_redis_link *link)
{
    const bool is_ready = wr_redis_link_is_ready(link);

    if (is_ready != link->was_ready) {
        link->was_ready = is_ready;
        if (link->options.on_ready != NULL) {
            link->options.on_ready(link->options.context, link, is_ready);
        }
    }
}

/* ---- the log ---- */

static void log_away(struct wr_redis_link *link, const char *why)
{
    if (link->is_told_away && strncmp(link->why, why, sizeof link->why - 1) == 0 &&
        now(link) - link->told_us < SAME_WHY_US) {
        return;
    }
    link->is_told_away = true;
    link->told_us = now(link);
    (void) snprintf(link->why, sizeof link->why, "%s", why);
    wr_log(WR_LOG_WARN, "%s: %s; it is tried again and again", link->label, why);
}

static void log_back(struct wr_redis_link *link)
{
    wr_log(link->is_told_away ? WR_LOG_WARN : WR_LOG_INFO, "%s: %s", link->label,
           link->is_told_away ? "is back" : "connected");
    link->is_told_away = false;
}

static void log_fault(struct wr_redis_link *link, const struct wr_redis_fault *fault)
{
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&link->fault_log, now(link), &skipped)) {
        wr_log(WR_LOG_WARN, "%s: answers %s: %s (and %" PRIu64 " more like this)", link->label,
               fault->code, fault->advice, skipped);
    }
}

/* ---- requests that wait ---- */

static void wait_in(struct wr_redis_link *link, struct wr_redis_request *request)
{
    request->next = NULL;
    request->link_from = link->waiting.end;
    *link->waiting.end = request;
    link->waiting.end = &request->next;
}

static void leave_queue(struct wr_redis_link *link, struct wr_redis_request *request)
{
    *request->link_from = request->next;
    if (request->next != NULL) {
        request->next->link_from = request->link_from;
    } else {
        link->waiting.end = request->link_from;
    }
    request->link_from = NULL;
    request->next = NULL;
}

static void give_back(struct wr_redis_link *link, struct wr_redis_request *request,
                      enum wr_redis_end end, const struct redisReply *reply)
{
    request->link = NULL;
    request->from = link;
    if (request->on_back != NULL) {
        request->on_back(request->back_context, request, end, reply);
    } else {
        wr_redis_request_end(request, end, reply);
    }
}

/* Those that wait now, and not those that come by what is called. */
static void give_back_waiting(struct wr_redis_link *link)
{
    struct wr_redis_request *request = link->waiting.first;
    struct wr_redis_request *before = NULL;

    /* They are given back from a queue of their own, in which forget still finds them. */
    struct queue queue = link->waiting;

    if (request == NULL) {
        return;
    }
    request->link_from = &queue.first;
    link->waiting = (struct queue){.end = &link->waiting.first};
    while ((request = queue.first) != NULL) {
        WR_ASSERT(request != before);
        before = request;
        queue.first = request->next;
        if (queue.first != NULL) {
            queue.first->link_from = &queue.first;
        }
        request->link_from = NULL;
        request->next = NULL;
        give_back(link, request, WR_REDIS_AWAY, NULL);
    }
}

/* ---- commands ---- */

/* `out` is where the command's bytes were copied to. */
static void write_moment(const struct wr_redis_link *link, const struct wr_redis_request *request,
                         char *out)
{
    const double moment_us = (double) wr_redis_time_latest(&link->time, request->deadline_mono_us);
    uint64_t bits = 0;

    memcpy(&bits, &moment_us, sizeof bits);
    for (size_t i = 0; i < sizeof bits; i++) {
        out[request->not_after_at + i] = (char) (unsigned char) (bits >> 8 * i);
    }
}

static bool say_words(struct wr_redis_link *link, const struct wr_str *words, size_t n,
                      enum step step)
{
    char bytes[4 * MAX_WORD];

    WR_ASSERT(wr_redis_command_size(words, n) <= sizeof bytes);
    return wr_redis_dialogue_say(
        &link->dialogue,
        (struct wr_str){.ptr = bytes, .len = wr_redis_command_write(words, n, bytes, NULL)}, step,
        NULL, NULL);
}

static bool say_word(struct wr_redis_link *link, const char *word, enum step step)
{
    const struct wr_str text = wr_str_of(word);

    return say_words(link, &text, 1, step);
}

static bool say_load(struct wr_redis_link *link)
{
    link->is_load_out =
        wr_redis_dialogue_say(&link->dialogue, link->options.script_load, STEP_LOAD, NULL, NULL);
    return link->is_load_out;
}

static bool say_time(struct wr_redis_link *link)
{
    link->is_time_out = say_word(link, "TIME", STEP_TIME);
    link->time_sent_us = now(link);
    return link->is_time_out;
}

static void flush_later(struct wr_redis_link *link)
{
    wr_redis_loop_flush_later(link->options.loop, &link->flush);
}

static void say_request(struct wr_redis_link *link, struct wr_redis_request *request)
{
    if (!wr_redis_dialogue_say(&link->dialogue, request->bytes, STEP_REQUEST, request,
                               &request->place)) {
        give_back(link, request, WR_REDIS_AWAY, NULL);
        return;
    }
    if (request->not_after_at != 0) {
        write_moment(link, request, wr_redis_dialogue_said(&link->dialogue, request->bytes.len));
    }
    flush_later(link);
}

/* After a failed attempt nobody waits for the next one. */
static bool is_on_its_way(const struct wr_redis_link *link)
{
    return !link->has_failed && link->state != STATE_CLOSED &&
           (link->state != STATE_UP || link->is_renewing);
}

static void send_now(struct wr_redis_link *link, struct wr_redis_request *request, bool is_asking)
{
    if (is_asking && !say_word(link, "ASKING", STEP_IGNORED)) {
        give_back(link, request, WR_REDIS_AWAY, NULL);
        return;
    }
    say_request(link, request);
}

static void send_request(struct wr_redis_link *link, struct wr_redis_request *request,
                         wr_redis_back_fn on_back, void *back_context, bool is_asking)
{
    request->link = link;
    request->on_back = on_back;
    request->back_context = back_context;
    request->link_from = NULL;
    if (wr_redis_link_is_ready(link) && link->channels == NULL) {
        send_now(link, request, is_asking);
    } else if (is_on_its_way(link) && !is_asking && link->channels == NULL) {
        wait_in(link, request);
    } else {
        give_back(link, request, WR_REDIS_AWAY, NULL);
    }
}

void wr_redis_link_send(struct wr_redis_link *link, struct wr_redis_request *request,
                        wr_redis_back_fn on_back, void *back_context)
{
    send_request(link, request, on_back, back_context, false);
}

void wr_redis_link_send_asking(struct wr_redis_link *link, struct wr_redis_request *request,
                               wr_redis_back_fn on_back, void *back_context)
{
    send_request(link, request, on_back, back_context, true);
}

/* ---- heartbeats and probes ---- */

/* PING tells whether it takes requests, TIME what its clock shows. */
static void send_beat(struct wr_redis_link *link)
{
    const bool has_time = link->channels == NULL && !link->is_time_out;

    if ((has_time && !say_time(link)) || !say_word(link, "PING", STEP_BEAT)) {
        disconnect(link, "out of memory");
        return;
    }
    link->is_beat_out = true;
    link->beat_us = now(link);
    set_timer(link, &link->beat, link->options.limits.connect_timeout_us);
    flush_later(link);
}

static void beat_due(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_link *const link = timer->context;

    (void) mono_us;
    if (link->is_beat_out) {
        disconnect(link, "does not answer (PING)");
    } else {
        send_beat(link);
    }
}

static void probe_again(struct wr_redis_link *link)
{
    const int64_t pause_us =
        wr_redis_pauses_next(&link->pauses, wr_redis_loop_random(link->options.loop));

    set_timer(link, &link->beat, pause_us);
}

static void breaker_opened(struct wr_redis_link *link, const char *why)
{
    count(link, WR_METRIC_REDIS_BREAKER_OPENS);
    log_away(link, why);
    if (!link->is_beat_out) {
        send_beat(link);
    }
    tell_ready(link);
}

static void beat_answered(struct wr_redis_link *link, bool is_well)
{
    const int64_t took_us = now(link) - link->beat_us;

    link->is_beat_out = false;
    if (!is_well || (link->breaker.is_open && took_us > link->options.limits.probe_slow_us)) {
        probe_again(link);
        return;
    }
    wr_redis_pauses_reset(&link->pauses);
    if (wr_redis_breaker_close(&link->breaker)) {
        log_back(link);
    }
    set_timer(link, &link->beat, BEAT_US);
    tell_ready(link);
}

/* ---- replies ---- */

static int64_t number_of(const struct redisReply *reply)
{
    return reply->type == REDIS_REPLY_INTEGER ? reply->integer
           : reply->str != NULL               ? strtoll(reply->str, NULL, 10)
                                              : 0;
}

static void read_time(struct wr_redis_link *link, const struct redisReply *reply)
{
    link->is_time_out = false;
    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2) {
        wr_redis_time_note(&link->time,
                           number_of(reply->element[0]) * 1000000 + number_of(reply->element[1]),
                           link->time_sent_us, now(link));
    }
}

/* True when the server has taken the request to be asked again. */
static bool teach(struct wr_redis_link *link, struct wr_redis_request *request)
{
    if (request->is_repeated || link->options.script_load.len == 0 || link->is_renewing) {
        return false;
    }
    count(link, WR_METRIC_REDIS_SCRIPT_LOADS);
    if (!link->is_load_out && !say_load(link)) {
        return false;
    }
    request->is_repeated = true;
    say_request(link, request);
    return true;
}

/* What the error says about the server. */
static void react(struct wr_redis_link *link, const struct wr_redis_fault *fault)
{
    switch (fault->reaction) {
    case WR_REDIS_HOLD:
        if (wr_redis_breaker_trip(&link->breaker)) {
            breaker_opened(link, fault->advice);
        }
        break;
    case WR_REDIS_RENEW:
    case WR_REDIS_LOGIN:
        begin_renewal(link);
        break;
    case WR_REDIS_FAIL:
    case WR_REDIS_TEACH:
    case WR_REDIS_MOVED:
    case WR_REDIS_ASK:
    case WR_REDIS_AGAIN:
    case WR_REDIS_REFUSED:
    default:
        break;
    }
}

static bool is_news(const struct wr_redis_fault *fault)
{
    return fault->reaction != WR_REDIS_MOVED && fault->reaction != WR_REDIS_ASK &&
           fault->reaction != WR_REDIS_AGAIN;
}

static void request_answered(struct wr_redis_link *link, struct wr_redis_request *request,
                             const struct redisReply *reply)
{
    struct wr_redis_fault fault;
    const bool is_error = wr_redis_fault_in(reply, &fault);

    if (is_error && fault.reaction == WR_REDIS_TEACH && teach(link, request)) {
        return;
    }
    wr_redis_breaker_answered(&link->breaker);
    if (is_error) {
        if (is_news(&fault)) {
            log_fault(link, &fault);
        }
        react(link, &fault);
    } else {
        wr_redis_pauses_reset(&link->pauses);
    }
    give_back(link, request, WR_REDIS_REPLIED, reply);
}

static void subscribe(struct wr_redis_link *link)
{
    struct wr_str words[16] = {wr_str_of("SUBSCRIBE")};
    size_t n = 1;

    for (const char *at = link->channels; *at != '\0' && n < sizeof words / sizeof words[0];) {
        const size_t len = strcspn(at, " ");

        words[n++] = (struct wr_str){.ptr = at, .len = len};
        at += len + (at[len] == ' ');
    }
    if (!say_words(link, words, n, STEP_IGNORED)) {
        disconnect(link, "out of memory");
        return;
    }
    flush_later(link);
}

static void greeted(struct wr_redis_link *link)
{
    const uint64_t generation = link->generation;

    link->state = STATE_UP;
    link->has_failed = false;
    wr_redis_timer_clear(&link->timer);
    (void) wr_redis_breaker_close(&link->breaker);
    count(link, WR_METRIC_REDIS_CONNECTS);
    log_back(link);
    set_timer(link, &link->beat, BEAT_US);
    if (link->channels != NULL) {
        subscribe(link);
    }
    while (link->generation == generation && wr_redis_link_is_ready(link) &&
           link->waiting.first != NULL) {
        struct wr_redis_request *const request = link->waiting.first;

        leave_queue(link, request);
        say_request(link, request);
    }
    if (link->generation == generation && link->options.on_up != NULL) {
        link->options.on_up(link->options.context, link);
    }
    if (link->generation == generation) {
        tell_ready(link);
    }
}

/* A user may be denied a command of ours that only helps. */
static bool is_denied(const struct redisReply *reply)
{
    struct wr_redis_fault fault;

    return wr_redis_fault_in(reply, &fault) && fault.reaction == WR_REDIS_REFUSED;
}

static void greeting_refused(struct wr_redis_link *link, const char *word,
                             const struct redisReply *reply)
{
    char why[WHY_SIZE];
    struct wr_redis_fault fault;

    (void) wr_redis_fault_in(reply, &fault);
    (void) snprintf(why, sizeof why, "answers %s to %s: %s", fault.code, word, fault.advice);
    disconnect(link, why);
}

static void step_answered(struct wr_redis_link *link, enum step step,
                          const struct redisReply *reply)
{
    const bool is_error = reply->type == REDIS_REPLY_ERROR;
    struct wr_redis_fault fault;

    switch (step) {
    case STEP_LOGIN:
        if (is_error) {
            greeting_refused(link, "AUTH or SELECT", reply);
        }
        break;
    case STEP_LOAD:
        link->is_load_out = false;
        if (wr_redis_fault_in(reply, &fault) && is_denied(reply)) {
            log_fault(link, &fault);
        }
        break;
    case STEP_TIME:
        read_time(link, reply);
        break;
    case STEP_GREETED:
        if (is_error && !is_denied(reply)) {
            greeting_refused(link, "PING", reply);
        } else {
            greeted(link);
        }
        break;
    case STEP_BEAT:
        if (wr_redis_fault_in(reply, &fault)) {
            react(link, &fault);
        }
        beat_answered(link, !is_error || is_denied(reply));
        break;
    case STEP_REQUEST: /* a hole */
    case STEP_IGNORED:
    default:
        break;
    }
}

/* Subscribers get arrays; one that begins with "pong" answers our PING. */
static void pushed(struct wr_redis_link *link, const struct redisReply *reply)
{
    const bool is_pong = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                         reply->element[0]->len == 4 &&
                         memcmp(reply->element[0]->str, "pong", 4) == 0;

    if (is_pong) {
        beat_answered(link, true);
    } else if (link->options.on_push != NULL) {
        link->options.on_push(link->options.context, link, reply);
    }
}

/* False when the server said something that nobody asked for. */
static bool take_reply(struct wr_redis_link *link, const struct redisReply *reply)
{
    struct wr_redis_line line;

    if (link->channels != NULL && link->state == STATE_UP) {
        pushed(link, reply);
        return true;
    }
    if (!wr_redis_dialogue_take(&link->dialogue, &line)) {
        return false;
    }
    if (line.request != NULL) {
        request_answered(link, line.request, reply);
    } else {
        step_answered(link, (enum step) line.step, reply);
    }
    return true;
}

static void take_replies(struct wr_redis_link *link)
{
    const uint64_t generation = link->generation;

    while (link->generation == generation) {
        const struct redisReply *reply = NULL;

        if (!wr_redis_dialogue_next(&link->dialogue, &reply)) {
            disconnect(link, "sends what is no reply of Redis");
        } else if (reply == NULL) {
            return;
        } else if (!take_reply(link, reply)) {
            disconnect(link, "sends a reply that nobody asked for");
        }
    }
}

/* ---- the connection ---- */

static bool is_talking(const struct wr_redis_link *link)
{
    return link->state == STATE_GREETING || link->state == STATE_UP;
}

static void want(struct wr_redis_link *link, uint32_t events)
{
    wr_redis_loop_rewatch(link->options.loop, &link->watch, events);
}

static void write_out(struct wr_redis_link *link)
{
    switch (wr_redis_dialogue_write(&link->dialogue, &link->socket)) {
    case WR_REDIS_IO_DONE:
    case WR_REDIS_IO_WANT_READ:
        want(link, EPOLLIN);
        break;
    case WR_REDIS_IO_WANT_WRITE:
        want(link, EPOLLIN | EPOLLOUT);
        break;
    case WR_REDIS_IO_CLOSED:
        disconnect(link, "closed the connection");
        break;
    case WR_REDIS_IO_FAILED:
    default:
        disconnect(link, wr_redis_socket_reason(&link->socket));
        break;
    }
}

/* The end of a turn: what it brought is written at once. */
static void flush(struct wr_redis_flush *flush)
{
    struct wr_redis_link *const link = flush->context;

    if (link->state == STATE_UP && link->is_renewing && link->dialogue.n_live == 0) {
        disconnect(link, link->is_moving ? NULL : "somebody else may be there by now");
    } else if (is_talking(link)) {
        write_out(link);
    }
}

static void read_in(struct wr_redis_link *link)
{
    const uint64_t generation = link->generation;
    enum wr_redis_io io = WR_REDIS_IO_DONE;

    for (int i = 0; i < READS_PER_TURN && io == WR_REDIS_IO_DONE; i++) {
        io = wr_redis_dialogue_read(&link->dialogue, &link->socket);
        if (io == WR_REDIS_IO_DONE || io == WR_REDIS_IO_CLOSED) {
            take_replies(link);
        }
        if (link->generation != generation) {
            return;
        }
    }
    if (io == WR_REDIS_IO_WANT_WRITE) {
        want(link, EPOLLIN | EPOLLOUT);
    } else if (io == WR_REDIS_IO_CLOSED) {
        disconnect(link, "closed the connection");
    } else if (io == WR_REDIS_IO_FAILED) {
        disconnect(link, wr_redis_socket_reason(&link->socket));
    }
}

static bool greet(struct wr_redis_link *link)
{
    const struct wr_redis_link_options *const options = &link->options;
    const bool has_user = options->user.len > 0;
    const struct wr_str auth[] = {wr_str_of("AUTH"), has_user ? options->user : options->password,
                                  options->password};
    const struct wr_str name[] = {wr_str_of("CLIENT"), wr_str_of("SETNAME"), wr_str_of("weir")};
    char number[16];

    (void) snprintf(number, sizeof number, "%" PRIu32, options->database);

    const struct wr_str database[] = {wr_str_of("SELECT"), wr_str_of(number)};

    return (options->password.len == 0 || say_words(link, auth, has_user ? 3 : 2, STEP_LOGIN)) &&
           say_words(link, name, 3, STEP_IGNORED) &&
           (options->database == 0 || say_words(link, database, 2, STEP_LOGIN)) &&
           (options->script_load.len == 0 || say_load(link)) && say_time(link) &&
           say_word(link, "PING", STEP_GREETED);
}

static void connected(struct wr_redis_link *link)
{
    link->state = STATE_GREETING;
    if (!wr_redis_dialogue_reset(&link->dialogue) || !greet(link)) {
        disconnect(link, "out of memory");
        return;
    }
    flush_later(link);
}

static void proceed(struct wr_redis_link *link)
{
    switch (wr_redis_socket_proceed(&link->socket)) {
    case WR_REDIS_IO_DONE:
        connected(link);
        break;
    case WR_REDIS_IO_WANT_READ:
        want(link, EPOLLIN);
        break;
    case WR_REDIS_IO_WANT_WRITE:
        want(link, EPOLLOUT);
        break;
    case WR_REDIS_IO_CLOSED:
        disconnect(link, "closed the connection");
        break;
    case WR_REDIS_IO_FAILED:
    default:
        disconnect(link, wr_redis_socket_reason(&link->socket));
        break;
    }
}

static void ready(struct wr_redis_watch *watch, uint32_t events)
{
    struct wr_redis_link *const link = watch->context;
    const uint64_t generation = link->generation;

    if (link->state == STATE_CONNECTING) {
        proceed(link);
        return;
    }
    if ((events & ~(uint32_t) EPOLLOUT) != 0) {
        read_in(link);
    }
    if (link->generation == generation && wr_redis_dialogue_has_output(&link->dialogue)) {
        flush_later(link);
    }
}

/* To the next of the addresses. */
static void connect_next(struct wr_redis_link *link)
{
    const struct wr_redis_endpoint *const endpoint = &link->endpoints.items[link->next_endpoint++];

    link->state = STATE_CONNECTING;
    set_timer(link, &link->timer, link->options.limits.connect_timeout_us);
    if (wr_redis_socket_connect(&link->socket, (const struct sockaddr *) &endpoint->storage,
                                endpoint->len, link->options.security,
                                link->port != 0 ? wr_str_of(link->host) : (struct wr_str){0}) !=
        WR_OK) {
        disconnect(link, wr_redis_socket_reason(&link->socket));
        return;
    }
    link->watch.fd = link->socket.fd;
    if (wr_redis_loop_watch(link->options.loop, &link->watch, EPOLLOUT) != WR_OK) {
        disconnect(link, "the system refuses to watch one more connection");
    }
}

static void use_endpoints(struct wr_redis_link *link, const struct wr_redis_endpoints *endpoints,
                          const char *why)
{
    char text[WHY_SIZE];

    link->endpoints = *endpoints;
    link->next_endpoint = 0;
    if (endpoints->n > 0) {
        connect_next(link);
        return;
    }
    (void) snprintf(text, sizeof text, "its address is not to be had: %s", why);
    disconnect(link, text);
}

static void resolved(void *context, const struct wr_redis_endpoints *endpoints, const char *why)
{
    struct wr_redis_link *const link = context;

    link->lookup = NULL;
    use_endpoints(link, endpoints, why);
}

/* Where is the place? */
static void seek(struct wr_redis_link *link)
{
    struct wr_redis_endpoints endpoints;
    const struct wr_str host = wr_str_of(link->host);

    link->state = STATE_SEEKING;
    link->is_renewing = link->is_moving = false;
    wr_redis_resolve_numeric(host, link->port, &endpoints);
    if (endpoints.n > 0 || link->port == 0 || link->options.resolver == NULL) {
        use_endpoints(link, &endpoints, "it is no address, and no path that is short enough");
        return;
    }
    set_timer(link, &link->timer, link->options.limits.connect_timeout_us);
    link->lookup = wr_redis_resolve(link->options.resolver, link->options.loop, host, link->port,
                                    resolved, link);
    if (link->lookup == NULL) {
        disconnect(link, "out of memory");
    }
}

static void timer_due(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_link *const link = timer->context;

    (void) mono_us;
    switch (link->state) {
    case STATE_SEEKING:
        disconnect(link, "the name server does not answer in time");
        break;
    case STATE_CONNECTING:
        disconnect(link, "cannot be connected to in time");
        break;
    case STATE_GREETING:
        disconnect(link, "connected, but does not answer in time");
        break;
    case STATE_RESTING:
        seek(link);
        break;
    case STATE_CLOSED:
    case STATE_UP:
    default:
        break;
    }
}

static void give_back_lines(struct wr_redis_link *link)
{
    struct wr_redis_line line;

    while (wr_redis_dialogue_take(&link->dialogue, &line)) {
        if (line.request != NULL) {
            const bool is_unsent = wr_redis_dialogue_is_unsent(&link->dialogue, &line);

            give_back(link, line.request, is_unsent ? WR_REDIS_AWAY : WR_REDIS_LOST, NULL);
        }
    }
}

/* Leaves no descriptor, timer or look-up behind. */
static void hang_up(struct wr_redis_link *link)
{
    link->generation++;
    wr_redis_lookup_cancel(link->lookup);
    link->lookup = NULL;
    wr_redis_timer_clear(&link->timer);
    wr_redis_timer_clear(&link->beat);
    wr_redis_loop_forget_flush(link->options.loop, &link->flush);
    if (link->socket.fd >= 0) {
        wr_redis_loop_unwatch(link->options.loop, &link->watch);
    }
    wr_redis_socket_close(&link->socket);
    link->is_beat_out = link->is_time_out = link->is_load_out = false;
    wr_redis_time_forget(&link->time);
}

/* A connection that was of use is replaced at once. */
static void rest(struct wr_redis_link *link, bool was_of_use)
{
    const int64_t pause_us =
        wr_redis_pauses_next(&link->pauses, wr_redis_loop_random(link->options.loop));

    link->state = STATE_RESTING;
    set_timer(link, &link->timer, was_of_use ? 0 : pause_us);
}

/* To the next address of the same name, without a pause. */
static void go_on(struct wr_redis_link *link, const char *why)
{
    log_away(link, why);
    link->state = STATE_RESTING;
    give_back_lines(link);
    if (link->state == STATE_RESTING && !wr_redis_timer_is_set(&link->timer)) {
        connect_next(link);
    }
}

/* The connection, or the attempt at one, is over. `why` NULL: it is left for another place. */
static void disconnect(struct wr_redis_link *link, const char *why)
{
    char text[WHY_SIZE];
    const bool was_up = link->state == STATE_UP;
    const bool was_near = link->state == STATE_CONNECTING || link->state == STATE_GREETING;

    (void) snprintf(text, sizeof text, "%s", why != NULL ? why : "it moves");
    hang_up(link);
    if (was_near && link->next_endpoint < link->endpoints.n) {
        go_on(link, text);
        return;
    }
    count(link, was_up ? WR_METRIC_REDIS_CONNECTIONS_LOST : WR_METRIC_REDIS_CONNECT_FAILURES);
    if (why != NULL) {
        log_away(link, text);
    }
    link->has_failed = !was_up || link->pauses.n > 0;
    rest(link, !link->has_failed);

    const uint64_t generation = link->generation;

    give_back_lines(link);
    if (link->has_failed) {
        give_back_waiting(link);
    }
    if (link->generation == generation) {
        tell_ready(link);
    }
    if (link->generation == generation && link->options.on_down != NULL) {
        link->options.on_down(link->options.context, link, text);
    }
}

static void begin_renewal(struct wr_redis_link *link)
{
    if (link->state == STATE_UP && !link->is_renewing) {
        link->is_renewing = true;
        flush_later(link);
        tell_ready(link);
    }
}

/* ---- from outside ---- */

static char *copy_text(char **at, struct wr_str *text)
{
    char *const copy = *at;

    if (text->len > 0) {
        memcpy(copy, text->ptr, text->len);
    }
    text->ptr = copy;
    *at += text->len;
    return copy;
}

static bool set_place(struct wr_redis_link *link, struct wr_redis_place place)
{
    char *const host = malloc(place.host.len + 1);

    if (host == NULL) {
        return false;
    }
    memcpy(host, place.host.ptr, place.host.len);
    host[place.host.len] = '\0';
    free(link->host);
    link->host = host;
    link->port = place.port;

    const char *const brackets = strchr(host, ':') != NULL ? "[]" : "";

    if (place.port == 0) {
        (void) snprintf(link->label, sizeof link->label, "%.*s at %s", (int) link->options.what.len,
                        link->options.what.ptr, host);
    } else {
        (void) snprintf(link->label, sizeof link->label, "%.*s at %.1s%.60s%s:%u",
                        (int) link->options.what.len, link->options.what.ptr, brackets, host,
                        *brackets != '\0' ? "]" : "", place.port);
    }
    return true;
}

static bool copy_texts(struct wr_redis_link *link)
{
    struct wr_redis_link_options *const options = &link->options;
    char *at = malloc(options->user.len + options->password.len + options->what.len + 1);

    link->texts = at;
    if (at == NULL) {
        return false;
    }
    (void) copy_text(&at, &options->user);
    (void) copy_text(&at, &options->password);
    (void) copy_text(&at, &options->what);
    return set_place(link, options->place);
}

enum wr_err wr_redis_link_new(const struct wr_redis_link_options *options,
                              struct wr_redis_link **out_link)
{
    struct wr_redis_link *const link = calloc(1, sizeof *link);

    WR_ASSERT(options->limits.breaker_timeouts > 0 && options->limits.pause_min_us > 0);
    WR_ASSERT(options->user.len <= MAX_WORD && options->password.len <= MAX_WORD);
    if (link == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    link->options = *options;
    wr_redis_socket_init(&link->socket);
    link->watch = (struct wr_redis_watch){.fd = -1, .on_ready = ready, .context = link};
    link->flush = (struct wr_redis_flush){.run = flush, .context = link};
    link->timer = (struct wr_redis_timer){.on_due = timer_due, .context = link};
    link->beat = (struct wr_redis_timer){.on_due = beat_due, .context = link};
    link->waiting.end = &link->waiting.first;
    link->breaker.max_timeouts = options->limits.breaker_timeouts;
    link->pauses = (struct wr_redis_pauses){
        .min_us = options->limits.pause_min_us,
        .max_us = options->limits.pause_max_us,
    };
    if (!copy_texts(link) || wr_redis_dialogue_init(&link->dialogue) != WR_OK) {
        wr_redis_link_destroy(link);
        return WR_ERR_NO_MEMORY;
    }
    *out_link = link;
    return WR_OK;
}

void wr_redis_link_destroy(struct wr_redis_link *link)
{
    if (link == NULL) {
        return;
    }
    wr_redis_link_close(link);
    wr_redis_dialogue_fini(&link->dialogue);
    free(link->channels);
    free(link->texts);
    free(link->host);
    free(link);
}

void wr_redis_link_open(struct wr_redis_link *link)
{
    if (link->state == STATE_CLOSED) {
        seek(link);
    }
}

void wr_redis_link_close(struct wr_redis_link *link)
{
    if (link->state == STATE_CLOSED) {
        return;
    }
    hang_up(link);
    link->state = STATE_CLOSED;
    give_back_lines(link);
    give_back_waiting(link);
    tell_ready(link);
}

void wr_redis_link_renew(struct wr_redis_link *link)
{
    begin_renewal(link);
}

enum wr_err wr_redis_link_move(struct wr_redis_link *link, struct wr_redis_place place)
{
    if (!set_place(link, place)) {
        return WR_ERR_NO_MEMORY;
    }
    wr_redis_pauses_reset(&link->pauses);
    link->is_moving = true;
    if (link->state == STATE_UP) {
        begin_renewal(link);
    } else if (link->state != STATE_CLOSED) {
        hang_up(link);
        link->state = STATE_RESTING;
        give_back_lines(link);
        set_timer(link, &link->timer, 0);
    }
    return WR_OK;
}

uint64_t wr_redis_link_load(const struct wr_redis_link *link)
{
    return link->dialogue.n_live;
}

struct wr_redis_place wr_redis_link_place(const struct wr_redis_link *link)
{
    return (struct wr_redis_place){.host = wr_str_of(link->host), .port = link->port};
}

void wr_redis_link_subscribe(struct wr_redis_link *link, struct wr_str channels)
{
    WR_ASSERT(link->state == STATE_CLOSED && link->channels == NULL);
    link->channels = calloc(1, channels.len + 1);
    if (link->channels != NULL) {
        memcpy(link->channels, channels.ptr, channels.len);
    }
}

void wr_redis_link_retime(struct wr_redis_link *link)
{
    wr_redis_time_forget(&link->time);
    if (link->state == STATE_UP && !link->is_time_out && say_time(link)) {
        flush_later(link);
    }
}

void wr_redis_link_forget(struct wr_redis_link *link, struct wr_redis_request *request,
                          bool is_timeout)
{
    request->link = NULL;
    request->from = link;
    if (request->link_from != NULL) {
        leave_queue(link, request);
        return;
    }
    request->was_sent = wr_redis_dialogue_forget(&link->dialogue, request->place);
    if (link->is_renewing) {
        flush_later(link);
    }
    if (is_timeout && wr_redis_breaker_timed_out(&link->breaker)) {
        breaker_opened(link, "does not answer in time");
    }
}
