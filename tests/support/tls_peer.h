/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The other end of a TLS connection, in the same thread as the end that is tested: it goes on by
 * steps, accepts, and sends back what it gets.
 *
 * Threads: one thread. SIGPIPE has to be ignored.
 */
#ifndef WR_TESTS_SUPPORT_TLS_PEER_H
#define WR_TESTS_SUPPORT_TLS_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct certificate;

struct tls_peer_options {
    const struct certificate *certificate;
    const struct certificate *client_ca; /* NULL: no certificate is asked for */
    int max_version;                     /* as TLS1_2_VERSION; 0: the newest */
};

struct tls_peer {
    struct ssl_ctx_st *context;
    struct ssl_st *ssl; /* of the connection; NULL: none, or one without TLS */
    int fd;             /* this end; -1: none */
    bool is_through, has_failed;
    char held[4096]; /* to be sent back */
    size_t n_held;
};

void tls_peer_init(struct tls_peer *peer, const struct tls_peer_options *options);

void tls_peer_fini(struct tls_peer *peer);

/* A new connection in place of the last: a descriptor that does not block, the caller's. */
int tls_peer_connect(struct tls_peer *peer);

/* As far as it goes without waiting. */
void tls_peer_step(struct tls_peer *peer);

/* Bytes that are no TLS. */
void tls_peer_send_raw(struct tls_peer *peer, const char *bytes, size_t n);

/* Ends the connection; `is_polite`: with TLS's good-bye. */
void tls_peer_hang_up(struct tls_peer *peer, bool is_polite);

#endif
