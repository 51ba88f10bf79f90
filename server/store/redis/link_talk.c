/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/log.h"
#include "base/number.h"
#include "store/redis/command.h"
#include "store/redis/fault.h"
#include "store/redis/link_inside.h"

#define MAX_REPEATS 8                  /* of one request */
#define MAX_SECONDS (INT64_C(1) << 40) /* since the epoch, that a server may tell */

static void log_fault(struct wr_redis_link *link, const struct wr_redis_fault *fault)
{
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&link->fault_log, wr_redis_link_now(link), &skipped)) {
        wr_log(WR_LOG_WARN, "%s: answers %s: %s (%" PRIu64 " lines before this were left out)",
               link->label, fault->code, fault->advice, skipped);
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

bool wr_redis_link_say_words(struct wr_redis_link *link, const struct wr_str *words, size_t n,
                             enum wr_redis_step step)
{
    const size_t size = wr_redis_command_size(words, n);
    char *const bytes = malloc(size);

    if (bytes == NULL) {
        return false;
    }
    (void) wr_redis_command_write(words, n, bytes, NULL);

    const struct wr_str command = {.ptr = bytes, .len = size};
    const bool is_said = wr_redis_dialogue_say(&link->dialogue, command, step, NULL, NULL);

    free(bytes);
    return is_said;
}

bool wr_redis_link_say_word(struct wr_redis_link *link, const char *word, enum wr_redis_step step)
{
    const struct wr_str text = wr_str_of(word);

    return wr_redis_link_say_words(link, &text, 1, step);
}

static bool say_load(struct wr_redis_link *link)
{
    link->is_load_out = wr_redis_dialogue_say(&link->dialogue, link->options.script_load,
                                              WR_REDIS_STEP_LOAD, NULL, NULL);
    return link->is_load_out;
}

bool wr_redis_link_say_time(struct wr_redis_link *link)
{
    link->is_time_out = wr_redis_link_say_word(link, "TIME", WR_REDIS_STEP_TIME);
    link->time_sent_us = wr_redis_link_now(link);
    return link->is_time_out;
}

void wr_redis_link_say(struct wr_redis_link *link, struct wr_redis_request *request)
{
    if (!wr_redis_dialogue_say(&link->dialogue, request->bytes, WR_REDIS_STEP_REQUEST, request,
                               &request->place)) {
        wr_redis_link_give_back(link, request, WR_REDIS_AWAY, NULL);
        return;
    }
    if (request->not_after_at != 0) {
        write_moment(link, request, wr_redis_dialogue_said(&link->dialogue, request->bytes.len));
    }
    request->said_mono_us = wr_redis_link_now(link);
    wr_redis_link_flush_later(link);
}

bool wr_redis_link_say_asking(struct wr_redis_link *link)
{
    return wr_redis_link_say_word(link, "ASKING", WR_REDIS_STEP_IGNORED);
}

bool wr_redis_link_greet(struct wr_redis_link *link)
{
    const struct wr_redis_link_options *const options = &link->options;
    const bool has_user = options->user.len > 0;
    const struct wr_str auth[] = {wr_str_of("AUTH"), has_user ? options->user : options->password,
                                  options->password};
    const struct wr_str name[] = {wr_str_of("CLIENT"), wr_str_of("SETNAME"), wr_str_of("weir")};
    char number[16];

    (void) snprintf(number, sizeof number, "%" PRIu32, options->database);

    const struct wr_str database[] = {wr_str_of("SELECT"), wr_str_of(number)};

    return (options->password.len == 0 ||
            wr_redis_link_say_words(link, auth, has_user ? 3 : 2, WR_REDIS_STEP_LOGIN)) &&
           wr_redis_link_say_words(link, name, 3, WR_REDIS_STEP_NAME) &&
           (options->database == 0 ||
            wr_redis_link_say_words(link, database, 2, WR_REDIS_STEP_LOGIN)) &&
           (!options->needs_primary || wr_redis_link_say_word(link, "ROLE", WR_REDIS_STEP_ROLE)) &&
           wr_redis_link_say_time(link) &&
           wr_redis_link_say_word(link, "PING", WR_REDIS_STEP_GREETED);
}

/* ---- replies ---- */

/* A text of digits, at most `max`; -1: it is none. */
static int64_t number_of(const struct redisReply *reply, int64_t max)
{
    uint64_t number = 0;

    return reply->str != NULL &&
                   wr_number_parse((struct wr_str){.ptr = reply->str, .len = reply->len},
                                   (uint64_t) max, &number)
               ? (int64_t) number
               : -1;
}

static void read_time(struct wr_redis_link *link, const struct redisReply *reply)
{
    link->is_time_out = false;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2) {
        return;
    }

    const int64_t seconds = number_of(reply->element[0], MAX_SECONDS);
    const int64_t us = number_of(reply->element[1], 999999);

    if (seconds >= 0 && us >= 0) {
        wr_redis_time_note(&link->time, seconds * 1000000 + us, link->time_sent_us,
                           wr_redis_link_now(link));
    }
}

