/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/call.h"

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>
#include <grpc/support/alloc.h>

#include "base/assert.h"
#include "rpc/grpc/lane.h"
#include "rpc/grpc/payload.h"
#include "rpc/grpc/peer.h"
#include "rpc/grpc/worker.h"

static struct wr_grpc_slot *slot_of(struct wr_call *call)
{
    return (struct wr_grpc_slot *) call;
}

static void start_batch(struct wr_grpc_slot *slot, const grpc_op *ops, size_t n,
                        enum wr_grpc_event event)
{
    slot->n_batches++;
    WR_ASSERT(grpc_call_start_batch(slot->call, ops, n, &slot->tags[event], NULL) == GRPC_CALL_OK);
}

static grpc_op close_op(struct wr_grpc_slot *slot)
{
    return (grpc_op){.op = GRPC_OP_RECV_CLOSE_ON_SERVER,
                     .data.recv_close_on_server.cancelled = &slot->core_cancelled};
}

void wr_grpc_call_watch(struct wr_grpc_slot *slot)
{
    const grpc_op op = close_op(slot);

    slot->is_close_apart = true;
    start_batch(slot, &op, 1, WR_GRPC_CLOSED);
}

/* Adds the initial metadata to a batch unless they are out already. */
static size_t add_begin(struct wr_grpc_slot *slot, grpc_op *ops)
{
    if (slot->is_begun) {
        return 0;
    }
    slot->is_begun = true;
    ops[0] = (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA};
    return 1;
}

static grpc_op message_op(struct wr_grpc_slot *slot)
{
    return (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = slot->out};
}

/* The last batch: the reply that is in `out` if any, the status, and the close unless a batch of
 * its own waits for that. */
static void send_end(struct wr_grpc_slot *slot)
{
    grpc_op ops[4] = {0};
    size_t n = add_begin(slot, ops);

    if (slot->out != NULL) {
        ops[n++] = message_op(slot);
    }
    ops[n++] = (grpc_op){.op = GRPC_OP_SEND_STATUS_FROM_SERVER,
                         .data.send_status_from_server = {
                             .trailing_metadata_count = slot->n_status_details,
                             .trailing_metadata = &slot->status_details,
                             .status = slot->status,
                             .status_details = &slot->status_text,
                         }};
    if (!slot->is_close_apart) {
        ops[n++] = close_op(slot);
    }
    start_batch(slot, ops, n, WR_GRPC_ENDED);
}

void wr_grpc_call_read(struct wr_grpc_slot *slot)
{
    const grpc_op op = {.op = GRPC_OP_RECV_MESSAGE,
                        .data.recv_message.recv_message = &slot->request};

    slot->is_reading = true;
    start_batch(slot, &op, 1, WR_GRPC_MESSAGE);
}

void wr_grpc_call_pump(struct wr_grpc_slot *slot)
{
    if (slot->is_sending) {
        return;
    }
    slot->out = wr_grpc_outbox_get(&slot->outbox);
    if (slot->out != NULL) {
        grpc_op ops[2] = {0};
        size_t n = add_begin(slot, ops);

        ops[n++] = message_op(slot);
        slot->is_sending = true;
        start_batch(slot, ops, n, WR_GRPC_SENT);
    } else if (slot->state == WR_GRPC_ENDING) {
        slot->is_sending = true;
        send_end(slot);
    } else if (!slot->is_reading && !slot->is_half_closed) {
        wr_grpc_call_read(slot);
    }
}

static void begin_ending(struct wr_grpc_slot *slot)
{
    slot->state = WR_GRPC_ENDING;
    wr_grpc_lane_answer(slot->lane, slot);
}

static void reply(struct wr_call *call, struct wr_str message)
{
    struct wr_grpc_slot *const slot = slot_of(call);

    if (slot->state == WR_GRPC_OVER) {
        return;
    }
    WR_ASSERT(slot->state == WR_GRPC_OPEN && !wr_grpc_slot_is_stream(slot));
    begin_ending(slot);
    slot->out = wr_grpc_payload_new(message);
    send_end(slot);
}

static void set_status(struct wr_grpc_slot *slot, enum wr_status status, struct wr_str message,
                       struct wr_str details)
{
    slot->status = (grpc_status_code) status;
    slot->status_text = grpc_slice_from_copied_buffer(message.ptr, message.len);
    if (details.len > 0) {
        slot->status_details.key = grpc_slice_from_static_string("grpc-status-details-bin");
        slot->status_details.value = grpc_slice_from_copied_buffer(details.ptr, details.len);
        slot->n_status_details = 1;
    }
}

static void finish(struct wr_call *call, enum wr_status status, struct wr_str message,
                   struct wr_str details)
{
    struct wr_grpc_slot *const slot = slot_of(call);

    if (slot->state != WR_GRPC_OPEN) {
        return;
    }
    begin_ending(slot);
    set_status(slot, status, message, details);
    if (wr_grpc_slot_is_stream(slot)) {
        wr_grpc_call_pump(slot);
    } else {
        send_end(slot);
    }
}

static void send_message(struct wr_call *call, struct wr_str message)
{
    struct wr_grpc_slot *const slot = slot_of(call);

    if (slot->state != WR_GRPC_OPEN) {
        return;
    }
    WR_ASSERT(wr_grpc_slot_is_stream(slot));

    grpc_byte_buffer *buffer = wr_grpc_payload_new(message);

    if (wr_grpc_outbox_put(&slot->outbox, &buffer)) {
        wr_grpc_call_pump(slot);
    } else {
        grpc_byte_buffer_destroy(buffer);
        finish(call, WR_STATUS_RESOURCE_EXHAUSTED,
               (struct wr_str) WR_STR("the caller does not read what it asked for"),
               (struct wr_str){0});
    }
}

static void await(struct wr_call *call)
{
    struct wr_grpc_slot *const slot = slot_of(call);

    WR_ASSERT(slot->n_awaits == 0); /* the worker's list has room for one wake of a slot */
    slot->n_awaits++;
    if (slot->state == WR_GRPC_OPEN && !slot->is_close_apart) {
        wr_grpc_call_watch(slot);
    }
}

static void wake(struct wr_call *call)
{
    struct wr_grpc_slot *const slot = slot_of(call);

    wr_grpc_worker_wake(slot->lane->worker, slot);
}

static struct wr_str peer(struct wr_call *call)
{
    char *const name = grpc_call_get_peer(slot_of(call)->call);
    char text[WR_ADDRESS_TEXT_SIZE];
    struct wr_str copy = {0};

    wr_grpc_peer_format(name, text);
    gpr_free(name);
    return wr_arena_copy(call->arena, wr_str_of(text), &copy) ? copy : (struct wr_str){0};
}

const struct wr_call_ops wr_grpc_call_ops = {
    .reply = reply,
    .send = send_message,
    .finish = finish,
    .await = await,
    .wake = wake,
    .peer = peer,
};
