/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/slot.h"

#include <grpc/byte_buffer.h>
#include <grpc/slice.h>

#include "base/assert.h"
#include "rpc/grpc/call.h"
#include "rpc/grpc/grpc_time.h"
#include "rpc/grpc/lane.h"
#include "rpc/grpc/payload.h"
#include "rpc/grpc/unpack.h"
#include "rpc/grpc/worker.h"

/* A request with more headers than this gives their memory back. */
#define KEPT_METADATA 64

void wr_grpc_slot_init(struct wr_grpc_slot *slot, struct wr_grpc_lane *lane)
{
    *slot = (struct wr_grpc_slot){
        .base = {.ops = &wr_grpc_call_ops,
                 .arena = &slot->arena,
                 .metrics = lane->worker->metrics,
                 .worker = lane->worker->index},
        .lane = lane,
    };
    wr_arena_init(&slot->arena, lane->arena_size);
    grpc_metadata_array_init(&slot->request_metadata);
    grpc_call_details_init(&slot->details);
    slot->status_text = grpc_empty_slice();
    for (size_t i = 0; i < WR_GRPC_EVENTS; i++) {
        slot->tags[i] = (struct wr_grpc_tag){.slot = slot, .event = (enum wr_grpc_event) i};
    }
}

void wr_grpc_slot_fini(struct wr_grpc_slot *slot)
{
    wr_arena_fini(&slot->arena);
    grpc_metadata_array_destroy(&slot->request_metadata);
    grpc_call_details_destroy(&slot->details);
}

bool wr_grpc_slot_is_stream(const struct wr_grpc_slot *slot)
{
    return slot->lane->method->kind == WR_METHOD_STREAM;
}

void wr_grpc_slot_post(struct wr_grpc_slot *slot)
{
    struct wr_grpc_lane *const lane = slot->lane;
    grpc_completion_queue *const queue = lane->worker->queue;
    void *const tag = &slot->tags[WR_GRPC_ARRIVED];
    grpc_call_error error = GRPC_CALL_OK;

    if (lane->registered == NULL) {
        error = grpc_server_request_call(lane->worker->core, &slot->call, &slot->details,
                                         &slot->request_metadata, queue, queue, tag);
    } else {
        error = grpc_server_request_registered_call(
            lane->worker->core, lane->registered, &slot->call, &slot->core_deadline,
            &slot->request_metadata, wr_grpc_slot_is_stream(slot) ? NULL : &slot->request, queue,
            queue, tag);
    }
    WR_ASSERT(error == GRPC_CALL_OK);
}

static void destroy_buffer(grpc_byte_buffer **buffer)
{
    if (*buffer != NULL) {
        grpc_byte_buffer_destroy(*buffer);
        *buffer = NULL;
    }
}

/* A first chunk that was made for a giant is given back too. */
static void reset_arena(struct wr_arena *arena)
{
    wr_arena_reset(arena);
    if (arena->total_size > arena->first_size) {
        wr_arena_fini(arena);
    }
}

/* Frees what the call held, and forgets it. */
static void clear(struct wr_grpc_slot *slot)
{
    destroy_buffer(&slot->request);
    destroy_buffer(&slot->out);
    wr_grpc_outbox_clear(&slot->outbox);
    grpc_slice_unref(slot->status_text);
    slot->status_text = grpc_empty_slice();
    slot->status = GRPC_STATUS_OK;
    if (slot->n_status_details > 0) {
        grpc_slice_unref(slot->status_details.value);
        slot->n_status_details = 0;
    }
    slot->request_metadata.count = 0;
    if (slot->request_metadata.capacity > KEPT_METADATA) {
        grpc_metadata_array_destroy(&slot->request_metadata);
        grpc_metadata_array_init(&slot->request_metadata);
    }
    if (slot->lane->registered == NULL) {
        grpc_call_details_destroy(&slot->details);
        grpc_call_details_init(&slot->details);
    }
    grpc_call_unref(slot->call);
    slot->call = NULL;
    slot->base.state = NULL;
    slot->is_close_apart = slot->is_close_seen = slot->is_cancelled = slot->is_ended = false;
    slot->had_message = slot->is_half_closed = slot->is_reading = slot->is_sending = false;
    slot->is_begun = false;
    reset_arena(&slot->arena);
}

static void recycle(struct wr_grpc_slot *slot)
{
    struct wr_grpc_worker *const worker = slot->lane->worker;

    clear(slot);
    slot->state = WR_GRPC_POSTED;
    wr_grpc_worker_count_arena(worker, slot);
    wr_grpc_worker_count_use(worker, false);
    wr_grpc_lane_put(slot->lane, slot);
}

/* Ends a call whose message cannot be unpacked; its method does not hear of it. */
static void refuse_message(struct wr_grpc_slot *slot, enum wr_err err)
{
    static const struct {
        enum wr_err err;
        enum wr_metric metric;
        enum wr_status status;
        struct wr_str text;
    } rows[] = {
        {WR_ERR_MALFORMED, WR_METRIC_CALLS_INVALID, WR_STATUS_INVALID_ARGUMENT,
         WR_STR("the message is not compressed as it says")},
        {WR_ERR_TOO_LARGE, WR_METRIC_CALLS_TOO_LARGE, WR_STATUS_RESOURCE_EXHAUSTED,
         WR_STR("the message unpacks to more than the limit")},
        {WR_ERR_NO_MEMORY, WR_METRIC_CALLS_NO_MEMORY, WR_STATUS_RESOURCE_EXHAUSTED,
         WR_STR("out of memory")},
    };
    size_t i = 0;

    while (rows[i].err != err) {
        i++;
        WR_ASSERT(i < sizeof rows / sizeof rows[0]);
    }
    wr_metrics_add(slot->base.metrics, rows[i].metric, 1);
    slot->base.ops->finish(&slot->base, rows[i].status, rows[i].text, (struct wr_str){0});
}

