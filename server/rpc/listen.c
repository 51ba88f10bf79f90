/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* SOCK_NONBLOCK and SOCK_CLOEXEC */
#include "rpc/listen.h"

#include <errno.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_BACKLOG 4096
#define DEFAULT_UNIX_MODE 0660
/* In a TCP header. */
#define TCP_FLAGS_AT 13
#define TCP_SYN 0x02

struct listener {
    int fd; /* owned */
    struct wr_address address;
    dev_t dev; /* of a Unix socket's file, as it was made */
    ino_t ino;
};

struct wr_listen {
    struct listener *listeners; /* owned */
    size_t n_listeners;
};

/* What one attempt to open knows, for its notes. */
struct attempt {
    const struct wr_listen_options *options;
    struct wr_str text; /* of the address, as the person gave it */
    struct wr_diag *diag;
};

static enum wr_err refuse(const struct attempt *attempt, enum wr_err err, const char *reason,
                          const char *hint)
{
    wr_diag_add(attempt->diag, WR_SEVERITY_ERROR,
                (struct wr_place){.file = wr_str_of(attempt->options->option)}, (struct wr_str){0},
                hint, "%.*s %s", (int) attempt->text.len, attempt->text.ptr, reason);
    return err;
}

static enum wr_err refuse_errno(const struct attempt *attempt, int error)
{
    switch (error) {
    case EADDRINUSE:
        return refuse(attempt, WR_ERR_EXISTS, "is in use by another process",
                      "stop that process, or choose another port (0 takes a free one)");
    case EACCES:
    case EPERM:
        return refuse(attempt, WR_ERR_SYSTEM, "is not permitted to this user",
                      "choose a port from 1024 on, or a directory that the user may write to");
    case EADDRNOTAVAIL:
        return refuse(attempt, WR_ERR_SYSTEM, "is not an address of this machine",
                      "use one of its own, or 0.0.0.0 for all");
    case ENOENT:
    case ENOTDIR:
        return refuse(attempt, WR_ERR_SYSTEM, "is in a directory that does not exist",
                      "create the directory");
    default:
        return refuse(attempt, WR_ERR_SYSTEM, strerror(error), NULL);
    }
}

static const struct sockaddr *sockaddr_of(const struct wr_address *address)
{
    return (const struct sockaddr *) &address->storage;
}

static int open_socket(const struct wr_address *address)
{
    const int on = 1, off = 0;
    const int fd =
        socket(address->storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    if (fd < 0 || wr_address_is_unix(address)) {
        return fd;
    }
    /* Over connections of an earlier server that linger; never SO_REUSEPORT. */
    (void) setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (address->storage.ss_family == AF_INET6) {
        const bool is_dual = wr_address_is_dual(address);

        (void) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, is_dual ? &off : &on, sizeof on);
    }
    return fd;
}

/* Makes way for a new Unix socket: a file that no server answers at is removed. */
static enum wr_err clear_path(const struct attempt *attempt, const struct wr_address *address)
{
    const char *const path = wr_address_path(address);
    struct stat before;

    if (lstat(path, &before) != 0) {
        return errno == ENOENT ? WR_OK : refuse_errno(attempt, errno);
    }
    if (!S_ISSOCK(before.st_mode)) {
        return refuse(attempt, WR_ERR_EXISTS, "exists and is not a socket",
                      "remove the file, or choose another path");
    }

    const int fd = open_socket(address);

    if (fd < 0) {
        return refuse_errno(attempt, errno);
    }

    /* A live server whose queue is full says EAGAIN. */
    const int error = connect(fd, sockaddr_of(address), address->len) == 0 ? 0 : errno;

    (void) close(fd);
    if (error == 0 || error == EAGAIN || error == EINPROGRESS) {
        return refuse(attempt, WR_ERR_EXISTS, "is in use by another process",
                      "stop that process, or choose another path");
    }
    if (error == ENOENT) {
        return WR_OK;
    }
    if (error != ECONNREFUSED || unlink(path) != 0) {
        return refuse_errno(attempt, error == ECONNREFUSED ? errno : error);
    }
    return WR_OK;
}

/* Notes which file is ours, and sets its mode before anybody can connect. */
static bool claim_path(struct listener *listener, unsigned mode)
{
    const char *const path = wr_address_path(&listener->address);
    struct stat made;

    if (chmod(path, mode) != 0 || lstat(path, &made) != 0) {
        return false;
    }
    listener->dev = made.st_dev;
    listener->ino = made.st_ino;
    return true;
}

static void close_listener(struct listener *listener)
{
    struct stat now;

    if (listener->fd < 0) {
        return;
    }
    (void) close(listener->fd);
    listener->fd = -1;
    if (wr_address_is_unix(&listener->address) && listener->ino != 0) {
        const char *const path = wr_address_path(&listener->address);

        if (lstat(path, &now) == 0 && now.st_dev == listener->dev && now.st_ino == listener->ino) {
            (void) unlink(path);
        }
    }
}

