/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of a stream that wait for the one before to be sent, in order.
 *
 * Invariant: at most WR_GRPC_OUTBOX_MAX messages.
 * Threads: the worker's thread only.
 */
#ifndef WR_RPC_GRPC_OUTBOX_H
#define WR_RPC_GRPC_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#include <grpc/grpc.h>

#define WR_GRPC_OUTBOX_MAX 64

struct wr_grpc_outgoing;

/* All zero: empty. */
struct wr_grpc_outbox {
    struct wr_grpc_outgoing *first, *last; /* owned */
    size_t n;
};

/* Takes `*buffer` over and nulls it; false, and nothing is taken, when full or out of memory. */
bool wr_grpc_outbox_put(struct wr_grpc_outbox *outbox, grpc_byte_buffer **buffer);

/* The oldest message, which the caller then owns; NULL when there is none. */
grpc_byte_buffer *wr_grpc_outbox_get(struct wr_grpc_outbox *outbox);

void wr_grpc_outbox_clear(struct wr_grpc_outbox *outbox);

#endif
