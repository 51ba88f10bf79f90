/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP/2 connection that carries many checks at once at little cost: a load generator that
 * takes as much CPU time as the server measures itself, so libweir's own way is not for it. This is
 * the only part that knows nghttp2.
 *
 * Threads: owner thread only.
 */
#ifndef WEIRCTL_BENCH_PEER_H
#define WEIRCTL_BENCH_PEER_H

#include "weir/client.h"

#define WEIRCTL_REPLY_MAX 512 /* bytes of a reply that are looked at for the verdict */

struct weirctl_peer;

enum weirctl_answer {
    WEIRCTL_ANSWER_ADMITTED,
    WEIRCTL_ANSWER_REFUSED,
    WEIRCTL_ANSWER_FAILED, /* an error, or no verdict */
};

/* One check after the other; in flight it must stay where it is. All zero is a good start. */
struct weirctl_turn {
    const uint8_t *body; /* borrowed: gRPC's prefix and the message */
    size_t body_len;
    struct weirctl_peer *peer; /* whom it is with; NULL: not in flight */
    uint64_t start_ns;         /* its owner's */
    /* the peer's */
    int32_t stream_id;
    size_t body_sent;
    int grpc_status; /* -1: none came */
    uint8_t reply[WEIRCTL_REPLY_MAX];
    size_t reply_len;
};

/* Is told of each turn that ended, and may begin it anew with the same peer. */
typedef void (*weirctl_turn_fn)(void *arg, struct weirctl_turn *turn, enum weirctl_answer answer);

struct weirctl_peer_options {
    const char *target;  /* borrowed, as long as the peer lives */
    uint32_t timeout_ms; /* for connecting */
    weirctl_turn_fn on_end;
    void *arg;
};

/* Connects. NULL with the reason in `error`. */
struct weirctl_peer *weirctl_peer_new(const struct weirctl_peer_options *options,
                                      struct weir_error *error);

/* Turns in flight are forgotten: on_end is not called. NULL is fine. */
void weirctl_peer_destroy(struct weirctl_peer *peer);

/* To wait on for reading, and for writing while weirctl_peer_flush left something over. */
int weirctl_peer_fd(const struct weirctl_peer *peer);

/* Begins a check; false when the connection takes no more: the server has said GOAWAY, or the last
 * flush left something over. It is written by the next flush. */
WEIR_MUST_USE bool weirctl_peer_begin(struct weirctl_peer *peer, struct weirctl_turn *turn);

/* Gives up a turn in flight, without on_end, and says so to the server at the next flush. */
void weirctl_peer_cancel(struct weirctl_peer *peer, struct weirctl_turn *turn);

/* Reads what is there and ends turns. False: the connection is over. */
WEIR_MUST_USE bool weirctl_peer_read(struct weirctl_peer *peer);

/* Writes what it can. False: the connection is over. */
WEIR_MUST_USE bool weirctl_peer_flush(struct weirctl_peer *peer);

/* Did the last flush leave something over. */
bool weirctl_peer_is_full(const struct weirctl_peer *peer);

/* Why the first check of it that failed did; "" without one. */
const char *weirctl_peer_complaint(const struct weirctl_peer *peer);

#endif
