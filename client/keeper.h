/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stub's thread. C core makes progress only in threads that wait for events. A call waits for its
 * own deadline at the longest, and after a refusal not at all, so calls alone would leave a new
 * connection half made, and an idle client would let a server that stops wait for it (C core looks
 * after such every 5 s). The keeper watches the channel's state instead, and ends the calls that
 * nobody waits for, which come out of the same queue.
 *
 * Threads: start, stop and fini by the owner, the rest by any.
 */
#ifndef WEIR_KEEPER_H
#define WEIR_KEEPER_H

#include "exchange.h"

#include <pthread.h>
#include <stdatomic.h>

struct weir_started;

struct weir_keeper {
    const struct weir_route *route; /* borrowed */
    grpc_completion_queue *queue;   /* owned */
    pthread_t thread;
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* something has changed */
    atomic_bool is_used; /* there was a call; set under mutex, and never unset */
    /* the thread's alone */
    bool is_watching;  /* an event of the watch is to come */
    bool is_connected; /* when the watch began */
    /* under mutex */
    bool is_ending;
    size_t started_count;
    struct weir_started *started; /* the last one first */
};

/* False when out of memory or threads; there is nothing to undo then. */
WEIR_MUST_USE bool weir_keeper_start(struct weir_keeper *keeper, const struct weir_route *route);

/* Ends the calls that were taken, with WEIR_ERR_CANCELLED, and comes back when on_done was called
 * for each. No other call may be under way. The channel must still be there. From an on_done it
 * aborts: the thread cannot wait for its own end. */
void weir_keeper_stop(struct weir_keeper *keeper);

/* After stop and after the end of the channel, which ends the watch. */
void weir_keeper_fini(struct weir_keeper *keeper);

/* Before a call that waits by itself: the keeper has work from the first on. */
void weir_keeper_use(struct weir_keeper *keeper);

/* Spares it the rest of its tick, when the connection is lost. */
void weir_keeper_wake(struct weir_keeper *keeper);

/* As weir_stub_start. */
WEIR_MUST_USE enum weir_err weir_keeper_take(struct weir_keeper *keeper,
                                             const struct weir_call *call, weir_done_fn on_done,
                                             size_t in_flight_max, struct weir_error *error);

#endif
