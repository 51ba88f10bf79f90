/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A worker: a completion queue, the thread that empties it, and the slots whose calls it answers.
 *
 * Invariant: the queue is shut down when the server stops and no slot is in use any more, not
 * before: a wake needs it.
 * Threads: open, start, join and close by the owner; wake from any thread; the rest on the
 * worker's own thread.
 */
#ifndef WR_RPC_GRPC_WORKER_H
#define WR_RPC_GRPC_WORKER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <grpc/grpc.h>

#include "base/err.h"
#include "base/thread.h"
#include "metrics/metrics.h"
#include "rpc/grpc/lane.h"
#include "rpc/grpc/server.h"
#include "rpc/grpc/slot.h"

struct wr_grpc_worker {
    grpc_server *core; /* borrowed */
    grpc_completion_queue *queue;
    struct wr_metrics_block *metrics; /* borrowed */
    size_t index;
    size_t max_message_bytes;
    struct wr_grpc_lane *lanes; /* owned */
    size_t n_lanes;
    size_t n_live; /* slots posted or in use, plus one for each notice below */
    bool is_posted;
    bool is_started;
    bool is_draining;
    struct wr_thread thread;
    grpc_channel *nowhere;                /* owned; leads to nobody */
    grpc_call *bell;                      /* owned; on it, a batch is just an event of the queue */
    _Atomic(struct wr_grpc_slot *) woken; /* by other threads, the last first; the bell was rung
                                             when there was none before */
    struct wr_grpc_tag rung;              /* of the bell; slot NULL */
    struct wr_grpc_tag draining;          /* of the notice that the server stops; slot NULL */
    struct wr_grpc_tag stopped;           /* of the notice that the server has stopped; slot NULL */
    int stopped_fd;             /* borrowed; an eventfd that the notice is passed on to, or -1 */
    _Atomic size_t n_in_use;    /* written by the worker; relaxed */
    _Atomic size_t arena_bytes; /* likewise */
};

/* Lanes for all rows of `options->table`, whose C core names are `registered`, and one for the
 * methods that it lacks. On failure close is still to be called. */
WR_MUST_USE enum wr_err wr_grpc_worker_open(struct wr_grpc_worker *worker,
                                            const struct wr_grpc_options *options,
                                            void *const *registered);

/* Posts all slots. C core's server must have been started. */
void wr_grpc_worker_post(struct wr_grpc_worker *worker);

/* Starts the thread; after post. */
WR_MUST_USE enum wr_err wr_grpc_worker_start(struct wr_grpc_worker *worker);

/* Has the worker's thread end the streams that wait for their callers alone, now and from now on;
 * once, after post and before join. */
void wr_grpc_worker_drain(struct wr_grpc_worker *worker);

/* Has the worker's thread run the slot's WR_GRPC_WOKEN. From any thread. */
void wr_grpc_worker_wake(struct wr_grpc_worker *worker, struct wr_grpc_slot *slot);

/* Waits until the queue is empty for good; of a thread that did not start, empties it itself. */
void wr_grpc_worker_join(struct wr_grpc_worker *worker);

/* Of one that never posted, or was joined. */
void wr_grpc_worker_close(struct wr_grpc_worker *worker);

/* One slot more is posted or in use. */
void wr_grpc_worker_hold(struct wr_grpc_worker *worker);

/* One slot less is, or a notice has come. */
void wr_grpc_worker_give_up(struct wr_grpc_worker *worker);

void wr_grpc_worker_count_use(struct wr_grpc_worker *worker, bool is_taken);

/* Counts what the arena of `slot` holds now. */
void wr_grpc_worker_count_arena(struct wr_grpc_worker *worker, struct wr_grpc_slot *slot);

#endif
