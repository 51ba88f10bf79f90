/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/grpc_client.h"

#include <stdint.h>
#include <stdlib.h>

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>

#include "base/assert.h"
#include "rpc/grpc/payload.h"

#define PATIENCE_S 60

static gpr_timespec after_s(int64_t seconds)
{
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_seconds(seconds, GPR_TIMESPAN));
}

void wr_grpc_client_open(struct wr_grpc_client *client, const char *target)
{
    static char pool[] = GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL;
    static char receive[] = GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH;
    grpc_arg args[] = {
        {.type = GRPC_ARG_INTEGER, .key = pool, .value.integer = 1},
        {.type = GRPC_ARG_INTEGER, .key = receive, .value.integer = -1},
    };
    const grpc_channel_args all = {.num_args = sizeof args / sizeof args[0], .args = args};

    grpc_init();

    grpc_channel_credentials *const insecure = grpc_insecure_credentials_create();

    client->channel = grpc_channel_create(target, insecure, &all);
    client->queue = grpc_completion_queue_create_for_next(NULL);
    grpc_channel_credentials_release(insecure);
}

void wr_grpc_client_close(struct wr_grpc_client *client)
{
    grpc_channel_destroy(client->channel);
    grpc_completion_queue_shutdown(client->queue);
    WR_ASSERT(grpc_completion_queue_next(client->queue, after_s(PATIENCE_S), NULL).type ==
              GRPC_QUEUE_SHUTDOWN);
    grpc_completion_queue_destroy(client->queue);
    grpc_shutdown();
}

/* Takes one event; false when none came in time. */
static bool turn(struct wr_grpc_client *client, gpr_timespec until)
{
    const grpc_event event = grpc_completion_queue_next(client->queue, until, NULL);

    if (event.type != GRPC_OP_COMPLETE) {
        return false;
    }

    struct wr_grpc_client_op *const op = event.tag;

    op->is_done = true;
    op->is_ok = event.success != 0;
    return true;
}

static void wait_for(struct wr_grpc_client *client, const struct wr_grpc_client_op *op)
{
    const gpr_timespec until = after_s(PATIENCE_S);

    while (!op->is_done) {
        WR_ASSERT(turn(client, until));
    }
}

static void start(struct wr_grpc_client_call *call, const grpc_op *ops, size_t n,
                  struct wr_grpc_client_op *op)
{
    *op = (struct wr_grpc_client_op){0};
    WR_ASSERT(grpc_call_start_batch(call->call, ops, n, op, NULL) == GRPC_CALL_OK);
}

struct wr_grpc_client_call *wr_grpc_client_call_new_with(struct wr_grpc_client *client,
                                                         const char *path, int timeout_ms,
                                                         const grpc_metadata *extra)
{
    grpc_metadata header = {0};
    struct wr_grpc_client_call *const call = calloc(1, sizeof *call);
    const gpr_timespec deadline =
        timeout_ms == WR_GRPC_CLIENT_FOREVER
            ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
            : gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                           gpr_time_from_millis(timeout_ms, GPR_TIMESPAN));

    WR_ASSERT(call != NULL);
    if (extra != NULL) {
        header = *extra;
    }
    call->client = client;
    grpc_metadata_array_init(&call->initial);
    grpc_metadata_array_init(&call->trailing);
    call->text = grpc_empty_slice();
    call->call =
        grpc_channel_create_call(client->channel, NULL, GRPC_PROPAGATE_DEFAULTS, client->queue,
                                 grpc_slice_from_copied_string(path), NULL, deadline, NULL);

    const grpc_op begin[] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA,
         .data.send_initial_metadata = {.count = extra != NULL ? 1 : 0, .metadata = &header}},
        {.op = GRPC_OP_RECV_INITIAL_METADATA,
         .data.recv_initial_metadata.recv_initial_metadata = &call->initial},
    };
    const grpc_op end = {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                         .data.recv_status_on_client = {
                             .trailing_metadata = &call->trailing,
                             .status = &call->status,
                             .status_details = &call->text,
                         }};

    start(call, begin, 2, &call->begun);
    start(call, &end, 1, &call->ended);
    return call;
}

struct wr_grpc_client_call *wr_grpc_client_call_new(struct wr_grpc_client *client, const char *path,
                                                    int timeout_ms)
{
    return wr_grpc_client_call_new_with(client, path, timeout_ms, NULL);
}

static bool send_buffer(struct wr_grpc_client_call *call, grpc_byte_buffer *buffer)
{
    const grpc_op op = {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = buffer};

    start(call, &op, 1, &call->sent);
    wait_for(call->client, &call->sent);
    grpc_byte_buffer_destroy(buffer);
    return call->sent.is_ok;
}

bool wr_grpc_client_call_send(struct wr_grpc_client_call *call, struct wr_str message)
{
    return send_buffer(call, wr_grpc_payload_new(message));
}

void wr_grpc_client_call_half_close(struct wr_grpc_client_call *call)
{
    const grpc_op op = {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};

    start(call, &op, 1, &call->closed);
    wait_for(call->client, &call->closed);
}

bool wr_grpc_client_call_receive(struct wr_grpc_client_call *call, struct wr_str *out_message)
{
    const grpc_op op = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->in};

    if (call->in != NULL) {
        grpc_byte_buffer_destroy(call->in);
        call->in = NULL;
    }
    start(call, &op, 1, &call->received);
    wait_for(call->client, &call->received);
    *out_message = wr_grpc_payload_bytes(&call->in);
    return out_message->ptr != NULL;
}

void wr_grpc_client_call_cancel(struct wr_grpc_client_call *call)
{
    WR_ASSERT(grpc_call_cancel(call->call, NULL) == GRPC_CALL_OK);
}

grpc_status_code wr_grpc_client_call_end(struct wr_grpc_client_call *call)
{
    struct wr_str dropped = {0};

    while (!call->ended.is_done && wr_grpc_client_call_receive(call, &dropped)) {
    }
    wait_for(call->client, &call->ended);
    return call->status;
}

static struct wr_str str_of(const grpc_slice *slice)
{
    return (struct wr_str){.ptr = (const char *) GRPC_SLICE_START_PTR(*slice),
                           .len = GRPC_SLICE_LENGTH(*slice)};
}

struct wr_str wr_grpc_client_call_trailer(const struct wr_grpc_client_call *call, const char *key)
{
    for (size_t i = 0; i < call->trailing.count; i++) {
        if (grpc_slice_str_cmp(call->trailing.metadata[i].key, key) == 0) {
            return str_of(&call->trailing.metadata[i].value);
        }
    }
    return (struct wr_str){0};
}

struct wr_str wr_grpc_client_call_text(const struct wr_grpc_client_call *call)
{
    return str_of(&call->text);
}

void wr_grpc_client_call_free(struct wr_grpc_client_call *call)
{
    if (!call->ended.is_done) {
        wr_grpc_client_call_cancel(call);
        wait_for(call->client, &call->ended);
    }
    wait_for(call->client, &call->begun);
    if (call->in != NULL) {
        grpc_byte_buffer_destroy(call->in);
    }
    grpc_metadata_array_destroy(&call->initial);
    grpc_metadata_array_destroy(&call->trailing);
    grpc_slice_unref(call->text);
    grpc_call_unref(call->call);
    free(call);
}
