/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/link.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "store/redis/link_inside.h"

#define BEAT_US INT64_C(1000000)

bool wr_redis_link_is_ready(const struct wr_redis_link *link)
{
    return link->state == WR_REDIS_LINK_UP && !link->breaker.is_open && !link->is_renewing;
}

void wr_redis_link_tell_ready(struct wr_redis_link *link)
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

static void log_turn(const struct wr_redis_link *link, const char *what, const char *more,
                     uint64_t n_left_out)
{
    char rest[64] = "";

    if (n_left_out > 0) {
        (void) snprintf(rest, sizeof rest, " (%" PRIu64 " changes before this were left out)",
                        n_left_out);
    }
    wr_log(WR_LOG_WARN, "%s: %s%s%s", link->label, what, more, rest);
}

void wr_redis_link_log_away(struct wr_redis_link *link, const char *why)
{
    uint64_t n = 0;

    if (wr_redis_bulletin_away(&link->bulletin, why, wr_redis_link_now(link), &n)) {
        log_turn(link, why, "; it is tried again and again", n);
    }
}

void wr_redis_link_log_back(struct wr_redis_link *link)
{
    uint64_t n = 0;

    if (wr_redis_bulletin_back(&link->bulletin, wr_redis_link_now(link), &n)) {
        log_turn(link, "is back", "", n);
    }
}

void wr_redis_link_log_connected(struct wr_redis_link *link)
{
    if (link->bulletin.is_away || link->bulletin.is_left_away) {
        wr_redis_link_log_back(link);
    } else {
        wr_log(WR_LOG_INFO, "%s: connected", link->label);
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

void wr_redis_link_unqueue(struct wr_redis_link *link, struct wr_redis_request *request)
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

void wr_redis_link_give_back(struct wr_redis_link *link, struct wr_redis_request *request,
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

/* As many as wait now: those that come by what is called find their own way. */
void wr_redis_link_give_back_waiting(struct wr_redis_link *link)
{
    size_t n = 0;

    for (const struct wr_redis_request *r = link->waiting.first; r != NULL; r = r->next) {
        n++;
    }
    for (; n > 0 && link->waiting.first != NULL; n--) {
        struct wr_redis_request *const request = link->waiting.first;

        wr_redis_link_unqueue(link, request);
        wr_redis_link_give_back(link, request, WR_REDIS_AWAY, NULL);
    }
}

/* After a failed attempt nobody waits for the next one. */
static bool is_on_its_way(const struct wr_redis_link *link)
{
    return !link->has_failed && link->state != WR_REDIS_LINK_CLOSED &&
           (link->state != WR_REDIS_LINK_UP || link->is_renewing);
}

static void send_now(struct wr_redis_link *link, struct wr_redis_request *request, bool is_asking)
{
    if (is_asking && !wr_redis_link_say_asking(link)) {
        wr_redis_link_give_back(link, request, WR_REDIS_AWAY, NULL);
        return;
    }
    wr_redis_link_say(link, request);
}

static void send_request(struct wr_redis_link *link, struct wr_redis_request *request,
                         wr_redis_back_fn on_back, void *back_context, bool is_asking)
{
    request->link = link;
    request->on_back = on_back;
    request->back_context = back_context;
    request->link_from = NULL;
    request->was_sent = false;
    if (wr_redis_link_is_ready(link) && link->channels == NULL) {
        send_now(link, request, is_asking);
    } else if (is_on_its_way(link) && !is_asking && link->channels == NULL) {
        wait_in(link, request);
    } else {
        wr_redis_link_give_back(link, request, WR_REDIS_AWAY, NULL);
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

void wr_redis_link_renew(struct wr_redis_link *link)
{
    if (link->state == WR_REDIS_LINK_UP && !link->is_renewing) {
        link->is_renewing = true;
        wr_redis_link_flush_later(link);
        wr_redis_link_tell_ready(link);
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
    if (link == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    link->options = *options;
    if (options->limits.beat_us == 0) {
        link->options.limits.beat_us = BEAT_US;
    }
    wr_redis_link_init_connect(link);
    link->beat = (struct wr_redis_timer){.on_due = wr_redis_link_beat_due, .context = link};
    link->waiting.end = &link->waiting.first;
    link->breaker.max_timeouts = options->limits.breaker_timeouts;
    link->pauses = (struct wr_pauses){
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
    if (link->state == WR_REDIS_LINK_CLOSED) {
        wr_redis_link_seek(link);
    }
}

void wr_redis_link_close(struct wr_redis_link *link)
{
    if (link->state == WR_REDIS_LINK_CLOSED) {
        return;
    }
    wr_redis_link_hang_up(link);
    link->state = WR_REDIS_LINK_CLOSED;
    wr_redis_link_give_back_lines(link);
    wr_redis_link_give_back_waiting(link);
    wr_redis_link_tell_ready(link);
}

enum wr_err wr_redis_link_move(struct wr_redis_link *link, struct wr_redis_place place)
{
    if (!set_place(link, place)) {
        return WR_ERR_NO_MEMORY;
    }
    wr_pauses_reset(&link->pauses);
    link->is_moving = true;
    link->has_failed = link->is_doubted = false;
    if (link->state == WR_REDIS_LINK_UP) {
        wr_redis_link_renew(link);
    } else if (link->state != WR_REDIS_LINK_CLOSED) {
        wr_redis_link_hang_up(link);
        link->state = WR_REDIS_LINK_RESTING;
        wr_redis_link_give_back_lines(link);
        wr_redis_link_set_timer(link, &link->timer, 0);
    }
    return WR_OK;
}

bool wr_redis_link_has_met_replica(const struct wr_redis_link *link)
{
    return link->has_met_replica;
}

uint64_t wr_redis_link_load(const struct wr_redis_link *link)
{
    return link->dialogue.n_live;
}

struct wr_redis_place wr_redis_link_place(const struct wr_redis_link *link)
{
    return (struct wr_redis_place){.host = wr_str_of(link->host), .port = link->port};
}

enum wr_err wr_redis_link_subscribe(struct wr_redis_link *link, struct wr_str channels)
{
    WR_ASSERT(link->state == WR_REDIS_LINK_CLOSED && link->channels == NULL);
    link->channels = calloc(1, channels.len + 1);
    if (link->channels == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    memcpy(link->channels, channels.ptr, channels.len);
    return WR_OK;
}

void wr_redis_link_retime(struct wr_redis_link *link)
{
    wr_redis_time_forget(&link->time);
    if (link->state == WR_REDIS_LINK_UP && !link->is_time_out && wr_redis_link_say_time(link)) {
        wr_redis_link_flush_later(link);
    }
}

/* A caller in a hurry says nothing against the server. */
static bool has_waited(const struct wr_redis_link *link, const struct wr_redis_request *request)
{
    return wr_redis_link_now(link) - request->said_mono_us >= link->options.limits.slow_us / 2;
}

void wr_redis_link_forget(struct wr_redis_link *link, struct wr_redis_request *request,
                          bool is_timeout)
{
    request->link = NULL;
    request->from = link;
    if (request->link_from != NULL) {
        wr_redis_link_unqueue(link, request);
        return;
    }
    wr_redis_dialogue_forget(&link->dialogue, request->place);
    request->was_sent = true; /* or will be: its bytes are in the pipeline */
    if (link->is_renewing) {
        wr_redis_link_flush_later(link);
    }
    if (is_timeout && has_waited(link, request) && wr_redis_breaker_timed_out(&link->breaker)) {
        wr_redis_link_hold(link, "does not answer in time (--redis-timeout)");
    }
}
