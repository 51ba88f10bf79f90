/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A slot: room for one call at a time of one method. It is posted to C core, carries a call from
 * its arrival to its end, and is posted again.
 *
 * Invariant: a slot has two references, the RPC's (batches that are out) and the store's (awaits
 * not yet woken); call, arena and slot are reused only when both are gone.
 * Threads: the worker's thread only, but for the wake of a call.
 */
#ifndef WR_RPC_GRPC_SLOT_H
#define WR_RPC_GRPC_SLOT_H

#include <stdbool.h>
#include <stddef.h>

#include <grpc/grpc.h>

#include "base/arena.h"
#include "rpc/grpc/outbox.h"
#include "rpc/method.h"

struct wr_grpc_lane;
struct wr_grpc_slot;

/* What comes out of a completion queue for a slot. */
enum wr_grpc_event {
    WR_GRPC_ARRIVED, /* a call, or none since the server stops */
    WR_GRPC_MESSAGE, /* of a stream */
    WR_GRPC_SENT,    /* a message of a stream */
    WR_GRPC_ENDED,   /* the status, with the reply of a unary call */
    WR_GRPC_CLOSED,  /* the call is over for C core, answered or not */
    WR_GRPC_WOKEN,
    WR_GRPC_EVENTS,
};

struct wr_grpc_tag {
    struct wr_grpc_slot *slot;
    enum wr_grpc_event event;
};

enum wr_grpc_state {
    WR_GRPC_POSTED,
    WR_GRPC_OPEN,
    WR_GRPC_ENDING, /* answered: more from the method is ignored */
    WR_GRPC_OVER,   /* on_close has run */
};

struct wr_grpc_slot {
    struct wr_call base; /* first */
    struct wr_grpc_lane *lane;
    struct wr_grpc_slot *next_made, *next_idle; /* the lane's lists */
    struct wr_grpc_slot *next_unread, *prev_unread;
    struct wr_grpc_slot *next_woken; /* the worker's list; written by whoever wakes */
    bool is_unread;                  /* in that list */
    bool is_answered;                /* reached ENDING, by an answer of ours */
    struct wr_arena arena;
    size_t arena_bytes; /* as counted by the worker */
    enum wr_grpc_state state;
    unsigned n_batches;
    unsigned n_awaits;
    bool is_close_apart; /* a batch of its own waits for the close */
    bool is_close_seen;
    bool is_cancelled;
    bool is_ended;       /* the batch with the status is done */
    bool had_message;    /* so on_close is due */
    bool is_half_closed; /* streams: nothing more will come */
    bool is_reading;     /* streams: the batch is out */
    bool is_sending;     /* streams: the batch is out */
    bool is_begun;       /* initial metadata was sent */
    int core_cancelled;  /* written by C core */

    grpc_call *call;
    gpr_timespec core_deadline;
    grpc_metadata_array request_metadata;
    grpc_call_details details; /* of a call that is not registered */
    grpc_byte_buffer *request; /* owned; written by C core */
    grpc_byte_buffer *out;     /* owned; the message that is out */
    struct wr_grpc_outbox outbox;
    grpc_status_code status;
    grpc_slice status_text;
    grpc_metadata status_details;
    size_t n_status_details; /* 0 or 1 */
    struct wr_grpc_tag tags[WR_GRPC_EVENTS];
};

void wr_grpc_slot_init(struct wr_grpc_slot *slot, struct wr_grpc_lane *lane);

/* Of a slot that is not in use. */
void wr_grpc_slot_fini(struct wr_grpc_slot *slot);

bool wr_grpc_slot_is_stream(const struct wr_grpc_slot *slot);

/* Offers the slot to C core for the next call. */
void wr_grpc_slot_post(struct wr_grpc_slot *slot);

/* `event` happened to the slot; C core says whether it went well. */
void wr_grpc_slot_run(struct wr_grpc_slot *slot, enum wr_grpc_event event, bool is_ok);

#endif
