/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connected stream of bytes that never blocks: TCP or Unix, bare or through a layer (TLS) that
 * sits between descriptor and bytes.
 *
 * Threads: owner thread only (the I/O thread).
 */
#ifndef WR_STORE_REDIS_SOCKET_H
#define WR_STORE_REDIS_SOCKET_H

#include <stddef.h>
#include <sys/socket.h>

#include "base/err.h"
#include "base/str.h"

/* How far an attempt came. */
enum wr_redis_io {
    WR_REDIS_IO_DONE,       /* at least a byte, or the handshake is through */
    WR_REDIS_IO_WANT_READ,  /* again when the descriptor can be read */
    WR_REDIS_IO_WANT_WRITE, /* again when it can be written */
    WR_REDIS_IO_CLOSED,     /* the other side is through */
    WR_REDIS_IO_FAILED,     /* see wr_redis_socket_reason */
};

struct wr_redis_layer;

/* A layer over a connected descriptor that it does not own. */
struct wr_redis_layer_ops {
    enum wr_redis_io (*handshake)(struct wr_redis_layer *layer);
    enum wr_redis_io (*read)(struct wr_redis_layer *layer, void *buffer, size_t size,
                             size_t *out_n);
    /* After a WANT the next attempt begins with the same bytes, perhaps at another address. */
    enum wr_redis_io (*write)(struct wr_redis_layer *layer, const void *bytes, size_t n,
                              size_t *out_n);
    /* Why the last attempt FAILED: one short text for the log that says what to do, valid until the
     * next attempt. */
    const char *(*reason)(const struct wr_redis_layer *layer);
    void (*destroy)(struct wr_redis_layer *layer); /* says good-bye when it can at once */
};

/* First member of every layer. */
struct wr_redis_layer {
    const struct wr_redis_layer_ops *ops;
};

/* Makes layers: TLS with its settings. First member of that. */
struct wr_redis_security {
    /* A layer over `fd` to the server that was asked for by the name `host` (without a port; empty
     * for a Unix socket). NULL when it cannot be made; `*out_reason` then says why, statically. */
    struct wr_redis_layer *(*wrap)(struct wr_redis_security *security, int fd, struct wr_str host,
                                   const char **out_reason);
    /* After all of its layers. */
    void (*destroy)(struct wr_redis_security *security);
};

struct wr_redis_socket {
    int fd;                       /* owned; -1: none */
    struct wr_redis_layer *layer; /* owned; NULL: bare */
    int error;                    /* errno of the last attempt that failed; 0: none */
    const char *why;              /* of another failure; static or the layer's; NULL: none */
};

/* No connection yet. */
void wr_redis_socket_init(struct wr_redis_socket *socket);

/* Begins to connect. WR_ERR_IO when that fails at once. `security` is borrowed for the call; NULL:
 * bare bytes. */
WR_MUST_USE enum wr_err wr_redis_socket_connect(struct wr_redis_socket *socket,
                                                const struct sockaddr *address, socklen_t len,
                                                struct wr_redis_security *security,
                                                struct wr_str host);

/* Goes on connecting, once the descriptor is ready; DONE: bytes may flow. */
enum wr_redis_io wr_redis_socket_proceed(struct wr_redis_socket *socket);

/* Up to `size` bytes. A layer may hold more than the descriptor shows: read until it WANTs. */
enum wr_redis_io wr_redis_socket_read(struct wr_redis_socket *socket, void *buffer, size_t size,
                                      size_t *out_n);

/* Up to `n` bytes. */
enum wr_redis_io wr_redis_socket_write(struct wr_redis_socket *socket, const void *bytes, size_t n,
                                       size_t *out_n);

/* Why the last attempt failed, for the log. */
const char *wr_redis_socket_reason(const struct wr_redis_socket *socket);

/* Fine when there is none. */
void wr_redis_socket_close(struct wr_redis_socket *socket);

#endif
