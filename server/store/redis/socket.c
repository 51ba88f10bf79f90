/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4's flags on socket */
#include "store/redis/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

void wr_redis_socket_init(struct wr_redis_socket *socket)
{
    *socket = (struct wr_redis_socket){.fd = -1};
}

static enum wr_redis_io fail(struct wr_redis_socket *socket, int error)
{
    socket->error = error;
    socket->why = NULL;
    return WR_REDIS_IO_FAILED;
}

/* Requests are small and wait for their answers; a dead peer is seen by heartbeats, not by TCP. */
static void tune(int fd, int family)
{
    const int on = 1;

    if (family != AF_UNIX) {
        (void) setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
}

enum wr_err wr_redis_socket_connect(struct wr_redis_socket *socket_, const struct sockaddr *address,
                                    socklen_t len, struct wr_redis_security *security,
                                    struct wr_str host)
{
    wr_redis_socket_close(socket_);
    socket_->fd = socket(address->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_->fd < 0) {
        (void) fail(socket_, errno);
        return WR_ERR_IO;
    }
    tune(socket_->fd, address->sa_family);

    int error = connect(socket_->fd, address, len) == 0 ? 0 : errno;

    if (error != 0 && error != EINPROGRESS) {
        wr_redis_socket_close(socket_);
        (void) fail(socket_, error);
        return WR_ERR_IO;
    }
    if (security != NULL) {
        const char *why = NULL;

        socket_->layer = security->wrap(security, socket_->fd, host, &why);
        if (socket_->layer == NULL) {
            wr_redis_socket_close(socket_);
            socket_->why = why;
            return WR_ERR_IO;
        }
    }
    return WR_OK;
}

/* A layer's failure speaks for itself. */
static enum wr_redis_io note(struct wr_redis_socket *socket, enum wr_redis_io io)
{
    if (io == WR_REDIS_IO_FAILED) {
        socket->error = 0;
        socket->why = socket->layer->ops->reason(socket->layer);
    }
    return io;
}

enum wr_redis_io wr_redis_socket_proceed(struct wr_redis_socket *socket)
{
    struct sockaddr_storage peer;
    socklen_t peer_len = sizeof peer;
    int error = 0;
    socklen_t len = sizeof error;

    if (getsockopt(socket->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0) {
        return fail(socket, errno);
    }
    if (error != 0) {
        return fail(socket, error);
    }
    if (getpeername(socket->fd, (struct sockaddr *) &peer, &peer_len) != 0) {
        return errno == ENOTCONN ? WR_REDIS_IO_WANT_WRITE : fail(socket, errno);
    }
    return socket->layer == NULL ? WR_REDIS_IO_DONE
                                 : note(socket, socket->layer->ops->handshake(socket->layer));
}

enum wr_redis_io wr_redis_socket_read(struct wr_redis_socket *socket, void *buffer, size_t size,
                                      size_t *out_n)
{
    if (socket->layer != NULL) {
        return note(socket, socket->layer->ops->read(socket->layer, buffer, size, out_n));
    }
    for (;;) {
        const ssize_t n = recv(socket->fd, buffer, size, 0);

        if (n > 0) {
            *out_n = (size_t) n;
            return WR_REDIS_IO_DONE;
        }
        if (n == 0) {
            return WR_REDIS_IO_CLOSED;
        }
        if (errno == EAGAIN) {
            return WR_REDIS_IO_WANT_READ;
        }
        if (errno != EINTR) {
            return fail(socket, errno);
        }
    }
}

enum wr_redis_io wr_redis_socket_write(struct wr_redis_socket *socket, const void *bytes, size_t n,
                                       size_t *out_n)
{
    if (socket->layer != NULL) {
        return note(socket, socket->layer->ops->write(socket->layer, bytes, n, out_n));
    }
    for (;;) {
        const ssize_t sent = send(socket->fd, bytes, n, MSG_NOSIGNAL);

        if (sent >= 0) {
            *out_n = (size_t) sent;
            return WR_REDIS_IO_DONE;
        }
        if (errno == EAGAIN) {
            return WR_REDIS_IO_WANT_WRITE;
        }
        if (errno != EINTR) {
            return fail(socket, errno);
        }
    }
}

const char *wr_redis_socket_reason(const struct wr_redis_socket *socket)
{
    if (socket->why != NULL) {
        return socket->why;
    }
    return socket->error != 0 ? strerror(socket->error) : "closed";
}

void wr_redis_socket_close(struct wr_redis_socket *socket)
{
    if (socket->layer != NULL) {
        socket->layer->ops->destroy(socket->layer);
        socket->layer = NULL;
        socket->why = NULL;
    }
    if (socket->fd >= 0) {
        (void) close(socket->fd);
        socket->fd = -1;
    }
}
