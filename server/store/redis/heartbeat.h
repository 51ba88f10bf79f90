/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two things that are asked once a second. Whether the store lets itself be counted in, by takes on
 * keys of its own: with the rights and the kinds of writes of all takes, so that it fails when
 * those do and needs nothing besides. And, when somebody wants to know, how many replicas count in
 * it: each writes its mark into a sorted set and learns from the reply how many marks are fresh.
 * That this is refused says nothing about takes.
 *
 * Invariant: the number falls only after it was told to be smaller for WR_REDIS_HEARTBEAT_FRESH_US,
 * since a store that comes back empty hears of the replicas one by one; while the store is away it
 * stays.
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
#include "store/backend.h"
#include "store/redis/request.h"
#include "store/redis/timers.h"

struct wr_redis_heartbeat;
struct wr_redis_key_style;
struct wr_redis_loop;
struct wr_redis_route;

#define WR_REDIS_HEARTBEAT_US INT64_C(1000000)

#define WR_REDIS_PROBE_TAKES 3

/* A mark that is older is of a replica that has gone. */
#define WR_REDIS_HEARTBEAT_FRESH_US INT64_C(10000000)

/* What is asked again and again: the mark, or the probe. */
struct wr_redis_pulse {
    struct wr_redis_heartbeat *heartbeat;
    struct wr_str command; /* in the arena of init */
    void (*on_reply)(struct wr_redis_pulse *pulse, const struct redisReply *reply);
    struct wr_redis_timer timer; /* until it is asked next */
    struct wr_redis_request request;
    const char *refusal; /* static: the code that was told last; NULL: it is not refused */
};

struct wr_redis_heartbeat {
    struct wr_redis_loop *loop;   /* borrowed; NULL: not open */
    struct wr_redis_route *route; /* borrowed */
    _Atomic uint32_t *replicas;   /* borrowed; what is learnt; 0: nothing yet; NULL: nobody asks */
    void (*on_probe)(void *context, bool is_usable); /* each time the store has answered */
    void *context;                                   /* of on_probe */
    uint16_t slot;                                   /* of its keys in a cluster */
    bool has_keys_of_its_own; /* a right to the keys of takes is none to the probe's */
    struct wr_redis_pulse mark, probe;
    struct wr_take takes[WR_REDIS_PROBE_TAKES];   /* of the probe */
    struct wr_take *probed[WR_REDIS_PROBE_TAKES]; /* them */
    int64_t heard_mono_us;                        /* when the number was told last */
    int64_t last_high_mono_us; /* when it was last as high as `replicas`; moved on by silences */
};

/* `style` is that of all keys: the set is at PREFIX{replicas}, the probe's keys begin so; before
 * those of the reference's form comes a prefix of their own, weir: . `id` tells this replica from
 * the others. `replicas` may be NULL. WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_redis_heartbeat_init(struct wr_redis_heartbeat *heartbeat,
                                                struct wr_arena *arena,
                                                const struct wr_redis_key_style *style, uint64_t id,
                                                _Atomic uint32_t *replicas);

/* Begins to beat. `on_probe` hears, on the loop's thread, of every answer. */
void wr_redis_heartbeat_open(struct wr_redis_heartbeat *heartbeat, struct wr_redis_loop *loop,
                             struct wr_redis_route *route,
                             void (*on_probe)(void *context, bool is_usable), void *context);

/* Before the route is closed. Fine when it was not opened. */
void wr_redis_heartbeat_close(struct wr_redis_heartbeat *heartbeat);

/* Takes `count` fresh marks, seen at `mono_us`, into account. */
void wr_redis_heartbeat_learn(struct wr_redis_heartbeat *heartbeat, uint32_t count,
                              int64_t mono_us);

#endif
