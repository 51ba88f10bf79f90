/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange.h"

#include "error.h"
#include "explain.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>

static gpr_timespec deadline_of(const struct weir_call *call)
{
    if (call->deadline_ms == WEIR_NO_DEADLINE) {
        return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    }
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_millis(call->deadline_ms, GPR_TIMESPAN));
}

void weir_exchange_init(struct weir_exchange *exchange, const struct weir_route *route,
                        const struct weir_call *call)
{
    grpc_slice slice = grpc_slice_from_copied_buffer((const char *) call->bytes, call->len);

    exchange->route = route;
    exchange->call = *call;
    exchange->deadline = deadline_of(call);
    exchange->rpc = NULL;
    exchange->request = grpc_raw_byte_buffer_create(&slice, 1);
    exchange->reply = NULL;
    exchange->attempts = 0;
    exchange->was_connected = true;
    exchange->is_connected = true;
    exchange->unsent.code = WEIR_OK;
    grpc_slice_unref(slice);
}

/* ---- An attempt ---- */

static bool is_connected(const struct weir_exchange *exchange)
{
    return grpc_channel_check_connectivity_state(exchange->route->channel, 0) == GRPC_CHANNEL_READY;
}

static void attempt_close(struct weir_exchange *exchange)
{
    if (exchange->rpc == NULL) {
        return;
    }
    grpc_slice_unref(exchange->status_text);
    grpc_metadata_array_destroy(&exchange->trailing);
    grpc_metadata_array_destroy(&exchange->initial);
    grpc_byte_buffer_destroy(exchange->reply);
    grpc_call_unref(exchange->rpc);
    exchange->reply = NULL;
    exchange->rpc = NULL;
}

void weir_exchange_open(struct weir_exchange *exchange, grpc_completion_queue *queue)
{
    const struct weir_route *route = exchange->route;

    attempt_close(exchange);
    exchange->rpc = grpc_channel_create_registered_call(
        route->channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue, route->methods[exchange->call.method],
        exchange->deadline, NULL);
    grpc_metadata_array_init(&exchange->initial);
    grpc_metadata_array_init(&exchange->trailing);
    exchange->status = GRPC_STATUS_UNKNOWN;
    exchange->status_text = grpc_empty_slice();
    exchange->was_connected = is_connected(exchange);
    exchange->attempts++;
}

void weir_exchange_fini(struct weir_exchange *exchange)
{
    if (exchange->call.out_status != NULL) {
        *exchange->call.out_status = (int) exchange->status;
    }
    attempt_close(exchange);
    grpc_byte_buffer_destroy(exchange->request);
}

static void send_ops(struct weir_exchange *exchange, grpc_op ops[4])
{
    /* A retry for want of a connection waits for one; C core paces its own attempts to connect. */
    const uint32_t flags =
        exchange->unsent.code != WEIR_OK ? GRPC_INITIAL_METADATA_WAIT_FOR_READY : 0;

    ops[0] = (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA, .flags = flags};
    ops[1] =
        (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = exchange->request};
    ops[2] = (grpc_op){.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
    ops[3] = (grpc_op){.op = GRPC_OP_RECV_INITIAL_METADATA,
                       .data.recv_initial_metadata.recv_initial_metadata = &exchange->initial};
}

static grpc_op reply_op(struct weir_exchange *exchange)
{
    return (grpc_op){.op = GRPC_OP_RECV_MESSAGE,
                     .data.recv_message.recv_message = &exchange->reply};
}

static grpc_op status_op(struct weir_exchange *exchange)
{
    return (grpc_op){.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                     .data.recv_status_on_client = {.trailing_metadata = &exchange->trailing,
                                                    .status = &exchange->status,
                                                    .status_details = &exchange->status_text}};
}

/* Every batch has an end, since the call's deadline or the server ends it. */
static bool start(struct weir_exchange *exchange, const grpc_op *ops, size_t count, void *tag)
{
    return grpc_call_start_batch(exchange->rpc, ops, count, tag, NULL) == GRPC_CALL_OK;
}

void weir_exchange_batch(struct weir_exchange *exchange, struct weir_batch *out_batch)
{
    out_batch->rpc = exchange->rpc;
    send_ops(exchange, out_batch->ops);
    out_batch->ops[4] = reply_op(exchange);
    out_batch->ops[5] = status_op(exchange);
}

bool weir_batch_start(const struct weir_batch *batch, void *tag)
{
    return grpc_call_start_batch(batch->rpc, batch->ops, sizeof batch->ops / sizeof batch->ops[0],
                                 tag, NULL) == GRPC_CALL_OK;
}

bool weir_exchange_start_unary(struct weir_exchange *exchange, void *tag)
{
    struct weir_batch batch;

    weir_exchange_batch(exchange, &batch);
    return weir_batch_start(&batch, tag);
}

bool weir_exchange_start_stream(struct weir_exchange *exchange, void *tag)
{
    grpc_op ops[4];

    send_ops(exchange, ops);
    return start(exchange, ops, 4, tag);
}

bool weir_exchange_start_reply(struct weir_exchange *exchange, void *tag)
{
    const grpc_op op = reply_op(exchange);

    return start(exchange, &op, 1, tag);
}

bool weir_exchange_start_status(struct weir_exchange *exchange, void *tag)
{
    const grpc_op op = status_op(exchange);

    return start(exchange, &op, 1, tag);
}

/* ---- What it came to ---- */

bool weir_exchange_deliver(struct weir_exchange *exchange)
{
    grpc_byte_buffer_reader reader;
    bool ok = false;

    if (exchange->reply != NULL && grpc_byte_buffer_reader_init(&reader, exchange->reply) != 0) {
        grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);

        ok = exchange->call.on_reply(exchange->call.arg, GRPC_SLICE_START_PTR(slice),
                                     GRPC_SLICE_LENGTH(slice));
        grpc_slice_unref(slice);
        grpc_byte_buffer_reader_destroy(&reader);
    }
    grpc_byte_buffer_destroy(exchange->reply);
    exchange->reply = NULL;
    return ok;
}

