/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS between this server and Redis: layers over connected sockets, made with certificate files
 * that are looked at before each connection. Files that have changed are in use from the next
 * connection on; when they are no good, those read before stay, with one line in the log.
 *
 * The server's certificate is always checked, for its dates, its CA and the name that it is for.
 * The process has to ignore SIGPIPE.
 * Threads: new, and the security's destroy, by the owner; wrap from any thread, a layer by its
 * owner thread only.
 */
#ifndef WR_STORE_REDIS_TLS_H
#define WR_STORE_REDIS_TLS_H

#include <stdbool.h>

#include "base/err.h"
#include "store/redis/tls_context.h"

struct wr_metrics;
struct wr_redis_security;

/* Texts are borrowed while the security lives. */
struct wr_redis_tls_options {
    struct wr_redis_tls_files files;
    /* The name, or address, that certificates have to be for, in place of the host that a link was
     * told to reach; empty: that host. */
    const char *server_name;
    bool has_any_name; /* a certificate may be for anybody; all else is checked */
    struct wr_metrics *metrics;
};

/* WR_ERR_INVALID, WR_ERR_NO_MEMORY: as wr_redis_tls_context_new, with its message. */
WR_MUST_USE enum wr_err wr_redis_tls_new(const struct wr_redis_tls_options *options,
                                         struct wr_redis_security **out_security,
                                         char message[WR_REDIS_TLS_MESSAGE_SIZE]);

#endif