/* Binds and listens; false with errno. */
static bool bind_listener(struct listener *listener, const struct wr_listen_options *options)
{
    const unsigned mode = options->unix_mode == 0 ? DEFAULT_UNIX_MODE : options->unix_mode;
    const int backlog = options->backlog == 0 ? DEFAULT_BACKLOG : options->backlog;

    if (bind(listener->fd, sockaddr_of(&listener->address), listener->address.len) != 0) {
        return false;
    }
    if (wr_address_is_unix(&listener->address)) {
        if (!claim_path(listener, mode)) {
            return false;
        }
    } else {
        listener->address.len = sizeof listener->address.storage;
        if (getsockname(listener->fd, (struct sockaddr *) &listener->address.storage,
                        &listener->address.len) != 0) {
            return false;
        }
    }
    return listen(listener->fd, backlog) == 0;
}

static enum wr_err open_listener(const struct attempt *attempt, const struct wr_address *address,
                                 struct listener *out_listener)
{
    struct listener listener = {.address = *address};

    if (wr_address_is_unix(address)) {
        const enum wr_err err = clear_path(attempt, address);

        if (err != WR_OK) {
            return err;
        }
    }
    listener.fd = open_socket(address);
    if (listener.fd < 0) {
        return refuse_errno(attempt, errno);
    }
    if (!bind_listener(&listener, attempt->options)) {
        const int error = errno;

        close_listener(&listener);
        return refuse_errno(attempt, error);
    }
    *out_listener = listener;
    return WR_OK;
}

/* A machine can lack IPv6 altogether, or have it switched off. */
static bool has_v6(void)
{
    struct wr_address any = {.len = sizeof(struct sockaddr_in6)};

    any.storage.ss_family = AF_INET6; /* :: and port 0, all zero */

    const int fd = open_socket(&any);
    const bool is_there = fd >= 0 && bind(fd, sockaddr_of(&any), any.len) == 0;

    if (fd >= 0) {
        (void) close(fd);
    }
    return is_there;
}

static enum wr_err open_text(const struct attempt *attempt, struct listener *out_listener)
{
    struct wr_address address;
    const char *reason = NULL;

    if (wr_address_parse(attempt->text, &address, &reason) != WR_OK) {
        return refuse(attempt, WR_ERR_INVALID, reason,
                      "write it as 0.0.0.0:8081, [::]:8081 or unix:/run/weir.sock");
    }
    if (wr_address_is_dual(&address) && !has_v6()) {
        wr_diag_add(attempt->diag, WR_SEVERITY_WARNING,
                    (struct wr_place){.file = wr_str_of(attempt->options->option)},
                    (struct wr_str){0}, NULL,
                    "this machine has no IPv6, so %.*s listens for IPv4 alone",
                    (int) attempt->text.len, attempt->text.ptr);
        address = wr_address_only_v4(&address);
    }
    return open_listener(attempt, &address, out_listener);
}

enum wr_err wr_listen_open(const struct wr_listen_options *options, struct wr_diag *diag,
                           struct wr_listen **out_listen)
{
    struct wr_listen *const listen = calloc(1, sizeof *listen);
    enum wr_err err = WR_ERR_NO_MEMORY;

    if (listen == NULL) {
        return err;
    }
    listen->listeners = calloc(options->n_addresses + 1, sizeof *listen->listeners);
    if (listen->listeners == NULL) {
        goto failed;
    }
    for (size_t i = 0; i < options->n_addresses; i++) {
        const struct attempt attempt = {
            .options = options, .text = options->addresses[i], .diag = diag};

        err = open_text(&attempt, &listen->listeners[i]);
        if (err != WR_OK) {
            goto failed;
        }
        listen->n_listeners++;
    }
    *out_listen = listen;
    return WR_OK;

failed:
    wr_listen_close(listen);
    return err;
}

void wr_listen_hush(struct wr_listen *listen, size_t index)
{
    struct sock_filter drop_syn[] = {
        BPF_STMT(BPF_LD | BPF_B | BPF_ABS, TCP_FLAGS_AT),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, TCP_SYN, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, 0),
        BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
    };
    const struct sock_fprog program = {.len = sizeof drop_syn / sizeof *drop_syn,
                                       .filter = drop_syn};
    const struct listener *const listener = &listen->listeners[index];

    /* Where it fails, who comes within some microseconds is reset. */
    if (!wr_address_is_unix(&listener->address)) {
        (void) setsockopt(listener->fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
    }
}

void wr_listen_shut(struct wr_listen *listen, size_t index)
{
    close_listener(&listen->listeners[index]);
}

void wr_listen_close(struct wr_listen *listen)
{
    if (listen == NULL) {
        return;
    }
    for (size_t i = 0; i < listen->n_listeners; i++) {
        close_listener(&listen->listeners[i]);
    }
    free(listen->listeners);
    free(listen);
}

size_t wr_listen_count(const struct wr_listen *listen)
{
    return listen->n_listeners;
}

int wr_listen_fd(const struct wr_listen *listen, size_t index)
{
    return listen->listeners[index].fd;
}

const struct wr_address *wr_listen_address(const struct wr_listen *listen, size_t index)
{
    return &listen->listeners[index].address;
}
