/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport on gRPC C core: workers, each with a completion queue of its own, that answer the
 * calls of a table of methods on connections which somebody else accepts. A method that the table
 * lacks is answered UNIMPLEMENTED.
 *
 * Invariant: from stop on no method of the table runs, and no call or arena is left.
 * Threads: new, start, stop and destroy by the owner; adopt and read_stats from any thread.
 */
#ifndef WR_RPC_GRPC_SERVER_H
#define WR_RPC_GRPC_SERVER_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "metrics/metrics.h"
#include "rpc/method.h"

struct wr_grpc_server;

/* 0 stands for the default of each number. */
struct wr_grpc_options {
    struct wr_method_table table;  /* borrowed; the first row is the busy method */
    struct wr_metrics *metrics;    /* borrowed */
    size_t n_workers;              /* 1 */
    size_t slots_per_worker;       /* 1024: calls of the busy method at once; others wait */
    size_t rare_slots;             /* 1024: calls at once of each other method, a worker */
    size_t arena_size;             /* 4096: first chunk of a call's arena, bytes */
    size_t max_message_bytes;      /* 4 MiB: of a request, unpacked */
    size_t max_concurrent_streams; /* 1024, and no fewer: of a connection */
    size_t max_buffer_bytes;       /* 256 MiB: what all connections may hold in memory together */
    /* A connection of that age, give or take a tenth, is told to go; its calls may take the grace.
     * 0: never. */
    int64_t max_connection_age_us, max_connection_age_grace_us;
};

/* One worker at a glance. */
struct wr_grpc_stats {
    size_t n_in_use;    /* slots that a call or its store still holds */
    size_t arena_bytes; /* of all slots, idle ones included; as of each slot's last release */
};

/* WR_ERR_NO_MEMORY, WR_ERR_INVALID (two rows of one path). */
WR_MUST_USE enum wr_err wr_grpc_server_new(const struct wr_grpc_options *options,
                                           struct wr_grpc_server **out_server);

/* Starts the workers; to be called once. On failure only destroy is left to call. */
WR_MUST_USE enum wr_err wr_grpc_server_start(struct wr_grpc_server *server);

/* Serves a connected, non-blocking socket, which it closes; after stop began, it only closes. */
void wr_grpc_server_adopt(struct wr_grpc_server *server, int fd);

/* Asks the callers to go elsewhere, ends streams that await nothing, waits up to `grace_us` for
 * calls to end and, a second at most, for callers to close their connections; cancels the rest, and
 * joins the workers once each await was woken. Does nothing unless started and not yet stopped. */
void wr_grpc_server_stop(struct wr_grpc_server *server, int64_t grace_us);

/* Stops without grace where still needed. */
void wr_grpc_server_destroy(struct wr_grpc_server *server);

void wr_grpc_server_read_stats(const struct wr_grpc_server *server, size_t worker,
                               struct wr_grpc_stats *out_stats);

#endif
