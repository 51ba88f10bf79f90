/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Certificate files made into a context of OpenSSL for clients: TLS 1.2 or newer, the server's
 * certificate is always checked, renegotiation is refused.
 *
 * Threads: any thread; the files are read by the one that calls.
 */
#ifndef WR_STORE_REDIS_TLS_CONTEXT_H
#define WR_STORE_REDIS_TLS_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

struct ssl_ctx_st;

/* PEM files; empty: none. */
struct wr_redis_tls_files {
    const char *ca;   /* who may have signed the server's certificate; none: the system's */
    const char *cert; /* of this client, with those between it and its CA */
    const char *key;  /* of that certificate, without a passphrase */
};

/* What a file was like when it was looked at. All zero: it was not there. */
struct wr_redis_tls_stamp {
    dev_t device;
    ino_t inode;
    off_t size;
    int64_t changed_s, changed_ns;
};

struct wr_redis_tls_stamps {
    struct wr_redis_tls_stamp ca, cert, key;
};

/* Holds every message of new. */
#define WR_REDIS_TLS_MESSAGE_SIZE 512

struct wr_redis_tls_stamps wr_redis_tls_files_look(const struct wr_redis_tls_files *files);

bool wr_redis_tls_stamps_are_equal(const struct wr_redis_tls_stamps *a,
                                   const struct wr_redis_tls_stamps *b);

/*
 * WR_ERR_INVALID: a file cannot be read, or is not what it should be; `message` says which, why and
 * what to do, and holds nothing of its content. WR_ERR_NO_MEMORY, with a message as well.
 */
WR_MUST_USE enum wr_err wr_redis_tls_context_new(const struct wr_redis_tls_files *files,
                                                 struct ssl_ctx_st **out_context,
                                                 char message[WR_REDIS_TLS_MESSAGE_SIZE]);

#endif
