/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS sessions by server, so that the next connection there goes on with one in place of a whole
 * handshake. A few are kept; the oldest makes room.
 *
 * Invariant: a session goes to the address and the name that it was made with, whose certificate
 * was checked then. What is kept is shared with no connection, and only with those whose context,
 * by its generation, is the one in use: another may trust others.
 * Threads: any thread; init and fini by the owner.
 */
#ifndef WR_STORE_REDIS_TLS_SESSIONS_H
#define WR_STORE_REDIS_TLS_SESSIONS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/lock.h"

struct ssl_session_st;

/* More connections than a cluster of this many nodes begin with a whole handshake. */
#define WR_REDIS_TLS_SESSIONS 32

/* The longest name of a host, with its NUL. */
#define WR_REDIS_TLS_NAME_SIZE 256

/* Whom a session is with. */
struct wr_redis_tls_peer {
    struct sockaddr_storage address;
    socklen_t address_len; /* 0: nobody; nothing is kept */
    const char *name;      /* that the certificate was checked for */
};

struct wr_redis_tls_session {
    struct ssl_session_st *session; /* owned; NULL: free */
    struct sockaddr_storage address;
    socklen_t address_len;
    char name[WR_REDIS_TLS_NAME_SIZE];
};

struct wr_redis_tls_sessions {
    struct wr_mutex mu;
    /* guarded by mu */
    uint64_t generation; /* of the context in use, from 0 */
    struct wr_redis_tls_session items[WR_REDIS_TLS_SESSIONS];
    size_t next; /* that makes room */
};

void wr_redis_tls_sessions_init(struct wr_redis_tls_sessions *sessions);

void wr_redis_tls_sessions_fini(struct wr_redis_tls_sessions *sessions);

/* Keeps a copy in place of an older one. Without memory nothing is kept. */
void wr_redis_tls_sessions_keep(struct wr_redis_tls_sessions *sessions, uint64_t generation,
                                const struct wr_redis_tls_peer *peer,
                                struct ssl_session_st *session);

/* A copy, the caller's; NULL: none that may be gone on with. */
struct ssl_session_st *wr_redis_tls_sessions_find(struct wr_redis_tls_sessions *sessions,
                                                  uint64_t generation,
                                                  const struct wr_redis_tls_peer *peer);

void wr_redis_tls_sessions_forget(struct wr_redis_tls_sessions *sessions,
                                  const struct wr_redis_tls_peer *peer);

/* Another context is in use: empties the table. */
void wr_redis_tls_sessions_renew(struct wr_redis_tls_sessions *sessions, uint64_t generation);

#endif