static void deliver(struct wr_grpc_slot *slot)
{
    const struct wr_method *const method = slot->lane->method;
    const enum wr_err err = wr_grpc_unpack(&slot->request, slot->lane->worker->max_message_bytes);

    if (err != WR_OK) {
        refuse_message(slot, err);
        return;
    }
    slot->had_message = true;
    method->on_message(method->context, &slot->base, wr_grpc_payload_bytes(&slot->request));
}

/* A unary method answers or awaits before it returns, or its call would never end. */
static void check_unary(const struct wr_grpc_slot *slot)
{
    WR_ASSERT(slot->state != WR_GRPC_OPEN || slot->n_awaits > 0 || wr_grpc_slot_is_stream(slot));
}

static void begin(struct wr_grpc_slot *slot)
{
    slot->state = WR_GRPC_OPEN;
    slot->base.deadline_mono_us = wr_grpc_time_mono_us(
        slot->lane->registered == NULL ? slot->details.deadline : slot->core_deadline);
    wr_grpc_worker_count_use(slot->lane->worker, true);
    if (wr_grpc_slot_is_stream(slot)) {
        wr_grpc_call_watch(slot);
        wr_grpc_call_read(slot);
    } else {
        deliver(slot);
        check_unary(slot);
    }
}

/* A caller who leaves is seen here as a half-close first: C core does not tell them apart. */
static void take_message(struct wr_grpc_slot *slot)
{
    slot->is_reading = false;
    if (slot->state == WR_GRPC_OPEN) {
        slot->is_half_closed = slot->request == NULL;
        deliver(slot);
    }
    destroy_buffer(&slot->request);
    if (slot->state == WR_GRPC_OPEN) {
        wr_grpc_call_pump(slot);
    }
}

static void take_sent(struct wr_grpc_slot *slot)
{
    slot->is_sending = false;
    destroy_buffer(&slot->out);
    if (slot->state != WR_GRPC_OVER) {
        wr_grpc_call_pump(slot);
    }
}

/* The close came with this batch, or comes in one of its own. */
static void take_end(struct wr_grpc_slot *slot, bool is_ok)
{
    slot->is_ended = true;
    if (!slot->is_close_apart) {
        slot->is_close_seen = true;
        slot->is_cancelled = slot->core_cancelled != 0 || !is_ok;
    }
}

static void take_wake(struct wr_grpc_slot *slot)
{
    const struct wr_method *const method = slot->lane->method;

    WR_ASSERT(slot->n_awaits > 0 && method->on_wake != NULL);
    slot->n_awaits--;
    method->on_wake(method->context, &slot->base);
    check_unary(slot);
}

/* Runs on_close once the call is over: at once when the caller left, else after the answer. */
static void settle(struct wr_grpc_slot *slot)
{
    const struct wr_method *const method = slot->lane->method;
    const bool is_gone = slot->is_close_seen && (slot->is_cancelled || slot->is_ended);

    if (is_gone && slot->state != WR_GRPC_OVER) {
        slot->state = WR_GRPC_OVER;
        if (slot->had_message && method->on_close != NULL) {
            method->on_close(method->context, &slot->base, slot->is_cancelled);
        }
    }
    if (slot->state == WR_GRPC_OVER && slot->n_batches == 0 && slot->n_awaits == 0) {
        recycle(slot);
    }
}

/*
 *                   ┌──────── message, sent, woken ────────┐
 *                   ▼                                      │
 *   POSTED ─ arrived ─► OPEN ──────────────────────────────┤
 *     ▲  │               │ reply, finish                   │ closed: cancelled
 *     │  │ the server    ▼                                 ▼
 *     │  │ stops       ENDING ─ ended, closed ──────────► OVER: on_close has run
 *     │  ▼                                                 │
 *     │ given up                                           │ no batch out, no await left
 *     └────────────────────────────────────────────────────┘
 *
 * In OVER what still comes out is only counted, but for a wake, which its method learns of.
 */
void wr_grpc_slot_run(struct wr_grpc_slot *slot, enum wr_grpc_event event, bool is_ok)
{
    if (event != WR_GRPC_ARRIVED && event != WR_GRPC_WOKEN) {
        slot->n_batches--;
    }
    switch (event) {
    case WR_GRPC_ARRIVED:
        wr_grpc_lane_take(slot->lane);
        if (!is_ok) {
            wr_grpc_lane_drain(slot->lane);
            wr_grpc_worker_give_up(slot->lane->worker);
            return;
        }
        wr_grpc_lane_fill(slot->lane);
        begin(slot);
        break;
    case WR_GRPC_MESSAGE:
        take_message(slot);
        break;
    case WR_GRPC_SENT:
        take_sent(slot);
        break;
    case WR_GRPC_ENDED:
        take_end(slot, is_ok);
        break;
    case WR_GRPC_CLOSED:
        slot->is_close_seen = true;
        slot->is_cancelled = slot->core_cancelled != 0;
        break;
    case WR_GRPC_WOKEN:
        take_wake(slot);
        break;
    case WR_GRPC_EVENTS:
        break;
    }
    settle(slot);
}
