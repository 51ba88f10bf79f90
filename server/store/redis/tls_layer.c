/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/tls_layer.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "store/redis/socket.h"
#include "store/redis/tls_reason.h"
#include "store/redis/tls_sessions.h"

struct layer {
    struct wr_redis_layer base; /* first */
    SSL *ssl;                   /* owned */
    const char *ca_file;        /* borrowed, as the sessions */
    struct wr_redis_tls_sessions *sessions;
    uint64_t generation; /* of the context it was made with */
    bool has_any_name;
    bool has_begun, is_through; /* the handshake */
    bool has_failed;            /* nothing may be said any more */
    struct wr_redis_tls_peer peer;
    char name[WR_REDIS_TLS_NAME_SIZE]; /* that the certificate has to be for; empty: anybody */
    char reason[WR_REDIS_TLS_REASON_SIZE];
};

/* ---- attempts ---- */

static enum wr_redis_io fail(struct layer *layer, unsigned long code, int error)
{
    layer->has_failed = true;
    if (layer->reason[0] == '\0') {
        wr_redis_tls_reason_of_error(code, error, !layer->is_through, layer->reason);
    }
    return WR_REDIS_IO_FAILED;
}

/* How far an attempt came that was not through. `error` is errno after it. */
static enum wr_redis_io judge(struct layer *layer, int result, int error)
{
    const int kind = SSL_get_error(layer->ssl, result);
    const unsigned long code = ERR_peek_error();
    enum wr_redis_io io = WR_REDIS_IO_CLOSED;

    if (kind == SSL_ERROR_WANT_READ) {
        io = WR_REDIS_IO_WANT_READ;
    } else if (kind == SSL_ERROR_WANT_WRITE) {
        io = WR_REDIS_IO_WANT_WRITE;
    } else if (kind == SSL_ERROR_SSL &&
               ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        /* Replies say where they end: one that was cut is seen without TLS's good-bye. */
        layer->has_failed = true;
        io = layer->is_through ? WR_REDIS_IO_CLOSED : fail(layer, 0, 0);
    } else if (kind != SSL_ERROR_ZERO_RETURN) {
        io = fail(layer, kind == SSL_ERROR_SSL ? code : 0, error);
    } else if (!layer->is_through) {
        io = fail(layer, 0, 0);
    }
    ERR_clear_error();
    return io;
}

static void prepare(void)
{
    ERR_clear_error();
    errno = 0;
}

/* The session that this server is known by, once it is known where it is. */
static void begin(struct layer *layer)
{
    struct wr_redis_tls_peer *const peer = &layer->peer;
    socklen_t len = sizeof peer->address;

    layer->has_begun = true;
    if (getpeername(SSL_get_fd(layer->ssl), (struct sockaddr *) &peer->address, &len) != 0) {
        return;
    }
    peer->address_len = len;

    SSL_SESSION *const session =
        wr_redis_tls_sessions_find(layer->sessions, layer->generation, peer);

    if (session != NULL) {
        (void) SSL_set_session(layer->ssl, session);
        SSL_SESSION_free(session);
    }
}

static enum wr_redis_io layer_handshake(struct wr_redis_layer *base)
{
    struct layer *const layer = (struct layer *) base;

    if (!layer->has_begun) {
        begin(layer);
    }
    prepare();

    const int result = SSL_connect(layer->ssl);

    if (result == 1) {
        layer->is_through = true;
        return WR_REDIS_IO_DONE;
    }

    const enum wr_redis_io io = judge(layer, result, errno);

    if (io == WR_REDIS_IO_FAILED) {
        wr_redis_tls_sessions_forget(layer->sessions, &layer->peer);
    }
    return io;
}

static enum wr_redis_io layer_read(struct wr_redis_layer *base, void *buffer, size_t size,
                                   size_t *out_n)
{
    struct layer *const layer = (struct layer *) base;

    prepare();

    const int result = SSL_read_ex(layer->ssl, buffer, size, out_n);

    return result == 1 ? WR_REDIS_IO_DONE : judge(layer, result, errno);
}

/* A server that refuses our certificate says so after its part of the handshake, and hangs up: when
 * that is seen by a write, its word may still be there to be read. */
static enum wr_redis_io explain_hang_up(struct layer *layer, int error)
{
    char byte;
    size_t n = 0;

    prepare();

    const int result = SSL_peek_ex(layer->ssl, &byte, 1, &n);

    if (result != 1 && SSL_get_error(layer->ssl, result) == SSL_ERROR_SSL &&
        ERR_GET_REASON(ERR_peek_error()) != SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        return judge(layer, result, error);
    }
    ERR_clear_error();
    return fail(layer, 0, error);
}

