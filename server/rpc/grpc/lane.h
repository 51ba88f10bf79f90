/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All slots that a worker has for one method. A few are posted, so that the same warm ones are used
 * again and again; more are made as calls stay, up to a bound, beyond which callers wait. A call
 * that is answered does not count any more, for its caller may take for ever to read; when too many
 * answers are unread the oldest is given up, so that they cost bounded memory.
 *
 * Invariant: while fewer calls are open than may be, some slots are posted.
 * Threads: the worker's thread, or its owner's before that starts and after it was joined.
 */
#ifndef WR_RPC_GRPC_LANE_H
#define WR_RPC_GRPC_LANE_H

#include <stddef.h>

#include "base/err.h"
#include "rpc/method.h"

struct wr_grpc_slot;
struct wr_grpc_worker;

struct wr_grpc_lane {
    const struct wr_method *method; /* borrowed */
    void *registered;               /* C core's name of it; NULL: whatever is not registered */
    struct wr_grpc_worker *worker;  /* borrowed */
    size_t arena_size;
    size_t max_slots;          /* posted or open */
    size_t n_slots;            /* made so far */
    size_t n_posted;           /* of them */
    size_t n_open;             /* with a call that is not answered */
    size_t n_unread;           /* in the list of that name */
    struct wr_grpc_slot *made; /* owned; all of them */
    struct wr_grpc_slot *idle; /* neither posted nor in use; the last used first */
    struct wr_grpc_slot *unread_first, *unread_last; /* answered, the oldest first */
};

/* Makes the slots that are posted at first; the fields above the counts are filled in.
 * WR_ERR_NO_MEMORY, then close is still to be called. */
WR_MUST_USE enum wr_err wr_grpc_lane_open(struct wr_grpc_lane *lane);

/* No slot may be in use. */
void wr_grpc_lane_close(struct wr_grpc_lane *lane);

/* Posts as many as should be, if there are. */
void wr_grpc_lane_fill(struct wr_grpc_lane *lane);

/* A slot of the lane is no longer posted. */
void wr_grpc_lane_take(struct wr_grpc_lane *lane);

/* The call of `slot` is being answered, once. */
void wr_grpc_lane_answer(struct wr_grpc_lane *lane, struct wr_grpc_slot *slot);

/* The server stops: ends the streams that wait for their callers alone, who might never come. */
void wr_grpc_lane_drain(struct wr_grpc_lane *lane);

/* A slot of the lane is no longer in use: posts it or keeps it. */
void wr_grpc_lane_put(struct wr_grpc_lane *lane, struct wr_grpc_slot *slot);

#endif
