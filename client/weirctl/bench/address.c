/* SPDX-License-Identifier: Apache-2.0 */
#include "address.h"

#include "../../error.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Connects within the time that Linux takes from the socket's timeout for sending. */
static int connect_to(const struct sockaddr *address, socklen_t len, uint32_t timeout_ms)
{
    const struct timeval timeout = {timeout_ms / 1000, (timeout_ms % 1000) * 1000};
    const int fd = socket(address->sa_family, SOCK_STREAM, 0);
    const int one = 1;

    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof timeout);
    if (connect(fd, address, len) != 0 || fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
        const int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    if (address->sa_family != AF_UNIX) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    return fd;
}

static int failed(const char *target, const char *why, struct weir_error *error)
{
    weir_error_set(error, WEIR_ERR_CONNECT, "no connection to %s: %s", target, why);
    return -1;
}

static int connect_unix(const char *target, const char *path, uint32_t timeout_ms,
                        struct weir_error *error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, path, strlen(path) + 1);

    const int fd = connect_to((const struct sockaddr *) &address, sizeof address, timeout_ms);

    return fd >= 0 ? fd : failed(target, strerror(errno), error);
}

/* Host and port of what follows the scheme. */
struct endpoint {
    char *host; /* owned */
    const char *port;
};

static bool endpoint_init(struct endpoint *endpoint, const char *text)
{
    const char *colon = strrchr(text, ':');
    const bool has_brackets = text[0] == '[' && colon[-1] == ']';
    const char *begin = has_brackets ? text + 1 : text;
    const size_t len = (size_t) (colon - begin) - (has_brackets ? 1 : 0);

    endpoint->port = colon + 1;
    endpoint->host = malloc(len + 1);
    if (endpoint->host == NULL) {
        return false;
    }
    memcpy(endpoint->host, begin, len);
    endpoint->host[len] = '\0';
    return true;
}

/* The first address that takes a connection. */
static int connect_tcp(const char *target, const struct endpoint *endpoint, uint32_t timeout_ms,
                       struct weir_error *error)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    const int status = getaddrinfo(endpoint->host, endpoint->port, &hints, &found);
    int fd = -1;

    if (status != 0) {
        return failed(target, gai_strerror(status), error);
    }
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next) {
        fd = connect_to(at->ai_addr, at->ai_addrlen, timeout_ms);
    }

    const int saved = errno;

    freeaddrinfo(found);
    return fd >= 0 ? fd : failed(target, strerror(saved), error);
}

int weirctl_address_connect(const char *target, uint32_t timeout_ms, struct weir_error *error)
{
    static const char *const schemes[] = {"ipv4:", "ipv6:", "dns:"};
    const char *rest = target;
    struct endpoint endpoint;

    if (strncmp(target, "unix:", strlen("unix:")) == 0) {
        return connect_unix(target, target + strlen("unix:"), timeout_ms, error);
    }
    for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++) {
        if (strncmp(target, schemes[i], strlen(schemes[i])) == 0) {
            const char *slash = strrchr(target, '/');

            rest = slash != NULL ? slash + 1 : target + strlen(schemes[i]);
        }
    }
    if (!endpoint_init(&endpoint, rest)) {
        return failed(target, "out of memory", error);
    }

    const int fd = connect_tcp(target, &endpoint, timeout_ms, error);

    free(endpoint.host);
    return fd;
}
