/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between what is served and how it is carried: a table of methods, and what a transport's
 * call offers to them. A transport knows nothing of rate limits, a method nothing of HTTP/2.
 *
 * One call goes like this, all on its owner thread but for `wake`:
 *
 *            arrives ──► on_message ──┬── reply / finish ─────────────► on_close
 *                          (stream: again for each message)               ▲
 *                                     └── await ──► … wake (any thread)   │
 *                                                      │                  │
 *                                                   on_wake ── reply ─────┘
 *
 * Invariant: a call and its arena live until on_close has run and each await was woken. on_close
 * runs once a call that had an on_message, also when the caller left: then before the reply, and
 * reply, send and finish do nothing any more.
 * Threads: a call belongs to its owner thread; wake from any thread.
 */
#ifndef WR_RPC_METHOD_H
#define WR_RPC_METHOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"
#include "metrics/metrics.h"
#include "service/failure.h"

struct wr_call;

enum wr_method_kind {
    WR_METHOD_UNARY,  /* one message, one reply */
    WR_METHOD_STREAM, /* any number of both: bidirectional and server streaming */
};

struct wr_method {
    const char *path; /* /package.Service/Method, NUL-terminated */
    enum wr_method_kind kind;
    void *context; /* borrowed; of the functions below */
    /* A message; `message.ptr` is NULL when the caller ended a unary call, or half-closed a stream,
     * without (another) one. Its bytes live as long as the call for a unary method, until return
     * for a stream. */
    void (*on_message)(void *context, struct wr_call *call, struct wr_str message);
    /* After await and wake. NULL when the method never awaits. */
    void (*on_wake)(void *context, struct wr_call *call);
    /* The call is over; `is_cancelled` when the caller left or its deadline passed before the
     * answer was out. NULL when the method does not care. */
    void (*on_close)(void *context, struct wr_call *call, bool is_cancelled);
};

struct wr_call_ops {
    /* The one message of a unary call, with status OK. Bytes are copied before return. */
    void (*reply)(struct wr_call *call, struct wr_str message);
    /* A message of a stream; queued in order, up to a bound of the transport, beyond which the
     * call is finished with RESOURCE_EXHAUSTED. Bytes are copied before return. */
    void (*send)(struct wr_call *call, struct wr_str message);
    /* Ends the call without a reply, or a stream after what was sent. `details` is an encoded
     * google.rpc.Status for grpc-status-details-bin; may be empty. Copied before return. */
    void (*finish)(struct wr_call *call, enum wr_status status, struct wr_str message,
                   struct wr_str details);
    /* Keeps the call until a matching wake; from here on the caller's leaving is noticed. */
    void (*await)(struct wr_call *call);
    /* From any thread, exactly once an await: on_wake runs on the owner thread. */
    void (*wake)(struct wr_call *call);
    /* The caller's address for a log, in the call arena; may be empty. */
    struct wr_str (*peer)(struct wr_call *call);
};

/* First member of every transport's call. */
struct wr_call {
    const struct wr_call_ops *ops;
    struct wr_arena *arena;           /* of the call; reset when its slot is reused */
    struct wr_metrics_block *metrics; /* of the owner thread */
    size_t worker;                    /* index of the owner thread, from 0 */
    int64_t deadline_mono_us;         /* INT64_MAX when there is none */
    void *state;                      /* the method's own; NULL at first */
};

struct wr_method_table {
    const struct wr_method *methods;
    size_t n_methods;
};

#endif
