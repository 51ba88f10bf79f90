/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of a link, for the files that are one together: link.c (what others ask of it),
 * link_connect.c (how it gets and loses its connection), link_talk.c (what is said over it) and
 * link_beat.c (what is said while nobody asks: heartbeats, probes, and what subscribers hear).
 *
 * Threads: the loop's thread.
 */
#ifndef WR_STORE_REDIS_LINK_INSIDE_H
#define WR_STORE_REDIS_LINK_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "base/pauses.h"
#include "metrics/metrics.h"
#include "store/redis/breaker.h"
#include "store/redis/bulletin.h"
#include "store/redis/dialogue.h"
#include "store/redis/link.h"
#include "store/redis/loop.h"
#include "store/redis/request.h"
#include "store/redis/resolve.h"
#include "store/redis/socket.h"
#include "store/redis/time.h"

struct redisReply;

#define WR_REDIS_NO_PONG "answers PING with what is no PONG: is it Redis or Valkey?"

enum wr_redis_link_state {
    WR_REDIS_LINK_CLOSED,
    WR_REDIS_LINK_SEEKING,
    WR_REDIS_LINK_CONNECTING,
    WR_REDIS_LINK_GREETING,
    WR_REDIS_LINK_UP,
    WR_REDIS_LINK_RESTING,
};

/* What a line of the dialogue is for. */
enum wr_redis_step {
    WR_REDIS_STEP_REQUEST,
    WR_REDIS_STEP_IGNORED, /* its reply says nothing */
    WR_REDIS_STEP_LOGIN,   /* AUTH, SELECT: an error ends the greeting */
    WR_REDIS_STEP_NAME,    /* CLIENT SETNAME: the first that many hear of who they are not */
    WR_REDIS_STEP_LOAD,
    WR_REDIS_STEP_TIME,
    WR_REDIS_STEP_ROLE,
    WR_REDIS_STEP_GREETED, /* the PING at the end of the greeting */
    WR_REDIS_STEP_BEAT,    /* the PING of a heartbeat or probe */
};

/* Requests that wait until the link is up. */
struct wr_redis_queue {
    struct wr_redis_request *first, **end;
};

struct wr_redis_link {
    struct wr_redis_link_options options; /* texts owned by `texts`, but script_load */
    char *texts, *host;                   /* owned */
    uint16_t port;
    char label[96]; /* for the log: what and where */
    enum wr_redis_link_state state;
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
    struct wr_redis_queue waiting;
    struct wr_redis_breaker breaker;
    struct wr_pauses pauses;
    struct wr_redis_time time;
    int64_t beat_us;      /* when the beat that is out was sent */
    int64_t time_sent_us; /* the same of TIME */
    char *channels;       /* owned; NULL: no subscriber */
    bool has_met_replica; /* in the last attempt, where that is of no use */
    bool has_failed;      /* the last attempt, or a connection that was of no use */
    bool is_doubted;      /* a reply was not what was asked for, and none since was */
    bool is_subscribing;  /* SUBSCRIBE is not answered yet */
    bool is_denied;       /* it was, by an error */
    bool is_beat_out, is_time_out, is_load_out, is_renewing, is_moving;
    bool was_ready; /* as last told */
    struct wr_redis_bulletin bulletin;
    char held_why[WR_REDIS_WHY_SIZE]; /* why the breaker has opened */
    struct wr_log_limit fault_log;
};

static inline void wr_redis_link_count(struct wr_redis_link *link, enum wr_metric metric)
{
    wr_metrics_add(wr_redis_loop_metrics(link->options.loop), metric, 1);
}

static inline int64_t wr_redis_link_now(const struct wr_redis_link *link)
{
    return wr_redis_loop_now(link->options.loop);
}

static inline void wr_redis_link_set_timer(struct wr_redis_link *link, struct wr_redis_timer *timer,
                                           int64_t after_us)
{
    wr_redis_timer_set(wr_redis_loop_timers(link->options.loop), timer,
                       wr_redis_link_now(link) + after_us);
}

static inline void wr_redis_link_flush_later(struct wr_redis_link *link)
{
    wr_redis_loop_flush_later(link->options.loop, &link->flush);
}

/* ---- link.c ---- */

/* Tells on_ready when is_ready has changed. */
void wr_redis_link_tell_ready(struct wr_redis_link *link);

/* In the log, as far as that has not been told. */
void wr_redis_link_log_away(struct wr_redis_link *link, const char *why);

void wr_redis_link_log_back(struct wr_redis_link *link);

/* The same, or that it is there at all. */
void wr_redis_link_log_connected(struct wr_redis_link *link);

/* To its maker: the link has it no more. */
void wr_redis_link_give_back(struct wr_redis_link *link, struct wr_redis_request *request,
                             enum wr_redis_end end, const struct redisReply *reply);

/* All that wait now, as AWAY. */
void wr_redis_link_give_back_waiting(struct wr_redis_link *link);

/* Out of those that wait. */
void wr_redis_link_unqueue(struct wr_redis_link *link, struct wr_redis_request *request);

/* ---- link_connect.c ---- */

/* Begins an attempt: where is the place? */
void wr_redis_link_seek(struct wr_redis_link *link);

/* The connection, or the attempt at one, is over. `why` NULL: it is left for another place. */
void wr_redis_link_disconnect(struct wr_redis_link *link, const char *why);

/* Leaves no descriptor, timer or look-up behind; lines stay. */
void wr_redis_link_hang_up(struct wr_redis_link *link);

/* All that await replies, which will not come. */
void wr_redis_link_give_back_lines(struct wr_redis_link *link);

/* Sets what is called on behalf of `link`. */
void wr_redis_link_init_connect(struct wr_redis_link *link);

/* ---- link_talk.c ---- */

/* Sends it; gives it back as AWAY when there is no room. */
void wr_redis_link_say(struct wr_redis_link *link, struct wr_redis_request *request);

/* ASKING. False when there is no room. */
bool wr_redis_link_say_asking(struct wr_redis_link *link);

/* False when there is no room. */
bool wr_redis_link_say_time(struct wr_redis_link *link);

/* Introduces itself on a new connection. False when memory is out. */
bool wr_redis_link_greet(struct wr_redis_link *link);

/* Acts on all replies that were read. */
void wr_redis_link_take_replies(struct wr_redis_link *link);

/* False when there is no room; as all that say something. */
bool wr_redis_link_say_words(struct wr_redis_link *link, const struct wr_str *words, size_t n,
                             enum wr_redis_step step);

bool wr_redis_link_say_word(struct wr_redis_link *link, const char *word, enum wr_redis_step step);

/* The user may not use a command: of ours some only help. */
bool wr_redis_link_is_denied(const struct redisReply *reply);

/* To a subscriber as well. */
bool wr_redis_link_is_pong(const struct redisReply *reply);

/* ---- link_beat.c ---- */

/* The breaker has just opened: looks by a probe when to close it. */
void wr_redis_link_hold(struct wr_redis_link *link, const char *why);

bool wr_redis_link_say_subscribe(struct wr_redis_link *link);

/* A reply to a subscriber. */
void wr_redis_link_pushed(struct wr_redis_link *link, const struct redisReply *reply);

/* The reply to the PING of a heartbeat or probe. */
void wr_redis_link_beat_answered(struct wr_redis_link *link, const struct redisReply *reply);

/* Of the timer `beat`. */
void wr_redis_link_beat_due(struct wr_redis_timer *timer, int64_t mono_us);

#endif
