/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counters in Redis or Valkey: many replicas of this server count together, by a script that judges
 * and charges at once. A batch becomes one command for each slot of the cluster that it touches;
 * an I/O thread sends and reads, and calls `done`.
 *
 * Invariant: a batch is answered by its deadline or the timeout, whichever is first. A charge that
 * may have happened is never repeated. What Redis gets to see after that moment counts nothing,
 * save takes that must be booked.
 * Threads: take from any thread; new and destroy by the owner; `done` on an I/O thread, or inline
 * when memory is out.
 */
#ifndef WR_STORE_REDIS_STORE_H
#define WR_STORE_REDIS_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "store/backend.h"
#include "store/redis/key.h"
#include "store/redis/link.h"
#include "store/redis/target.h"

struct wr_redis_route;
struct wr_redis_route_frame;

/* Makes the route of one I/O thread. */
typedef enum wr_err (*wr_redis_route_new_fn)(const struct wr_redis_route_frame *frame,
                                             const struct wr_redis_target *target,
                                             struct wr_redis_route **out_route);

struct wr_redis_store_options {
    struct wr_arena *setup; /* of the texts of target and keys; the store takes what it holds */
    struct wr_redis_target target;
    struct wr_redis_key_style keys;
    struct wr_redis_security *security; /* for what target says has TLS; the store takes it */
    wr_redis_route_new_fn new_route;    /* of the target's topology */
    int64_t timeout_us;                 /* that a batch may take, at most; > 0 */
    struct wr_redis_limits limits;      /* of links */
    size_t n_threads;                   /* > 0 */
    struct wr_metrics *metrics;
    _Atomic uint32_t *replicas; /* borrowed; where the number of those that count in this store is
                                   put once it is learnt; NULL: nobody wants to know */
    /* Whether every I/O thread has somebody to ask, told at each change, beginning from "no"; short
     * gaps are not told. From I/O threads; what is told last holds. NULL: nobody wants to know. */
    void (*on_reachable)(void *context, bool is_reachable);
    void *context;
};

/* WR_ERR_NO_MEMORY, WR_ERR_SYSTEM; then setup and security stay the caller's. Begins to connect;
 * that it cannot is no error. */
WR_MUST_USE enum wr_err wr_redis_store_new(const struct wr_redis_store_options *options,
                                           struct wr_backend **out_backend);

#endif