/* A call has its channel's target for a peer until the peer has said something. */
static bool has_peer(const struct weir_exchange *exchange)
{
    char *peer = grpc_call_get_peer(exchange->rpc);
    const bool is_known = strcmp(peer, exchange->route->channel_target) != 0;

    gpr_free(peer);
    return is_known;
}

/*
 * Did a connection take the call, as far as can be known; what is not known is a yes. Without a
 * peer the words are C core's own. A call that ran out of time can be on a connection that is about
 * to end and is no longer the channel's, so there must have been none at its beginning either.
 */
static bool was_sent(const struct weir_exchange *exchange, struct weir_str message)
{
    if (has_peer(exchange)) {
        return true;
    }
    if (exchange->status == GRPC_STATUS_DEADLINE_EXCEEDED) {
        return exchange->was_connected || exchange->is_connected;
    }
    return !weir_explain_is_unsent(message);
}

enum weir_err weir_exchange_explain(struct weir_exchange *exchange, struct weir_error *error)
{
    const struct weir_str message = {(const char *) GRPC_SLICE_START_PTR(exchange->status_text),
                                     GRPC_SLICE_LENGTH(exchange->status_text)};

    if (exchange->status == GRPC_STATUS_OK) {
        return WEIR_OK;
    }
    exchange->is_connected = is_connected(exchange);

    const struct weir_failure failure = {
        .status = (int) exchange->status,
        .message = message,
        .target = exchange->route->target,
        .deadline_ms = exchange->call.deadline_ms,
        .was_sent = was_sent(exchange, message),
        .is_connected = exchange->is_connected,
    };

    if (exchange->unsent.code != WEIR_OK && !failure.was_sent &&
        exchange->status == GRPC_STATUS_DEADLINE_EXCEEDED) {
        *error = exchange->unsent;
        return error->code;
    }
    return weir_explain(&failure, error);
}

enum weir_err weir_exchange_garbage(const struct weir_exchange *exchange, struct weir_error *error)
{
    return weir_error_set(error, WEIR_ERR_PROTOCOL,
                          "the reply of %s makes no sense: is it a rate-limit service?",
                          exchange->route->target);
}

enum weir_err weir_exchange_finish(struct weir_exchange *exchange, struct weir_error *error)
{
    enum weir_err err = weir_exchange_explain(exchange, error);

    if (err == WEIR_OK && !weir_exchange_deliver(exchange)) {
        err = weir_exchange_garbage(exchange, error);
    }
    if (err == WEIR_OK) {
        weir_error_clear(error); /* of an attempt before */
    } else if (err == WEIR_ERR_CONNECT && exchange->unsent.code == WEIR_OK) {
        exchange->unsent = *error;
    }
    return err;
}

bool weir_exchange_is_retriable(const struct weir_exchange *exchange, enum weir_err err)
{
    const bool time_is_left = gpr_time_cmp(gpr_now(GPR_CLOCK_MONOTONIC), exchange->deadline) < 0;

    return exchange->attempts < exchange->call.attempts_max && time_is_left &&
           (err == WEIR_ERR_CONNECT ||
            (err == WEIR_ERR_UNAVAILABLE && exchange->call.retries_sent));
}
