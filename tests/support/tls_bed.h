/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS of the Redis store with an end to speak to: a CA, its files in a directory of the test's own,
 * and a server with a certificate of that CA for redis.example and 10.1.2.3.
 *
 * Threads: one thread. SIGPIPE is ignored from init on.
 */
#ifndef WR_TESTS_SUPPORT_TLS_BED_H
#define WR_TESTS_SUPPORT_TLS_BED_H

#include <stdbool.h>

#include "store/redis/socket.h"
#include "store/redis/tls.h"
#include "tests/support/certificates.h"
#include "tests/support/tls_peer.h"

#define TLS_BED_HOST "redis.example"

struct tls_bed {
    char folder[64];
    char ca[96], cert[96], key[96]; /* paths; only that of the CA is there at first */
    struct certificate authority, server;
    struct tls_peer peer;
    struct wr_metrics *metrics;
    struct wr_redis_security *security; /* NULL until made */
    struct wr_redis_layer *layer;       /* of the connection; NULL: none */
    int fd;                             /* its descriptor; -1: none */
};

/* Without a peer and without security. */
void tls_bed_init(struct tls_bed *bed);

void tls_bed_fini(struct tls_bed *bed);

/* The peer, with the certificate of the bed unless `options` has another. */
void tls_bed_serve(struct tls_bed *bed, const struct tls_peer_options *options);

/* The security, with the bed's CA. */
void tls_bed_secure(struct tls_bed *bed);

/* The same as `options` say; metrics are the bed's. */
void tls_bed_secure_with(struct tls_bed *bed, struct wr_redis_tls_options options);

/* A new connection to `host`, with a layer. */
void tls_bed_connect(struct tls_bed *bed, const char *host);

/* Connects and has both ends go on until the client's end is through or has failed. */
enum wr_redis_io tls_bed_shake(struct tls_bed *bed, const char *host);

/* Reads once more what the other end says after its part of the handshake. */
enum wr_redis_io tls_bed_listen(struct tls_bed *bed);

/* Asserts that a handshake with `host` fails, and that its reason holds `part`. */
void tls_bed_expect_refusal(struct tls_bed *bed, const char *host, const char *part);

#endif
