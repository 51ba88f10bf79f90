/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a call does outwards: the operations that it offers to its method, and the batches that
 * carry them out. What comes back is the slot's to deal with.
 *
 * Threads: the worker's thread only, but for the wake of a call.
 */
#ifndef WR_RPC_GRPC_CALL_H
#define WR_RPC_GRPC_CALL_H

#include "rpc/grpc/slot.h"
#include "rpc/method.h"

extern const struct wr_call_ops wr_grpc_call_ops;

/* Waits for the close in a batch of its own, so that the caller's leaving is noticed. */
void wr_grpc_call_watch(struct wr_grpc_slot *slot);

/* Asks for the next message of a stream. */
void wr_grpc_call_read(struct wr_grpc_slot *slot);

/* Starts what a stream can do next: send a message, then the status, or read. It reads only when
 * all is sent, so that a caller who does not listen cannot ask on and on. */
void wr_grpc_call_pump(struct wr_grpc_slot *slot);

#endif
