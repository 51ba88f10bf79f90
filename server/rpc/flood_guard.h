/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts off a client that never lets its socket run empty. C core reads such a connection without a
 * pause: it keeps a thread, and after 2 GiB of it an assertion in C core ends the process. An
 * honest caller waits for answers again and again, and is seen empty then: at every second look
 * when it is alone, and still at one in a hundred when a hundred of them keep all cores busy.
 *
 * TCP alone tells how much was sent: a connection by a Unix socket is never cut off.
 * Threads: one thread at a time.
 */
#ifndef WR_RPC_FLOOD_GUARD_H
#define WR_RPC_FLOOD_GUARD_H

#include <stdint.h>

#include "base/lock.h"
#include "base/log.h"
#include "metrics/metrics.h"

struct wr_connections;

/* What a transport may take from a connection while no look sees its socket empty: twenty times of
 * what callers at full speed were seen to reach, and a thirty-second of what ends the process. */
#define WR_FLOOD_MAX_BYTES (UINT64_C(64) << 20)

struct wr_flood_guard {
    struct wr_mutex *mutex;             /* borrowed; guards connections */
    struct wr_connections *connections; /* borrowed */
    struct wr_metrics_block *metrics;   /* borrowed; of the thread */
    int64_t due_us;
    struct wr_log_limit limit;
};

/* When the next look is due. */
int64_t wr_flood_guard_due_us(const struct wr_flood_guard *guard);

/* Looks if that is due, and cuts off who has to be. */
void wr_flood_guard_look(struct wr_flood_guard *guard, int64_t mono_us);

#endif