static enum wr_redis_io layer_write(struct wr_redis_layer *base, const void *bytes, size_t n,
                                    size_t *out_n)
{
    struct layer *const layer = (struct layer *) base;

    prepare();

    const int result = SSL_write_ex(layer->ssl, bytes, n, out_n);
    const int error = errno;

    if (result == 1) {
        return WR_REDIS_IO_DONE;
    }
    if (SSL_get_error(layer->ssl, result) == SSL_ERROR_SYSCALL) {
        return explain_hang_up(layer, error);
    }
    return judge(layer, result, error);
}

static const char *layer_reason(const struct wr_redis_layer *base)
{
    return ((const struct layer *) base)->reason;
}

static void layer_destroy(struct wr_redis_layer *base)
{
    struct layer *const layer = (struct layer *) base;

    if (layer->is_through && !layer->has_failed) {
        (void) SSL_shutdown(layer->ssl);
    }
    SSL_free(layer->ssl);
    ERR_clear_error();
    free(layer);
}

static const struct wr_redis_layer_ops layer_ops = {
    .handshake = layer_handshake,
    .read = layer_read,
    .write = layer_write,
    .reason = layer_reason,
    .destroy = layer_destroy,
};

/* ---- what OpenSSL calls ---- */

/* A certificate of the chain was looked at; why one is refused is known here best. */
static int certificate_checked(int is_good, X509_STORE_CTX *store)
{
    SSL *const ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct layer *const layer = SSL_get_app_data(ssl);

    if (!is_good) {
        wr_redis_tls_reason_of_certificate(store, layer->name, layer->ca_file, layer->reason);
    }
    return is_good;
}

/* The server gave a session to go on with later. 0: OpenSSL keeps its reference. */
static int session_came(SSL *ssl, SSL_SESSION *session)
{
    const struct layer *const layer = SSL_get_app_data(ssl);

    wr_redis_tls_sessions_keep(layer->sessions, layer->generation, &layer->peer, session);
    return 0;
}

void wr_redis_tls_layers_prepare(struct ssl_ctx_st *context)
{
    SSL_CTX_sess_set_new_cb(context, session_came);
    (void) SSL_CTX_set_session_cache_mode(context,
                                          SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
}

/* ---- life ---- */

static bool is_address(const char *name)
{
    struct in6_addr address;

    return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

/* Whom the certificate has to be for. */
static bool expect_name(const struct layer *layer)
{
    X509_VERIFY_PARAM *const checks = SSL_get0_param(layer->ssl);

    if (layer->has_any_name) {
        return true;
    }
    if (is_address(layer->name)) {
        return X509_VERIFY_PARAM_set1_ip_asc(checks, layer->name) == 1;
    }
    X509_VERIFY_PARAM_set_hostflags(checks, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    return X509_VERIFY_PARAM_set1_host(checks, layer->name, 0) == 1;
}

/* Servers with several certificates choose by a name, which is never an address (RFC 6066, 3). */
static bool tell_name(struct layer *layer)
{
    return layer->name[0] == '\0' || is_address(layer->name) ||
           SSL_set_tlsext_host_name(layer->ssl, layer->name) == 1;
}

static bool set_up(struct layer *layer, SSL_CTX *context, int fd)
{
    layer->ssl = SSL_new(context);
    if (layer->ssl == NULL || SSL_set_app_data(layer->ssl, layer) != 1) {
        return false;
    }
    SSL_set_verify(layer->ssl, SSL_VERIFY_PEER, certificate_checked);
    return SSL_set_fd(layer->ssl, fd) == 1 && expect_name(layer) && tell_name(layer);
}

struct wr_redis_layer *wr_redis_tls_layer_new(const struct wr_redis_tls_layer_options *options)
{
    const struct wr_str name = options->name;

    if (wr_str_find(name, '\0') < name.len) {
        return NULL;
    }

    struct layer *const layer = calloc(1, sizeof *layer);

    if (layer == NULL) {
        return NULL;
    }
    layer->base.ops = &layer_ops;
    layer->ca_file = options->ca_file;
    layer->sessions = options->sessions;
    layer->generation = options->generation;
    layer->has_any_name = options->has_any_name;
    layer->peer.name = layer->name;
    if (name.len > 0) {
        memcpy(layer->name, name.ptr, name.len);
    }

    const bool is_set_up = set_up(layer, options->context, options->fd);

    ERR_clear_error();
    if (!is_set_up) {
        SSL_free(layer->ssl);
        free(layer);
        return NULL;
    }
    return &layer->base;
}
