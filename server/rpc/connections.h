/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connections that were handed to a transport, counted although the transport closes them
 * without a word: a socket is remembered by descriptor and inode, and one whose descriptor is
 * closed, or is another file by now, is gone.
 *
 * Invariant: never fewer than are open, never more than the bound.
 * Threads: owner thread only.
 */
#ifndef WR_RPC_CONNECTIONS_H
#define WR_RPC_CONNECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct wr_connection {
    int fd; /* the transport's, who may close it at any time */
    ino_t ino;
    bool was_empty;            /* when the flood guard looked last; see rpc/flood_guard.h */
    uint64_t taken_when_empty; /* bytes that the transport had read by then */
};

struct wr_connections {
    struct wr_connection *items; /* owned */
    size_t n, capacity, max;
};

void wr_connections_init(struct wr_connections *connections, size_t max);

void wr_connections_fini(struct wr_connections *connections);

bool wr_connections_is_full(const struct wr_connections *connections);

/* Remembers `fd`, an open socket. False when full or memory is out. */
bool wr_connections_add(struct wr_connections *connections, int fd);

/* A descriptor of the caller's own for it; -1 when it is gone, or descriptors are used up. */
int wr_connection_dup(const struct wr_connection *connection);

/* Forgets those that are gone; looks at each once. */
void wr_connections_sweep(struct wr_connections *connections);

#endif
