/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One call of a server's method over gRPC C core, from its request to an error code: what the stub
 * waits for itself, and what it leaves to its keeper. An attempt that failed can be followed by
 * another within the same deadline.
 *
 * Threads: one at a time; whoever hands an exchange over orders that by a lock.
 */
#ifndef WEIR_EXCHANGE_H
#define WEIR_EXCHANGE_H

#include "stub.h"

#include <grpc/grpc.h>

/* Where exchanges go to; outlives them. */
struct weir_route {
    grpc_channel *channel;
    void *const *methods; /* by enum weir_method, registered with the channel */
    const char *target;
    const char *channel_target; /* the same, as the channel was told */
};

struct weir_exchange {
    const struct weir_route *route; /* borrowed */
    struct weir_call call;          /* its bytes are not used after init */
    gpr_timespec deadline;
    grpc_call *rpc; /* the attempt's; NULL before the first */
    grpc_byte_buffer *request;
    grpc_byte_buffer *reply;
    grpc_metadata_array initial;
    grpc_metadata_array trailing;
    grpc_status_code status;
    grpc_slice status_text;
    unsigned int attempts;
    bool was_connected;       /* there was a connection when the attempt began */
    bool is_connected;        /* and when it failed */
    struct weir_error unsent; /* why the first attempt was not sent; set with attempts > 1 */
};

/* Copies the request: after a deadline C core may still hold it when the caller has gone on. */
void weir_exchange_init(struct weir_exchange *exchange, const struct weir_route *route,
                        const struct weir_call *call);

void weir_exchange_fini(struct weir_exchange *exchange);

/* Makes the next attempt, whose events come out of `queue`. */
void weir_exchange_open(struct weir_exchange *exchange, grpc_completion_queue *queue);

/* All operations of a unary call. */
struct weir_batch {
    grpc_call *rpc;
    grpc_op ops[6];
};

void weir_exchange_batch(struct weir_exchange *exchange, struct weir_batch *out_batch);

/* Starts it, which is one event with `tag`; false: there will be none. The exchange belongs to
 * whoever takes that event, possibly before this returns. */
WEIR_MUST_USE bool weir_batch_start(const struct weir_batch *batch, void *tag);

/* Both at once. */
WEIR_MUST_USE bool weir_exchange_start_unary(struct weir_exchange *exchange, void *tag);

/* Starts the sending part of a call whose replies are a stream. */
WEIR_MUST_USE bool weir_exchange_start_stream(struct weir_exchange *exchange, void *tag);

/* Asks for the next reply of a stream; after the event `reply` has it, or is NULL at the end. */
WEIR_MUST_USE bool weir_exchange_start_reply(struct weir_exchange *exchange, void *tag);

/* Asks for the status that ends a stream. */
WEIR_MUST_USE bool weir_exchange_start_status(struct weir_exchange *exchange, void *tag);

/* Hands `reply` over in one piece and frees it; false when there is none or it makes no sense. */
WEIR_MUST_USE bool weir_exchange_deliver(struct weir_exchange *exchange);

/* What the attempt came to by its status; WEIR_OK is a status of OK. */
enum weir_err weir_exchange_explain(struct weir_exchange *exchange, struct weir_error *error);

/* WEIR_ERR_PROTOCOL, for a reply that makes no sense. */
enum weir_err weir_exchange_garbage(const struct weir_exchange *exchange, struct weir_error *error);

/* What a unary attempt came to: the reply is delivered, or `error` says why there is none. */
enum weir_err weir_exchange_finish(struct weir_exchange *exchange, struct weir_error *error);

/* May the call be tried once more after `err`, by what its caller allows. */
bool weir_exchange_is_retriable(const struct weir_exchange *exchange, enum weir_err err);

#endif
