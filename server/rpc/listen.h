/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Listening sockets: opened together or not at all, on ports that nobody else has.
 *
 * Invariant: a Unix socket file that a server answers at is not replaced (two servers that start in
 * the same instant are not kept apart), and at the end only a file that is still ours is removed.
 * Threads: open and close by the owner; in between immutable but for hush and shut, which no
 * other call may meet.
 */
#ifndef WR_RPC_LISTEN_H
#define WR_RPC_LISTEN_H

#include <stddef.h>

#include "base/diag.h"
#include "base/err.h"
#include "base/str.h"
#include "rpc/address.h"

struct wr_listen;

struct wr_listen_options {
    const struct wr_str *addresses; /* borrowed; as wr_address_parse takes them */
    size_t n_addresses;
    const char *option; /* where they come from, for notes: --grpc-listen */
    unsigned unix_mode; /* of the files of Unix sockets; 0: 0660 */
    int backlog;        /* 0: 4096; the system may have less */
};

/*
 * WR_ERR_INVALID (no such address), WR_ERR_EXISTS (taken), WR_ERR_SYSTEM, WR_ERR_NO_MEMORY; notes
 * in `diag` say which address and what to do. Port 0 takes a free one. On a machine without IPv6
 * :: listens on 0.0.0.0, with a warning.
 */
WR_MUST_USE enum wr_err wr_listen_open(const struct wr_listen_options *options,
                                       struct wr_diag *diag, struct wr_listen **out_listen);

/* Before shut: whoever begins to connect by TCP gets no answer, and the caller's system tries again
 * by itself; those who are connected can still be accepted, and no more are added to them. */
void wr_listen_hush(struct wr_listen *listen, size_t index);

/* Callers of this socket are refused from now on, and its file is gone; its address can still be
 * asked for. Connections that were accepted go on, those that were not are reset. */
void wr_listen_shut(struct wr_listen *listen, size_t index);

/* Shuts what is not shut yet. */
void wr_listen_close(struct wr_listen *listen);

size_t wr_listen_count(const struct wr_listen *listen);

/* Borrowed; non-blocking; -1 when it is shut. */
int wr_listen_fd(const struct wr_listen *listen, size_t index);

/* What it is bound to, the port taken included. */
const struct wr_address *wr_listen_address(const struct wr_listen *listen, size_t index);

#endif
