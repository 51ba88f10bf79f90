/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/lane.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/assert.h"
#include "rpc/grpc/slot.h"
#include "rpc/grpc/worker.h"

/* Enough for what arrives in one turn of the worker. */
#define POSTED 32
/* Answers that callers have not read; far more than wait for a connection that is read. */
#define MAX_UNREAD 4096

static size_t wish(const struct wr_grpc_lane *lane)
{
    return lane->max_slots < POSTED ? lane->max_slots : POSTED;
}

static void push_idle(struct wr_grpc_lane *lane, struct wr_grpc_slot *slot)
{
    slot->next_idle = lane->idle;
    lane->idle = slot;
}

static bool make_slot(struct wr_grpc_lane *lane)
{
    if (lane->n_slots >= lane->max_slots + MAX_UNREAD) {
        return false;
    }

    struct wr_grpc_slot *const slot = malloc(sizeof *slot);

    if (slot == NULL) {
        return false;
    }
    wr_grpc_slot_init(slot, lane);
    slot->next_made = lane->made;
    lane->made = slot;
    lane->n_slots++;
    push_idle(lane, slot);
    return true;
}

enum wr_err wr_grpc_lane_open(struct wr_grpc_lane *lane)
{
    while (lane->n_slots < wish(lane)) {
        if (!make_slot(lane)) {
            return WR_ERR_NO_MEMORY;
        }
    }
    return WR_OK;
}

void wr_grpc_lane_close(struct wr_grpc_lane *lane)
{
    while (lane->made != NULL) {
        struct wr_grpc_slot *const slot = lane->made;

        lane->made = slot->next_made;
        wr_grpc_slot_fini(slot);
        free(slot);
    }
}

static bool may_post(const struct wr_grpc_lane *lane)
{
    return lane->n_posted < wish(lane) && lane->n_posted + lane->n_open < lane->max_slots;
}

static void post(struct wr_grpc_lane *lane, struct wr_grpc_slot *slot)
{
    lane->n_posted++;
    wr_grpc_slot_post(slot);
}

void wr_grpc_lane_fill(struct wr_grpc_lane *lane)
{
    while (may_post(lane) && (lane->idle != NULL || make_slot(lane))) {
        struct wr_grpc_slot *const slot = lane->idle;

        lane->idle = slot->next_idle;
        wr_grpc_worker_hold(lane->worker);
        post(lane, slot);
    }
}

void wr_grpc_lane_take(struct wr_grpc_lane *lane)
{
    WR_ASSERT(lane->n_posted > 0);
    lane->n_posted--;
    lane->n_open++;
}

static void unlist(struct wr_grpc_lane *lane, struct wr_grpc_slot *slot)
{
    if (slot->prev_unread == NULL) {
        lane->unread_first = slot->next_unread;
    } else {
        slot->prev_unread->next_unread = slot->next_unread;
    }
    if (slot->next_unread == NULL) {
        lane->unread_last = slot->prev_unread;
    } else {
        slot->next_unread->prev_unread = slot->prev_unread;
    }
    slot->is_unread = false;
    lane->n_unread--;
}

static void list(struct wr_grpc_lane *lane, struct wr_grpc_slot *slot)
{
    slot->prev_unread = lane->unread_last;
    slot->next_unread = NULL;
    if (lane->unread_last == NULL) {
        lane->unread_first = slot;
    } else {
        lane->unread_last->next_unread = slot;
    }
    lane->unread_last = slot;
    slot->is_unread = true;
    lane->n_unread++;
}

void wr_grpc_lane_answer(struct wr_grpc_lane *lane, struct wr_grpc_slot *slot)
{
    list(lane, slot);
    slot->is_answered = true;
    WR_ASSERT(lane->n_open > 0);
    lane->n_open--;
    if (lane->n_unread > MAX_UNREAD) {
        struct wr_grpc_slot *const oldest = lane->unread_first;

        unlist(lane, oldest);
        wr_metrics_add(lane->worker->metrics, WR_METRIC_CALLS_UNREAD, 1);
        WR_ASSERT(grpc_call_cancel(oldest->call, NULL) == GRPC_CALL_OK);
    }
    wr_grpc_lane_fill(lane);
}

void wr_grpc_lane_put(struct wr_grpc_lane *lane, struct wr_grpc_slot *slot)
{
    if (slot->is_unread) {
        unlist(lane, slot);
    }
    if (!slot->is_answered) {
        WR_ASSERT(lane->n_open > 0);
        lane->n_open--;
    }
    slot->is_answered = false;
    if (may_post(lane)) {
        post(lane, slot);
    } else {
        push_idle(lane, slot);
        wr_grpc_worker_give_up(lane->worker);
    }
}

void wr_grpc_lane_drain(struct wr_grpc_lane *lane)
{
    static const struct wr_str stopping = WR_STR("the server is shutting down");

    if (lane->method->kind != WR_METHOD_STREAM) {
        return;
    }
    for (struct wr_grpc_slot *slot = lane->made; slot != NULL; slot = slot->next_made) {
        if (slot->state == WR_GRPC_OPEN && slot->n_awaits == 0) {
            slot->base.ops->finish(&slot->base, WR_STATUS_UNAVAILABLE, stopping,
                                   (struct wr_str){0});
        }
    }
}
