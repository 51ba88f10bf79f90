/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch on its way to Redis: one command for each slot that it touches, all in the arena of the
 * batch, from the thread that takes to an I/O thread and back.
 *
 * Invariant: once posted, every take is answered and `done` of the batch is called, once.
 * Threads: made and posted by the thread that takes; the rest on the courier's I/O thread, `done`
 * too.
 */
#ifndef WR_STORE_REDIS_CALL_H
#define WR_STORE_REDIS_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "store/backend.h"

struct wr_redis_call;
struct wr_redis_key_style;
struct wr_redis_loop;
struct wr_redis_route;

/* Who carries calls: an I/O thread. Immutable while it does. */
struct wr_redis_courier {
    struct wr_redis_loop *loop; /* borrowed, as all */
    struct wr_redis_route *route;
    struct wr_metrics_block *metrics;      /* of the I/O thread */
    const struct wr_redis_key_style *keys; /* how counters are named */
    int64_t timeout_us;                    /* a call is given, at most */
    struct wr_log_limit foreign_line;      /* of the line about keys that hold no counters */
    bool has_slots;                        /* of a cluster: a command has keys of one slot alone */
};

/* NULL when memory is out: nothing has happened. */
struct wr_redis_call *wr_redis_call_new(struct wr_redis_courier *courier, struct wr_batch *batch);

/* When a call ends at the latest: `timeout_us` from now, and so long before the caller's deadline
 * that its failure mode reaches him. All but the timeout are monotonic times. */
int64_t wr_redis_call_deadline(int64_t now_us, int64_t callers_us, int64_t timeout_us);

/* Hands it to the I/O thread. */
void wr_redis_call_post(struct wr_redis_call *call);

#endif
