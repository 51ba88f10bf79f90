/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many replicas count in one store, and whether it lets them: each writes its mark into a
 * sorted set every second, and learns from the reply how many marks are fresh - or that the store
 * refuses to be written to, though it answers.
 *
 * Invariant: the number falls only after it was smaller for WR_REDIS_HEARTBEAT_FRESH_US, since a
 * store that comes back empty hears of the replicas one by one; while the store is away it stays.
 * Threads: init, open and close on the loop's thread or while it does not run; the number is read
 * by any thread.
 */
#ifndef WR_STORE_REDIS_HEARTBEAT_H
#define WR_STORE_REDIS_HEARTBEAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "store/redis/request.h"
#include "store/redis/timers.h"

struct wr_redis_loop;
struct wr_redis_route;

#define WR_REDIS_HEARTBEAT_US INT64_C(1000000)

/* A mark that is older is of a replica that has gone. */
#define WR_REDIS_HEARTBEAT_FRESH_US INT64_C(10000000)

struct wr_redis_heartbeat {
    struct wr_redis_loop *loop;   /* borrowed */
    struct wr_redis_route *route; /* borrowed */
    _Atomic uint32_t *replicas;   /* borrowed; what is learnt; 0: nothing yet; NULL: nobody asks */
    void (*on_beat)(void *context, bool is_usable); /* each time the store has answered */
    void *context;                                  /* of on_beat */
    struct wr_str command;                          /* in the arena of init */
    uint16_t slot;                                  /* of its key in a cluster */
    struct wr_redis_timer timer;                    /* until the next mark */
    struct wr_redis_request request;
    int64_t last_high_mono_us; /* when the number was last as high as it is told */
};

/* `prefix` is that of all keys; the set is at PREFIX{replicas}. `id` tells this replica from the
 * others. `replicas` may be NULL. WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_redis_heartbeat_init(struct wr_redis_heartbeat *heartbeat,
                                                struct wr_arena *arena, struct wr_str prefix,
                                                uint64_t id, _Atomic uint32_t *replicas);

/* Begins to beat. `on_beat` hears, on the loop's thread, of every answer. */
void wr_redis_heartbeat_open(struct wr_redis_heartbeat *heartbeat, struct wr_redis_loop *loop,
                             struct wr_redis_route *route,
                             void (*on_beat)(void *context, bool is_usable), void *context);

/* Before the route is closed. Fine when it was not opened. */
void wr_redis_heartbeat_close(struct wr_redis_heartbeat *heartbeat);

/* Takes `count` fresh marks, seen at `mono_us`, into account. */
void wr_redis_heartbeat_learn(struct wr_redis_heartbeat *heartbeat, uint32_t count,
                              int64_t mono_us);

#endif
