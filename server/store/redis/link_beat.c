/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "store/redis/link_inside.h"

/* TIME tells what its clock shows; a subscriber may not ask for that. Who was denied SUBSCRIBE
 * tries again. */
static bool say_first(struct wr_redis_link *link)
{
    if (link->channels != NULL) {
        return !link->is_denied || wr_redis_link_say_subscribe(link);
    }
    return link->is_time_out || wr_redis_link_say_time(link);
}

/* PING tells whether it takes requests. */
static void send_beat(struct wr_redis_link *link)
{
    if (!say_first(link) || !wr_redis_link_say_word(link, "PING", WR_REDIS_STEP_BEAT)) {
        wr_redis_link_disconnect(link, "out of memory");
        return;
    }
    link->is_beat_out = true;
    link->beat_us = wr_redis_link_now(link);
    wr_redis_link_set_timer(link, &link->beat, link->options.limits.connect_timeout_us);
    wr_redis_link_flush_later(link);
}

void wr_redis_link_beat_due(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_link *const link = timer->context;

    (void) mono_us;
    if (link->is_beat_out) {
        wr_redis_link_disconnect(link, "does not answer (PING)");
    } else {
        send_beat(link);
    }
}

static void probe_again(struct wr_redis_link *link)
{
    const int64_t pause_us =
        wr_pauses_next(&link->pauses, wr_redis_loop_random(link->options.loop));

    if (link->breaker.is_open) {
        wr_redis_link_log_away(link, link->held_why);
    }
    wr_redis_link_set_timer(link, &link->beat, pause_us);
}

void wr_redis_link_hold(struct wr_redis_link *link, const char *why)
{
    wr_redis_link_count(link, WR_METRIC_REDIS_BREAKER_OPENS);
    (void) snprintf(link->held_why, sizeof link->held_why, "%s", why);
    wr_redis_link_log_away(link, why);
    if (!link->is_beat_out) {
        send_beat(link);
    }
    wr_redis_link_tell_ready(link);
}

void wr_redis_link_beat_answered(struct wr_redis_link *link, const struct redisReply *reply)
{
    const int64_t took_us = wr_redis_link_now(link) - link->beat_us;
    const bool is_error = reply->type == REDIS_REPLY_ERROR;

    link->is_beat_out = false;
    if (!is_error && !wr_redis_link_is_pong(reply)) {
        wr_redis_link_disconnect(link, WR_REDIS_NO_PONG);
        return;
    }
    if ((is_error && !wr_redis_link_is_denied(reply)) ||
        (link->breaker.is_open && took_us > link->options.limits.slow_us)) {
        probe_again(link);
        return;
    }
    (void) wr_redis_breaker_close(&link->breaker);
    if (!link->is_doubted) {
        wr_pauses_reset(&link->pauses);
        wr_redis_link_log_back(link);
    }
    wr_redis_link_set_timer(link, &link->beat, link->options.limits.beat_us);
    wr_redis_link_tell_ready(link);
}

/* ---- subscribers ---- */

bool wr_redis_link_say_subscribe(struct wr_redis_link *link)
{
    struct wr_str words[16] = {wr_str_of("SUBSCRIBE")};
    size_t n = 1;

    for (const char *at = link->channels; *at != '\0' && n < sizeof words / sizeof words[0];) {
        const size_t len = strcspn(at, " ");

        words[n++] = (struct wr_str){.ptr = at, .len = len};
        at += len + (at[len] == ' ');
    }
    link->is_subscribing = true;
    return wr_redis_link_say_words(link, words, n, WR_REDIS_STEP_IGNORED);
}

/* Messages, and what answers SUBSCRIBE and PING: that is a status as long as nothing is subscribed
 * to. Lines are taken as replies come, whichever they are: one of SUBSCRIBE stays ahead for ever.
 */
void wr_redis_link_pushed(struct wr_redis_link *link, const struct redisReply *reply)
{
    const bool is_error = reply->type == REDIS_REPLY_ERROR;
    struct wr_redis_line line;

    if (is_error || wr_redis_link_is_pong(reply)) {
        (void) wr_redis_dialogue_take(&link->dialogue, &line);
    }
    if (link->is_beat_out &&
        (wr_redis_link_is_pong(reply) || (is_error && !link->is_subscribing))) {
        wr_redis_link_beat_answered(link, reply);
        return;
    }
    if (link->is_subscribing) {
        link->is_subscribing = false;
        link->is_denied = is_error;
    }
    if (link->options.on_push != NULL) {
        link->options.on_push(link->options.context, link, reply);
    }
}
