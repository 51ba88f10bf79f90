/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a server's methods, bytes in and bytes out: the only part that knows gRPC. It connects
 * at the first call and again by itself after a loss; a call waits for a connection that is being
 * made, and fails at once when the last attempt was refused.
 *
 * Threads: calls from any number of threads at once; new and destroy by the owner.
 */
#ifndef WEIR_STUB_H
#define WEIR_STUB_H

#include "weir/client.h"

enum weir_method {
    WEIR_METHOD_CHECK,
    WEIR_METHOD_HEALTH_CHECK,
    WEIR_METHOD_HEALTH_WATCH, /* the one that answers with a stream */
};

#define WEIR_NO_DEADLINE 0U

/* Is given each reply, valid during the call only. False: the bytes make no sense, hang up. */
typedef bool (*weir_reply_fn)(void *arg, const uint8_t *bytes, size_t len);

struct weir_call {
    enum weir_method method;
    uint32_t deadline_ms; /* from now, connecting included */
    const uint8_t *bytes; /* the request, copied */
    size_t len;
    weir_reply_fn on_reply;
    void *arg;       /* of on_reply */
    int *out_status; /* the number of gRPC that the call ended with; NULL: of no interest */
};

struct weir_stub;

/* WEIR_ERR_INVALID: the target cannot be; WEIR_ERR_MEMORY. `error` may be NULL. */
WEIR_MUST_USE enum weir_err weir_stub_new(const char *target, struct weir_stub **out_stub,
                                          struct weir_error *error);

/* No call may be under way. NULL is fine. */
void weir_stub_destroy(struct weir_stub *stub);

/* WEIR_OK: on_reply was called once and was content. */
WEIR_MUST_USE enum weir_err weir_stub_unary(struct weir_stub *stub, const struct weir_call *call,
                                            struct weir_error *error);

/* Gives each reply to on_reply until the server ends the stream. Ending is no failure to gRPC, so
 * WEIR_OK can mean that it never answered. */
WEIR_MUST_USE enum weir_err weir_stub_stream(struct weir_stub *stub, const struct weir_call *call,
                                             struct weir_error *error);

#endif