/* True when the server has taken the request to be asked again. It may forget between being told
 * and being asked; but one that never learns is not asked for ever. */
static bool teach(struct wr_redis_link *link, struct wr_redis_request *request)
{
    if (request->n_repeats == MAX_REPEATS || link->options.script_load.len == 0 ||
        link->is_renewing) {
        return false;
    }
    wr_redis_link_count(link, WR_METRIC_REDIS_SCRIPT_LOADS);
    if (!link->is_load_out && !say_load(link)) {
        return false;
    }
    request->n_repeats++;
    wr_redis_link_say(link, request);
    return true;
}

/* What the error says about the server. */
static void react(struct wr_redis_link *link, const struct wr_redis_fault *fault)
{
    char why[WR_REDIS_WHY_SIZE];

    switch (fault->reaction) {
    case WR_REDIS_HOLD:
        if (wr_redis_breaker_trip(&link->breaker)) {
            (void) snprintf(why, sizeof why, "answers %s: %s", fault->code, fault->advice);
            wr_redis_link_hold(link, why);
        }
        break;
    case WR_REDIS_RENEW:
    case WR_REDIS_LOGIN:
        wr_redis_link_renew(link);
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

/* Not what is told when requests are held off, nor what a cluster says every day to those who see
 * to it. */
static bool is_news(const struct wr_redis_request *request, const struct wr_redis_fault *fault)
{
    const bool is_of_cluster = fault->reaction == WR_REDIS_MOVED ||
                               fault->reaction == WR_REDIS_ASK || fault->reaction == WR_REDIS_AGAIN;

    return fault->reaction != WR_REDIS_HOLD && (!is_of_cluster || request->on_back == NULL);
}

/* Whoever asked for it looks whether it is what was asked for; if not, it renews the link. */
static void hand_over(struct wr_redis_link *link, struct wr_redis_request *request,
                      const struct redisReply *reply)
{
    const uint64_t generation = link->generation;
    const bool was_renewing = link->is_renewing;

    wr_redis_link_give_back(link, request, WR_REDIS_REPLIED, reply);
    if (link->generation != generation || was_renewing) {
        return;
    }
    if (link->is_renewing && !link->is_moving) {
        link->is_doubted = true;
        return;
    }
    wr_pauses_reset(&link->pauses);
    if (link->is_doubted) {
        link->is_doubted = false;
        wr_redis_link_log_back(link);
    }
}

/* What says nothing about the connection. */
static bool is_told_by_maker(const struct wr_redis_request *request,
                             const struct wr_redis_fault *fault)
{
    return request->is_quiet &&
           (fault->reaction == WR_REDIS_REFUSED || fault->reaction == WR_REDIS_FAIL ||
            fault->reaction == WR_REDIS_TEACH);
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
        if (is_news(request, &fault) && !is_told_by_maker(request, &fault) &&
            !link->options.is_discreet) {
            log_fault(link, &fault);
        }
        react(link, &fault);
    }
    if (link->is_renewing) {
        wr_redis_link_flush_later(link); /* it may have been the last */
    }
    if (is_error) {
        wr_redis_link_give_back(link, request, WR_REDIS_REPLIED, reply);
    } else {
        hand_over(link, request, reply);
    }
}

/* Ahead of all requests. Not in the greeting: who is not let in may not say so much at once, and is
 * cut off before he is told why. */
static bool teach_first(struct wr_redis_link *link)
{
    return link->options.script_load.len == 0 || say_load(link);
}

static void greeted(struct wr_redis_link *link)
{
    const uint64_t generation = link->generation;

    link->state = WR_REDIS_LINK_UP;
    link->has_failed = false;
    wr_redis_timer_clear(&link->timer);
    (void) wr_redis_breaker_close(&link->breaker);
    wr_redis_link_count(link, WR_METRIC_REDIS_CONNECTS);
    if (!link->is_doubted) {
        wr_redis_link_log_connected(link);
    }
    wr_redis_link_set_timer(link, &link->beat, link->options.limits.beat_us);
    if (!(link->channels != NULL ? wr_redis_link_say_subscribe(link) : teach_first(link))) {
        wr_redis_link_disconnect(link, "out of memory");
        return;
    }
    wr_redis_link_flush_later(link);
    while (link->generation == generation && wr_redis_link_is_ready(link) &&
           link->waiting.first != NULL) {
        struct wr_redis_request *const request = link->waiting.first;

        wr_redis_link_unqueue(link, request);
        wr_redis_link_say(link, request);
    }
    if (link->generation == generation && link->options.on_up != NULL) {
        link->options.on_up(link->options.context, link);
    }
    if (link->generation == generation) {
        wr_redis_link_tell_ready(link);
    }
}

bool wr_redis_link_is_denied(const struct redisReply *reply)
{
    struct wr_redis_fault fault;

    return wr_redis_fault_in(reply, &fault) && fault.reaction == WR_REDIS_REFUSED;
}

static bool is_text(const struct redisReply *reply, int type, const char *text)
{
    return reply->type == type && reply->len == strlen(text) &&
           memcmp(reply->str, text, reply->len) == 0;
}

bool wr_redis_link_is_pong(const struct redisReply *reply)
{
    return is_text(reply, REDIS_REPLY_STATUS, "PONG") ||
           (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
            is_text(reply->element[0], REDIS_REPLY_STRING, "pong"));
}

static bool is_replica(const struct redisReply *reply)
{
    return reply->type == REDIS_REPLY_ARRAY && reply->elements > 0 &&
           is_text(reply->element[0], REDIS_REPLY_STRING, "slave"); /* as the protocol has it */
}

static void greeting_refused(struct wr_redis_link *link, const char *word,
                             const struct redisReply *reply)
{
    char why[WR_REDIS_WHY_SIZE];
    struct wr_redis_fault fault;

    (void) wr_redis_fault_in(reply, &fault);
    (void) snprintf(why, sizeof why, "answers %s to %s: %s", fault.code, word, fault.advice);
    wr_redis_link_disconnect(link, why);
}

static void step_answered(struct wr_redis_link *link, enum wr_redis_step step,
                          const struct redisReply *reply)
{
    const bool is_error = reply->type == REDIS_REPLY_ERROR;
    struct wr_redis_fault fault;

    switch (step) {
    case WR_REDIS_STEP_LOGIN:
        if (is_error) {
            greeting_refused(link, "AUTH or SELECT", reply);
        }
        break;
    case WR_REDIS_STEP_NAME:
        if (wr_redis_fault_in(reply, &fault) && fault.reaction == WR_REDIS_LOGIN) {
            greeting_refused(link, "CLIENT", reply);
        }
        break;
    case WR_REDIS_STEP_LOAD:
        link->is_load_out = false;
        if (wr_redis_fault_in(reply, &fault) && wr_redis_link_is_denied(reply)) {
            log_fault(link, &fault);
        }
        break;
    case WR_REDIS_STEP_TIME:
        read_time(link, reply);
        break;
    case WR_REDIS_STEP_ROLE:
        if (is_replica(reply)) {
            link->has_met_replica = true;
            wr_redis_link_disconnect(link, "is a replica: see where the URL leads, or what the "
                                           "sentinels say");
        }
        break;
    case WR_REDIS_STEP_GREETED:
        if (is_error && !wr_redis_link_is_denied(reply)) {
            greeting_refused(link, "PING", reply);
        } else if (!is_error && !wr_redis_link_is_pong(reply)) {
            wr_redis_link_disconnect(link, WR_REDIS_NO_PONG);
        } else {
            greeted(link);
        }
        break;
    case WR_REDIS_STEP_BEAT:
        if (wr_redis_fault_in(reply, &fault)) {
            react(link, &fault);
        }
        wr_redis_link_beat_answered(link, reply);
        break;
    case WR_REDIS_STEP_REQUEST: /* a hole */
        if (link->options.count_late != NULL) {
            wr_metrics_add(wr_redis_loop_metrics(link->options.loop), WR_METRIC_STORE_LATE,
                           link->options.count_late(reply));
        }
        break;
    case WR_REDIS_STEP_IGNORED:
    default:
        break;
    }
}

/* False when the server said something that nobody asked for. */
static bool take_reply(struct wr_redis_link *link, const struct redisReply *reply)
{
    struct wr_redis_line line;

    if (link->channels != NULL && link->state == WR_REDIS_LINK_UP) {
        wr_redis_link_pushed(link, reply);
        return true;
    }
    if (!wr_redis_dialogue_take(&link->dialogue, &line)) {
        return false;
    }
    if (line.request != NULL) {
        request_answered(link, line.request, reply);
    } else {
        step_answered(link, (enum wr_redis_step) line.step, reply);
    }
    return true;
}

void wr_redis_link_take_replies(struct wr_redis_link *link)
{
    const uint64_t generation = link->generation;

    while (link->generation == generation) {
        const struct redisReply *reply = NULL;

        if (!wr_redis_dialogue_next(&link->dialogue, &reply)) {
            wr_redis_link_disconnect(link, "sends what is no reply of Redis");
        } else if (reply == NULL) {
            return;
        } else if (!take_reply(link, reply)) {
            wr_redis_link_disconnect(link, "sends a reply that nobody asked for");
        }
    }
}
