/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A caller on gRPC C core for tests of the transport: unary calls and streams, step by step, each
 * wait with a deadline of a minute.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_SUPPORT_GRPC_CLIENT_H
#define WR_TESTS_SUPPORT_GRPC_CLIENT_H

#include <stdbool.h>
#include <stddef.h>

#include <grpc/grpc.h>

#include "base/str.h"

#define WR_GRPC_CLIENT_FOREVER (-1)

/* One connection. */
struct wr_grpc_client {
    grpc_channel *channel;
    grpc_completion_queue *queue;
};

/* An operation that is out. */
struct wr_grpc_client_op {
    bool is_done, is_ok;
};

struct wr_grpc_client_call {
    struct wr_grpc_client *client;
    grpc_call *call;
    grpc_metadata_array initial, trailing;
    grpc_status_code status; /* once ended */
    grpc_slice text;
    grpc_byte_buffer *in, *out;
    struct wr_grpc_client_op begun, sent, closed, received, ended;
};

/* To `target`, as 127.0.0.1:8081; a connection of its own. */
void wr_grpc_client_open(struct wr_grpc_client *client, const char *target);

/* All calls must have been freed. */
void wr_grpc_client_close(struct wr_grpc_client *client);

/* Begins a call; it ends by itself after `timeout_ms`. */
struct wr_grpc_client_call *wr_grpc_client_call_new(struct wr_grpc_client *client, const char *path,
                                                    int timeout_ms);

/* The same, with one more header; `extra` may be NULL. GRPC_COMPRESSION_REQUEST_ALGORITHM_MD_KEY
 * with gzip packs the messages. */
struct wr_grpc_client_call *wr_grpc_client_call_new_with(struct wr_grpc_client *client,
                                                         const char *path, int timeout_ms,
                                                         const grpc_metadata *extra);

/* Sends a message and waits until that is done; false when it failed. */
bool wr_grpc_client_call_send(struct wr_grpc_client_call *call, struct wr_str message);

void wr_grpc_client_call_half_close(struct wr_grpc_client_call *call);

/* Waits for a message; false when the call ended instead. It lives until the next. */
bool wr_grpc_client_call_receive(struct wr_grpc_client_call *call, struct wr_str *out_message);

void wr_grpc_client_call_cancel(struct wr_grpc_client_call *call);

/* Waits for the end, dropping messages that come before it; the status. */
grpc_status_code wr_grpc_client_call_end(struct wr_grpc_client_call *call);

/* A value of the trailing metadata; ptr NULL when there is none. */
struct wr_str wr_grpc_client_call_trailer(const struct wr_grpc_client_call *call, const char *key);

/* The text of the status. */
struct wr_str wr_grpc_client_call_text(const struct wr_grpc_client_call *call);

/* Cancels a call that has not ended, and waits for that. */
void wr_grpc_client_call_free(struct wr_grpc_client_call *call);

#endif
