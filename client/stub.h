/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a server's methods, bytes in and bytes out: the only part that knows gRPC. It connects
 * at the first call and again by itself after a loss; a call waits for a connection that is being
 * made, and fails at once when the last attempt was refused, unless it may be tried again.
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
    uint32_t deadline_ms; /* from now, connecting and retries included */
    uint32_t
        attempts_max;     /* of a unary call; 0 is 1. More: again, while it cannot have been sent */
    bool retries_sent;    /* and also when the server had it and is unavailable */
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

/*
 * Ends the calls of weir_stub_start that are under way, with WEIR_ERR_CANCELLED, and comes back
 * when on_done was called for each. No other call may be under way. NULL is fine.
 */
void weir_stub_destroy(struct weir_stub *stub);

/* WEIR_OK: on_reply was called once and was content. */
WEIR_MUST_USE enum weir_err weir_stub_unary(struct weir_stub *stub, const struct weir_call *call,
                                            struct weir_error *error);

/* How a call of weir_stub_start ended; `error` is valid during the call only. */
typedef void (*weir_done_fn)(void *arg, enum weir_err err, const struct weir_error *error);

/*
 * Starts a unary call and does not wait for it. WEIR_OK: the stub's thread will call on_reply at
 * most once and then on_done exactly once, both with the call's arg, neither from within this
 * function when another thread calls it. Else neither is called: WEIR_ERR_BUSY when `in_flight_max`
 * such calls are under way, WEIR_ERR_CANCELLED while the stub is destroyed, WEIR_ERR_MEMORY.
 *
 * Threads: any, the stub's own too.
 */
WEIR_MUST_USE enum weir_err weir_stub_start(struct weir_stub *stub, const struct weir_call *call,
                                            weir_done_fn on_done, size_t in_flight_max,
                                            struct weir_error *error);

/* Gives each reply to on_reply until the server ends the stream. Ending is no failure to gRPC, so
 * WEIR_OK can mean that it never answered. */
WEIR_MUST_USE enum weir_err weir_stub_stream(struct weir_stub *stub, const struct weir_call *call,
                                             struct weir_error *error);

#endif
