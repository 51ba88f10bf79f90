/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls.h"

#include <openssl/ssl.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/lock.h"
#include "base/log.h"
#include "metrics/metrics.h"
#include "store/redis/socket.h"
#include "store/redis/tls_layer.h"
#include "store/redis/tls_sessions.h"

struct tls {
    struct wr_redis_security base; /* first */
    struct wr_redis_tls_options options;
    struct wr_redis_tls_sessions sessions;
    struct wr_mutex mu;
    /* guarded by mu */
    struct ssl_ctx_st *context;        /* owned, one reference; of the last files that were good */
    struct wr_redis_tls_stamps stamps; /* of the last files that were read, good or not */
    uint64_t generation;               /* of context */
    bool is_loading;                   /* by one thread, outside the lock */
    struct wr_metrics_block *counts;   /* of the metrics; written under mu */
};

/* ---- files ---- */

static bool must_load(struct tls *tls, const struct wr_redis_tls_stamps *seen)
{
    wr_mutex_lock(&tls->mu);

    const bool must = !tls->is_loading && !wr_redis_tls_stamps_are_equal(&tls->stamps, seen);

    if (must) {
        tls->is_loading = true;
        tls->stamps = *seen;
    }
    wr_mutex_unlock(&tls->mu);
    return must;
}

/* Puts `context` into the place of the one in use, which is returned. */
static SSL_CTX *use_locked(struct tls *tls, SSL_CTX *context) WR_REQUIRES(tls->mu)
{
    SSL_CTX *const old = tls->context;

    tls->context = context;
    tls->generation++;
    return old;
}

static void tell(enum wr_err err, const char *message)
{
    if (err == WR_OK) {
        wr_log(WR_LOG_INFO, "Redis TLS: changed certificate files are in use from now on");
    } else {
        wr_log(WR_LOG_WARN, "%s; what was read before stays in use", message);
    }
}

static void load(struct tls *tls)
{
    char message[WR_REDIS_TLS_MESSAGE_SIZE];
    SSL_CTX *context = NULL;
    SSL_CTX *old = NULL;
    const enum wr_err err = wr_redis_tls_context_new(&tls->options.files, &context, message);

    if (err == WR_OK) {
        wr_redis_tls_layers_prepare(context);
    }
    wr_mutex_lock(&tls->mu);
    tls->is_loading = false;
    if (err == WR_OK) {
        old = use_locked(tls, context);
    } else if (err == WR_ERR_NO_MEMORY) {
        tls->stamps = (struct wr_redis_tls_stamps){0}; /* the next connection tries again */
    }
    wr_metrics_add(tls->counts,
                   err == WR_OK ? WR_METRIC_REDIS_TLS_LOADS : WR_METRIC_REDIS_TLS_LOAD_ERRORS, 1);

    const uint64_t generation = tls->generation;

    wr_mutex_unlock(&tls->mu);
    if (err == WR_OK) {
        wr_redis_tls_sessions_renew(&tls->sessions, generation);
    }
    SSL_CTX_free(old);
    tell(err, message);
}

/* The stamps are taken before the files are read: what changes meanwhile is seen the next time. */
static void look_at_files(struct tls *tls)
{
    const struct wr_redis_tls_stamps seen = wr_redis_tls_files_look(&tls->options.files);

    if (must_load(tls, &seen)) {
        load(tls);
    }
}

/* The context in use; the caller frees its reference. */
static SSL_CTX *acquire_context(struct tls *tls, uint64_t *out_generation)
{
    wr_mutex_lock(&tls->mu);

    SSL_CTX *const context = tls->context;

    (void) SSL_CTX_up_ref(context);
    *out_generation = tls->generation;
    wr_mutex_unlock(&tls->mu);
    return context;
}

/* ---- layers ---- */

/* A final dot belongs to DNS, not to the name in a certificate. */
static struct wr_str name_for(const struct tls *tls, struct wr_str host)
{
    struct wr_str name =
        tls->options.server_name[0] != '\0' ? wr_str_of(tls->options.server_name) : host;

    if (name.len > 0 && name.ptr[name.len - 1] == '.') {
        name.len--;
    }
    return name;
}

static struct wr_redis_layer *wrap(struct wr_redis_security *security, int fd, struct wr_str host,
                                   const char **out_reason)
{
    struct tls *const tls = (struct tls *) security;
    const struct wr_str name = name_for(tls, host);

    if (name.len == 0 && !tls->options.has_any_name) {
        *out_reason = "a Unix socket has no name that a certificate could be for; give one with "
                      "--redis-tls-server-name";
        return NULL;
    }
    if (name.len >= WR_REDIS_TLS_NAME_SIZE) {
        *out_reason = "the host's name is longer than any that a certificate can be for";
        return NULL;
    }
    look_at_files(tls);

    struct wr_redis_tls_layer_options options = {
        .fd = fd,
        .name = name,
        .has_any_name = tls->options.has_any_name,
        .ca_file = tls->options.files.ca,
        .sessions = &tls->sessions,
    };

    options.context = acquire_context(tls, &options.generation);

    struct wr_redis_layer *const layer = wr_redis_tls_layer_new(&options);

    SSL_CTX_free(options.context);
    if (layer == NULL) {
        *out_reason = "no memory for TLS, or the host has a name that no certificate can be for";
    }
    return layer;
}

/* ---- life ---- */

static void destroy(struct wr_redis_security *security)
{
    struct tls *const tls = (struct tls *) security;

    wr_redis_tls_sessions_fini(&tls->sessions);
    SSL_CTX_free(tls->context);
    wr_mutex_fini(&tls->mu);
    free(tls);
}

enum wr_err wr_redis_tls_new(const struct wr_redis_tls_options *options,
                             struct wr_redis_security **out_security,
                             char message[WR_REDIS_TLS_MESSAGE_SIZE])
{
    const struct wr_redis_tls_stamps stamps = wr_redis_tls_files_look(&options->files);
    SSL_CTX *context = NULL;
    const enum wr_err err = wr_redis_tls_context_new(&options->files, &context, message);

    if (err != WR_OK) {
        return err;
    }

    struct tls *const tls = calloc(1, sizeof *tls);
    struct wr_metrics_block *const counts = wr_metrics_block_new(options->metrics);

    if (tls == NULL || counts == NULL) {
        (void) snprintf(message, WR_REDIS_TLS_MESSAGE_SIZE,
                        "TLS for Redis cannot be set up: out of memory");
        SSL_CTX_free(context);
        free(tls);
        return WR_ERR_NO_MEMORY;
    }
    tls->base = (struct wr_redis_security){.wrap = wrap, .destroy = destroy};
    tls->options = *options;
    tls->counts = counts;
    tls->stamps = stamps;
    tls->context = context;
    wr_redis_tls_layers_prepare(context);
    wr_redis_tls_sessions_init(&tls->sessions);
    wr_mutex_init(&tls->mu, WR_LOCK_REDIS_TLS);
    *out_security = &tls->base;
    return WR_OK;
}
