/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that accepts connections and hands those that speak HTTP/2 to a transport. At the cap
 * on connections, and when descriptors or memory run out, it lets callers wait in the system's
 * queue and tries again. Its warden cuts off those who fill the memory or never pause.
 *
 * Threads: new, start, stop and destroy by the owner; adopt runs on the acceptor's thread.
 */
#ifndef WR_RPC_ACCEPTOR_H
#define WR_RPC_ACCEPTOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "metrics/metrics.h"
#include "rpc/newcomers.h"

struct wr_acceptor;
struct wr_listen;

struct wr_acceptor_options {
    struct wr_listen *listen;     /* borrowed until stopped, which shuts it */
    size_t max_connections;       /* 0: what the limit on open files leaves room for */
    int64_t handshake_timeout_us; /* for the first bytes of a connection; 0: none */
    uint64_t max_memory_bytes;    /* resident, see rpc/memory_guard.h; 0: no bound */
    wr_adopt_fn adopt;
    void *context;              /* borrowed; of adopt */
    struct wr_metrics *metrics; /* borrowed */
};

/* WR_ERR_NO_MEMORY, WR_ERR_SYSTEM. */
WR_MUST_USE enum wr_err wr_acceptor_new(const struct wr_acceptor_options *options,
                                        struct wr_acceptor **out_acceptor);

WR_MUST_USE enum wr_err wr_acceptor_start(struct wr_acceptor *acceptor);

/* Takes in who waits, shuts the listening sockets, lets those taken in speak for half a second at
 * most, closes those that have not, and joins; from then on adopt is not called. Does nothing
 * unless started. */
void wr_acceptor_stop(struct wr_acceptor *acceptor);

/* From then on (CLOCK_MONOTONIC) every connection that is open is reset, until destroy. A client
 * that never pauses keeps the acceptor's thread, and so stop, until then. Any thread. */
void wr_acceptor_close_at(struct wr_acceptor *acceptor, int64_t mono_us);

/* Of those that were accepted, how many are open. After stop. */
size_t wr_acceptor_count(struct wr_acceptor *acceptor);

/* Stops too, and the warden, which looks until then. */
void wr_acceptor_destroy(struct wr_acceptor *acceptor);

#endif
