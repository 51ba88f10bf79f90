/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One command in flight. Whoever makes it fills the first part, starts it, and gives it to a route
 * or a link; it ends exactly once, by its deadline at the latest.
 *
 * Its bytes are copied by the link that sends it, and no link keeps a pointer to a request that has
 * ended: a reply that comes later finds a hole in the order of the pipeline.
 * Threads: made on any thread; from start to end of the I/O thread.
 */
#ifndef WR_STORE_REDIS_REQUEST_H
#define WR_STORE_REDIS_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "store/redis/timers.h"

struct redisReply;
struct wr_redis_link;
struct wr_redis_loop;
struct wr_redis_request;

/* How a request ended. */
enum wr_redis_end {
    WR_REDIS_REPLIED,   /* by a reply, which may be an error; store/redis/fault.h reads those */
    WR_REDIS_AWAY,      /* no server got a byte of it */
    WR_REDIS_LOST,      /* the connection went while its reply was awaited: it may have run */
    WR_REDIS_TIMED_OUT, /* its deadline came; `was_sent` says whether it may have run */
};

/* `reply` is borrowed for the call, and NULL unless REPLIED. The request may be freed in it. */
typedef void (*wr_redis_end_fn)(struct wr_redis_request *request, enum wr_redis_end end,
                                const struct redisReply *reply);

/* A link gives back what was sent by it: to be ended, or sent elsewhere. Never TIMED_OUT. */
typedef void (*wr_redis_back_fn)(void *context, struct wr_redis_request *request,
                                 enum wr_redis_end end, const struct redisReply *reply);

struct wr_redis_request {
    struct wr_str bytes;      /* borrowed until the end; one command as RESP */
    size_t not_after_at;      /* in `bytes`, 8 of them, a little-endian double: there a link writes
                                 the deadline, in microseconds by the server's clock, 0 where that
                                 is not known; 0: nowhere */
    int64_t deadline_mono_us; /* the end at the latest */
    bool is_quiet;            /* its maker tells of errors that say nothing about the connection */
    uint16_t slot;            /* of the cluster, of all its keys; 0 elsewhere */
    uint16_t n_redirects;     /* for the route's use, as the next */
    uint16_t n_waits;
    wr_redis_end_fn on_end;
    void *context; /* of on_end's owner */
    /* of loop and links */
    struct wr_redis_loop *loop;
    struct wr_redis_timer timer;   /* of the deadline */
    struct wr_redis_link *link;    /* that has it; NULL: none */
    struct wr_redis_link *from;    /* during on_end and on_back: that gave it back; else NULL */
    wr_redis_back_fn on_back;      /* NULL: it ends */
    void *back_context;            /* of on_back */
    uint64_t place;                /* in the link's pipeline, while it is there */
    struct wr_redis_request *next; /* in the link's queue or the route's list, while it is there */
    struct wr_redis_request **link_from; /* what points at it there; NULL: in none */
    int64_t said_mono_us;                /* when a link took it for its server */
    bool was_sent;                       /* timed out, and a server may get or have got it */
    uint8_t n_repeats;                   /* after the server had forgotten the script */
};

/* Sets the deadline running. */
void wr_redis_request_start(struct wr_redis_request *request, struct wr_redis_loop *loop);

/* Ends a request that no link has: calls on_end. For routes and the makers of requests. */
void wr_redis_request_end(struct wr_redis_request *request, enum wr_redis_end end,
                          const struct redisReply *reply);

/* Puts a request that no link has at the head of `list`, which is the route's. It leaves by itself
 * when its deadline comes. */
void wr_redis_request_park(struct wr_redis_request *request, struct wr_redis_request **list);

/* Takes it out of its list. */
void wr_redis_request_unpark(struct wr_redis_request *request);

/* Takes it back from whoever has it without calling anything; for makers that go away. */
void wr_redis_request_drop(struct wr_redis_request *request);

#endif
