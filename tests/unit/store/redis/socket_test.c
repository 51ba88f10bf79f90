/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/socket.h"

#include <criterion/criterion.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Listens on a free port of the loopback. */
static int listen_somewhere(struct sockaddr_in *out_address)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof address;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    cr_assert_eq(bind(fd, (struct sockaddr *) &address, sizeof address), 0);
    cr_assert_eq(listen(fd, 1), 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *) &address, &len), 0);
    *out_address = address;
    return fd;
}

static void wait_writable(const struct wr_redis_socket *s)
{
    struct pollfd poll_fd = {.fd = s->fd, .events = POLLOUT};

    cr_assert_eq(poll(&poll_fd, 1, 60000), 1);
}

static enum wr_err connect_to(struct wr_redis_socket *s, const struct sockaddr_in *address,
                              struct wr_redis_security *security)
{
    return wr_redis_socket_connect(s, (const struct sockaddr *) address, sizeof *address, security,
                                   wr_str_of("a.host"));
}

Test(redis_socket, bytes_go_to_and_fro)
{
    struct sockaddr_in address;
    struct wr_redis_socket s;
    const int listener = listen_somewhere(&address);
    char buffer[8] = "";
    size_t n = 0;

    wr_redis_socket_init(&s);
    cr_assert_eq(connect_to(&s, &address, NULL), WR_OK);
    wait_writable(&s);
    cr_assert_eq(wr_redis_socket_proceed(&s), WR_REDIS_IO_DONE);

    const int peer = accept(listener, NULL, NULL);

    cr_assert_eq(wr_redis_socket_read(&s, buffer, sizeof buffer, &n), WR_REDIS_IO_WANT_READ);
    cr_assert_eq(wr_redis_socket_write(&s, "ping", 4, &n), WR_REDIS_IO_DONE);
    cr_assert_eq(n, 4);
    cr_assert_eq(read(peer, buffer, sizeof buffer), 4);
    cr_assert_eq(write(peer, "pong", 4), 4);

    struct pollfd poll_fd = {.fd = s.fd, .events = POLLIN};

    cr_assert_eq(poll(&poll_fd, 1, 60000), 1);
    cr_assert_eq(wr_redis_socket_read(&s, buffer, sizeof buffer, &n), WR_REDIS_IO_DONE);
    cr_assert_eq(memcmp(buffer, "pong", 4), 0);
    cr_assert_eq(close(peer), 0);
    cr_assert_eq(poll(&poll_fd, 1, 60000), 1);
    cr_assert_eq(wr_redis_socket_read(&s, buffer, sizeof buffer, &n), WR_REDIS_IO_CLOSED);
    wr_redis_socket_close(&s);
    wr_redis_socket_close(&s);
    cr_assert_eq(close(listener), 0);
}

Test(redis_socket, nobody_there)
{
    struct sockaddr_in address;
    struct wr_redis_socket s;

    cr_assert_eq(close(listen_somewhere(&address)), 0);
    wr_redis_socket_init(&s);
    if (connect_to(&s, &address, NULL) == WR_OK) {
        wait_writable(&s);
        cr_assert_eq(wr_redis_socket_proceed(&s), WR_REDIS_IO_FAILED);
    }
    cr_assert_str_eq(wr_redis_socket_reason(&s), "Connection refused");
    wr_redis_socket_close(&s);
}

/* A layer that turns letters round, shakes hands twice and can be told to fail. */
struct layer {
    struct wr_redis_layer layer;
    int fd, n_handshakes;
    bool fails;
};

static enum wr_redis_io layer_handshake(struct wr_redis_layer *layer)
{
    return ((struct layer *) layer)->n_handshakes++ == 0 ? WR_REDIS_IO_WANT_READ : WR_REDIS_IO_DONE;
}

static enum wr_redis_io layer_read(struct wr_redis_layer *layer, void *buffer, size_t size,
                                   size_t *out_n)
{
    (void) layer;
    cr_assert_geq(size, 1);
    memcpy(buffer, "r", 1);
    *out_n = 1;
    return WR_REDIS_IO_DONE;
}

static enum wr_redis_io layer_write(struct wr_redis_layer *layer, const void *bytes, size_t n,
                                    size_t *out_n)
{
    (void) bytes;
    *out_n = n;
    return ((struct layer *) layer)->fails ? WR_REDIS_IO_FAILED : WR_REDIS_IO_DONE;
}

static const char *layer_reason(const struct wr_redis_layer *layer)
{
    (void) layer;
    return "the layer is torn";
}

static void layer_destroy(struct wr_redis_layer *layer)
{
    ((struct layer *) layer)->fd = -1;
}

static struct layer the_layer;

static struct wr_redis_layer *wrap(struct wr_redis_security *security, int fd, struct wr_str host,
                                   const char **out_reason)
{
    static const struct wr_redis_layer_ops ops = {
        .handshake = layer_handshake,
        .read = layer_read,
        .write = layer_write,
        .reason = layer_reason,
        .destroy = layer_destroy,
    };

    (void) security;
    (void) out_reason;
    cr_assert(wr_str_equal(host, wr_str_of("a.host")));
    the_layer.layer.ops = &ops;
    the_layer.fd = fd;
    return &the_layer.layer;
}

Test(redis_socket, a_layer_sits_between)
{
    struct sockaddr_in address;
    struct wr_redis_socket s;
    struct wr_redis_security security = {.wrap = wrap};
    const int listener = listen_somewhere(&address);
    char buffer[8] = "";
    size_t n = 0;

    wr_redis_socket_init(&s);
    cr_assert_eq(connect_to(&s, &address, &security), WR_OK);
    cr_assert_eq(the_layer.fd, s.fd);
    wait_writable(&s);
    cr_assert_eq(wr_redis_socket_proceed(&s), WR_REDIS_IO_WANT_READ);
    cr_assert_eq(wr_redis_socket_proceed(&s), WR_REDIS_IO_DONE);
    cr_assert_eq(wr_redis_socket_read(&s, buffer, sizeof buffer, &n), WR_REDIS_IO_DONE);
    cr_assert_str_eq(buffer, "r");
    cr_assert_eq(wr_redis_socket_write(&s, "abc", 3, &n), WR_REDIS_IO_DONE);
    the_layer.fails = true;
    cr_assert_eq(wr_redis_socket_write(&s, "abc", 3, &n), WR_REDIS_IO_FAILED);
    cr_assert_str_eq(wr_redis_socket_reason(&s), "the layer is torn");
    wr_redis_socket_close(&s);
    cr_assert_eq(the_layer.fd, -1);
    cr_assert_eq(close(listener), 0);
}
