/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TLS over one connected descriptor, as a client: the handshake, with a session from before where
 * there is one, then bytes. Why it failed is told for a person to act on.
 *
 * Threads: a layer by its owner thread only; prepare before the context is shared.
 */
#ifndef WR_STORE_REDIS_TLS_LAYER_H
#define WR_STORE_REDIS_TLS_LAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct ssl_ctx_st;
struct wr_redis_layer;
struct wr_redis_tls_sessions;

struct wr_redis_tls_layer_options {
    struct ssl_ctx_st *context; /* prepared; borrowed for the call */
    uint64_t generation;        /* of the context, for sessions */
    int fd;                     /* borrowed while the layer lives, as all below */
    struct wr_str name;         /* shorter than WR_REDIS_TLS_NAME_SIZE; copied; empty: none */
    bool has_any_name;          /* the certificate need not be for `name` */
    const char *ca_file;        /* for reasons; empty: the system's */
    struct wr_redis_tls_sessions *sessions;
};

/* Once for each context that layers are made with. */
void wr_redis_tls_layers_prepare(struct ssl_ctx_st *context);

/* NULL: no memory, or a name that cannot be one. */
struct wr_redis_layer *wr_redis_tls_layer_new(const struct wr_redis_tls_layer_options *options);

#endif
