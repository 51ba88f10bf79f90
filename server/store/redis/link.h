/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One connection to one server, kept up: it connects, introduces itself, carries a pipeline of
 * requests whose replies come in order, and connects anew after each loss, with growing pauses.
 *
 *     CLOSED ─ open ─► SEEKING ──► CONNECTING ──► GREETING ──► UP
 *                        ▲  ▲          │              │         │ lost, told to, or a probe
 *                        │  └ at once ─┼──────────────┼─────────┤ that nobody answers
 *                      pause           ▼              ▼         │
 *                        └───────── RESTING ◄──────────────────-┘
 *
 * While UP a breaker may hold requests off: after a row of timeouts, or when the server says that
 * it is not ready; one PING at a time looks whether it is back. What is sent while the link is on
 * its way waits for it, until its deadline; what is sent while it RESTs or is held off ends AWAY.
 * Threads: the loop's thread.
 */
#ifndef WR_STORE_REDIS_LINK_H
#define WR_STORE_REDIS_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "store/redis/request.h"

struct redisReply;
struct wr_redis_link;
struct wr_redis_loop;
struct wr_redis_resolver;
struct wr_redis_security;

/* Where a server is. */
struct wr_redis_place {
    struct wr_str host; /* a name or a numeric address without brackets; or a Unix path */
    uint16_t port;      /* 0: `host` is a path */
};

/* What holds for all links of a store. */
struct wr_redis_limits {
    int64_t connect_timeout_us; /* until a link is up, and for a probe's answer */
    int64_t beat_us;            /* between looks whether an idle server is there; 0: a second */
    int64_t slow_us;            /* a request that waits longer than half of it is a timeout to the
                                   breaker, and a probe that waits longer keeps it open */
    int64_t pause_min_us;       /* between attempts; doubles, with full jitter */
    int64_t pause_max_us;
    uint32_t breaker_timeouts; /* in a row, that open the breaker; > 0 */
};

/* All texts are copied. */
struct wr_redis_link_options {
    struct wr_redis_loop *loop;
    struct wr_redis_resolver *resolver; /* NULL: numeric addresses and paths alone */
    struct wr_redis_security *security; /* borrowed; NULL: bare */
    struct wr_redis_limits limits;
    struct wr_redis_place place;
    struct wr_str user, password; /* empty: none */
    uint32_t database;
    struct wr_str script_load; /* SCRIPT LOAD as RESP, lives for ever; sent by each greeting and
                                  when the server has forgotten; empty: none */
    /* How many takes a reply that nobody waits for any more says came too late; NULL: none. */
    size_t (*count_late)(const struct redisReply *reply);
    bool needs_primary; /* a replica is as good as nobody: the greeting asks for its ROLE */
    bool is_discreet;   /* errors in replies are not logged: whoever asks tells them */
    struct wr_str what; /* of it in the log: "Redis", "Redis sentinel" */
    /* Each may be NULL. In them everything may be called but destroy. */
    void (*on_up)(void *context, struct wr_redis_link *link);
    /* UP is over, or an attempt to get there failed; `why` is a text for the log. */
    void (*on_down)(void *context, struct wr_redis_link *link, const char *why);
    /* The server answers and takes requests, or does not: what is_ready says has changed. */
    void (*on_ready)(void *context, struct wr_redis_link *link, bool is_ready);
    /* A reply that answers no request: published messages. Only after wr_redis_link_subscribe. */
    void (*on_push)(void *context, struct wr_redis_link *link, const struct redisReply *reply);
    void *context;
};

/* CLOSED at first. WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_redis_link_new(const struct wr_redis_link_options *options,
                                          struct wr_redis_link **out_link);

/* All its requests are given back. Not from its own callbacks. NULL is fine. */
void wr_redis_link_destroy(struct wr_redis_link *link);

/* Connects and stays connected from now on. Fine when it is open. */
void wr_redis_link_open(struct wr_redis_link *link);

/* Gives all requests back (LOST or AWAY) and stays CLOSED. */
void wr_redis_link_close(struct wr_redis_link *link);

/* Lets what is in flight be answered, takes nothing new, and connects anew: somebody else may be
 * at that place by now. */
void wr_redis_link_renew(struct wr_redis_link *link);

/* The same, elsewhere. WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_redis_link_move(struct wr_redis_link *link, struct wr_redis_place place);

/* UP, and the breaker lets requests through. */
bool wr_redis_link_is_ready(const struct wr_redis_link *link);

/* The last attempt ended since needs_primary, and the server is a replica. */
bool wr_redis_link_has_met_replica(const struct wr_redis_link *link);

/* Requests that wait for their replies. */
uint64_t wr_redis_link_load(const struct wr_redis_link *link);

struct wr_redis_place wr_redis_link_place(const struct wr_redis_link *link);

/*
 * Sends a started request, this turn when the link is UP. The link gives it back by `on_back`,
 * NULL: ends it; perhaps at once. NOSCRIPT is seen to here: the script is loaded and the request
 * repeated, once. What a reply's error says about the server (LOADING, READONLY…) is seen to here
 * as well; the reply is given back all the same.
 */
void wr_redis_link_send(struct wr_redis_link *link, struct wr_redis_request *request,
                        wr_redis_back_fn on_back, void *back_context);

/* The same with ASKING before it. */
void wr_redis_link_send_asking(struct wr_redis_link *link, struct wr_redis_request *request,
                               wr_redis_back_fn on_back, void *back_context);

/* SUBSCRIBE to `channels`, parted by spaces, after each greeting; what comes, the answers included,
 * goes to on_push, and requests may not be sent by this link. Before open. WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_redis_link_subscribe(struct wr_redis_link *link, struct wr_str channels);

/* The server said that a request woke too late, though it was answered in time: its clock was set.
 * For use in on_end and on_back, where request->from is the link. */
void wr_redis_link_retime(struct wr_redis_link *link);

/* Takes a request back without a word; its reply finds nobody. For wr_redis_request_drop and
 * deadlines. */
void wr_redis_link_forget(struct wr_redis_link *link, struct wr_redis_request *request,
                          bool is_timeout);

#endif
