/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server on C core at a free port of 127.0.0.1, with methods made for tests, and a client.
 *
 * Threads: the test's own; what the methods count is atomic.
 */
#ifndef WR_TESTS_UNIT_RPC_GRPC_BED_H
#define WR_TESTS_UNIT_RPC_GRPC_BED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "metrics/metrics.h"
#include "rpc/acceptor.h"
#include "rpc/grpc/server.h"
#include "rpc/listen.h"
#include "tests/support/grpc_client.h"

/* Unary: the request back; awaits until bed_wake_all, then the request back; a failure with
 * details; the microseconds left; the request back, after 1 MiB was taken from the arena; the peer.
 */
#define ECHO "/test.Test/Echo"
#define WAIT "/test.Test/Wait"
#define FAIL "/test.Test/Fail"
#define LEFT "/test.Test/Left"
#define HUGE_ARENA "/test.Test/HugeArena"
#define PEER "/test.Test/Peer"
/* Streams: each message back, and the end after the half-close; a hundred messages at once for one;
 * ends after the first message, whose bytes are the reply. */
#define ECHO_STREAM "/test.Test/EchoStream"
#define FLOOD_STREAM "/test.Test/FloodStream"
#define SHORT_STREAM "/test.Test/ShortStream"

#define BED_METHODS 9
#define BED_WAITING 2048

struct bed {
    struct wr_metrics *metrics;
    struct wr_listen *listen;
    struct wr_acceptor *acceptor;
    struct wr_grpc_server *server;
    struct wr_grpc_options options; /* may be changed before open */
    struct wr_method methods[BED_METHODS];
    char target[WR_ADDRESS_TEXT_SIZE];
    struct wr_grpc_client client;
    _Atomic size_t n_closed, n_cancelled, n_woken;
    pthread_mutex_t mutex;
    /* guarded by mutex */
    struct wr_call *waiting[BED_WAITING];
    size_t n_waiting;
};

/* One worker unless `options` says otherwise. */
void bed_open(struct bed *bed);

/* Stops without grace, checks that nothing is left in use. */
void bed_close(struct bed *bed);

/* Wakes all that wait, from this thread. */
void bed_wake_all(struct bed *bed);

/* Calls that wait now. */
size_t bed_n_waiting(struct bed *bed);

/* Slots in use now. */
size_t bed_n_in_use(const struct bed *bed);

/* A connection that speaks HTTP/2 by hand: what begins it is sent, nothing is read. */
int bed_connect_by_hand(const struct bed *bed);

size_t bed_arena_bytes(const struct bed *bed);

#endif
