/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps clients from filling the memory of the process with calls that they never finish. While
 * more of it is resident than allowed, the connections that sent most without an answer are cut
 * off, a few a look, and what C core then frees is given back to the system.
 *
 * TCP alone tells how much was sent: a connection by a Unix socket is never cut off.
 * Threads: looks by one thread at a time, holds by any thread; debt is a pure function.
 */
#ifndef WR_RPC_MEMORY_GUARD_H
#define WR_RPC_MEMORY_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lock.h"
#include "base/log.h"
#include "metrics/metrics.h"

struct wr_connections;

struct wr_memory_guard {
    uint64_t max_bytes;                 /* resident; UINT64_MAX: no bound, and never a look */
    int statm_fd;                       /* owned; -1: none */
    struct wr_mutex *mutex;             /* borrowed; guards connections */
    struct wr_connections *connections; /* borrowed */
    struct wr_metrics_block *metrics;   /* borrowed; of the thread */
    atomic_bool holds;
    int64_t due_us, trim_due_us, hold_end_us;
    struct wr_log_limit closed_limit, above_limit;
};

/* Also has the library keep little of what was freed, in the whole process. `max_bytes` 0: no
 * bound. Where the system does not tell what is resident there is none either, and a warning says
 * so. */
void wr_memory_guard_init(struct wr_memory_guard *guard, uint64_t max_bytes,
                          struct wr_connections *connections, struct wr_mutex *mutex,
                          struct wr_metrics_block *metrics);

void wr_memory_guard_fini(struct wr_memory_guard *guard);

/* True while new connections have to wait: some were cut off within the last seconds, and what they
 * held is not free yet. */
bool wr_memory_guard_holds(const struct wr_memory_guard *guard);

/* When the next look is due, INT64_MAX when never. */
int64_t wr_memory_guard_due_us(const struct wr_memory_guard *guard);

/* Looks if that is due, and cuts off who has to be. */
void wr_memory_guard_look(struct wr_memory_guard *guard, int64_t mono_us);

/* What a client has sent beyond what its answers account for: 16 bytes for each byte that it took
 * of them. A caller whose requests are up to a kilobyte owes nothing, since the smallest answer to
 * a call is some 65 bytes with its frames. */
uint64_t wr_memory_guard_debt(uint64_t received, uint64_t answered);

#endif
