/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Watches the connections that transports have, from a thread of its own, since a client that never
 * pauses keeps whoever handed its connection over: it has the guards look, and from a given moment
 * on it cuts off all that are left.
 *
 * Threads: init, start and fini by the owner; in between close_at and holds by any thread.
 */
#ifndef WR_RPC_WARDEN_H
#define WR_RPC_WARDEN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/lock.h"
#include "base/thread.h"
#include "metrics/metrics.h"
#include "rpc/flood_guard.h"
#include "rpc/memory_guard.h"

struct wr_connections;

struct wr_warden {
    struct wr_memory_guard memory;
    struct wr_flood_guard flood;
    struct wr_mutex *mutex;             /* borrowed; guards connections */
    struct wr_connections *connections; /* borrowed */
    _Atomic int64_t close_us;           /* INT64_MAX: never */
    int stop_fd;                        /* owned; an eventfd; -1: not started */
    struct wr_thread thread;
};

/* `max_memory_bytes` as for rpc/memory_guard.h; `metrics` is a block for the thread. */
void wr_warden_init(struct wr_warden *warden, uint64_t max_memory_bytes,
                    struct wr_connections *connections, struct wr_mutex *mutex,
                    struct wr_metrics_block *metrics);

/* Stops too. */
void wr_warden_fini(struct wr_warden *warden);

/* WR_ERR_SYSTEM. */
WR_MUST_USE enum wr_err wr_warden_start(struct wr_warden *warden);

/* From then on (CLOCK_MONOTONIC) every connection is reset, those that are added later too. */
void wr_warden_close_at(struct wr_warden *warden, int64_t mono_us);

/* True while new connections have to wait for memory. */
bool wr_warden_holds(const struct wr_warden *warden);

#endif
