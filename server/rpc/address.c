/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/number.h"

#define HOST_SIZE 256
#define PORT_DIGITS 5

static enum wr_err refuse(const char *reason, const char **out_reason)
{
    *out_reason = reason;
    return WR_ERR_INVALID;
}

static enum wr_err parse_unix(struct wr_str path, struct wr_address *out_address,
                              const char **out_reason)
{
    static const struct wr_str slashes = WR_STR("//");
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    if (wr_str_has_prefix(path, slashes)) { /* unix:///run/weir.sock */
        path = wr_str_skip(path, slashes.len);
    }
    if (path.len == 0) {
        return refuse("has no path behind unix:", out_reason);
    }
    if (path.ptr[0] == '@') {
        return refuse("names an abstract socket, which has no permissions that could keep others "
                      "away; a path is needed (./@name for a file of that name)",
                      out_reason);
    }
    if (path.len >= sizeof address.sun_path) {
        return refuse("has a path over 107 bytes", out_reason);
    }
    memcpy(address.sun_path, path.ptr, path.len);
    *out_address = (struct wr_address){.len = sizeof address};
    memcpy(&out_address->storage, &address, sizeof address);
    return WR_OK;
}

static bool parse_port(struct wr_str text, uint16_t *out_port)
{
    uint64_t port = 0;

    if (text.len > PORT_DIGITS || !wr_number_parse(text, UINT16_MAX, &port)) {
        return false;
    }
    *out_port = (uint16_t) port;
    return true;
}

/* At the last colon, since an IPv6 address may come without brackets; those are taken off. */
static bool split(struct wr_str text, struct wr_str *out_host, struct wr_str *out_port)
{
    size_t colon = text.len;

    while (colon > 0 && text.ptr[colon - 1] != ':') {
        colon--;
    }
    if (colon == 0) {
        return false;
    }
    *out_port = wr_str_skip(text, colon);
    *out_host = wr_str_part(text, 0, colon - 1);
    if (out_host->len > 0 && out_host->ptr[0] == '[') {
        if (out_host->len < 2 || out_host->ptr[out_host->len - 1] != ']') {
            return false;
        }
        *out_host = wr_str_part(*out_host, 1, out_host->len - 1);
    }
    return true;
}

static void set_port(struct wr_address *address, uint16_t port)
{
    union {
        struct sockaddr_storage *storage;
        struct sockaddr_in *v4;
        struct sockaddr_in6 *v6;
    } at = {.storage = &address->storage};

    if (address->storage.ss_family == AF_INET) {
        at.v4->sin_port = htons(port);
    } else {
        at.v6->sin6_port = htons(port);
    }
}

static const struct addrinfo *choose(const struct addrinfo *found)
{
    for (const struct addrinfo *one = found; one != NULL; one = one->ai_next) {
        if (one->ai_family == AF_INET) {
            return one;
        }
    }
    return found;
}

static enum wr_err resolve(const char *host, struct wr_address *out_address,
                           const char **out_reason)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;

    if (getaddrinfo(host, NULL, &hints, &found) != 0 || found == NULL) {
        return refuse("names a host that does not resolve", out_reason);
    }

    const struct addrinfo *const chosen = choose(found);

    *out_address = (struct wr_address){.len = chosen->ai_addrlen};
    memcpy(&out_address->storage, chosen->ai_addr, chosen->ai_addrlen);
    freeaddrinfo(found);
    return WR_OK;
}

enum wr_err wr_address_parse(struct wr_str text, struct wr_address *out_address,
                             const char **out_reason)
{
    static const struct wr_str unix_prefix = WR_STR("unix:");
    struct wr_str host_text = {0}, port_text = {0};
    struct wr_address address = {0};
    uint16_t port = 0;
    char host[HOST_SIZE] = "::";

    if (wr_str_find(text, '\0') < text.len) {
        return refuse("holds a NUL byte", out_reason);
    }
    if (wr_str_has_prefix(text, unix_prefix)) {
        return parse_unix(wr_str_skip(text, unix_prefix.len), out_address, out_reason);
    }
    if (!split(text, &host_text, &port_text)) {
        return refuse("is neither HOST:PORT nor unix:PATH", out_reason);
    }
    if (!parse_port(port_text, &port)) {
        return refuse("has no port from 0 to 65535 behind its last colon", out_reason);
    }
    if (host_text.len >= sizeof host) {
        return refuse("names a host of over 255 bytes", out_reason);
    }
    if (host_text.len > 0) {
        memcpy(host, host_text.ptr, host_text.len);
        host[host_text.len] = '\0';
    }

    const enum wr_err err = resolve(host, &address, out_reason);

    if (err == WR_OK) {
        set_port(&address, port);
        *out_address = address;
    }
    return err;
}

bool wr_address_is_unix(const struct wr_address *address)
{
    return address->storage.ss_family == AF_UNIX;
}

static struct sockaddr_in6 as_v6(const struct wr_address *address)
{
    struct sockaddr_in6 v6;

    memcpy(&v6, &address->storage, sizeof v6);
    return v6;
}

static struct sockaddr_in as_v4(const struct wr_address *address)
{
    struct sockaddr_in v4;

    memcpy(&v4, &address->storage, sizeof v4);
    return v4;
}

bool wr_address_is_dual(const struct wr_address *address)
{
    if (address->storage.ss_family != AF_INET6) {
        return false;
    }

    const struct sockaddr_in6 v6 = as_v6(address);

    return IN6_IS_ADDR_UNSPECIFIED(&v6.sin6_addr) != 0;
}

struct wr_address wr_address_only_v4(const struct wr_address *address)
{
    const struct sockaddr_in v4 = {
        .sin_family = AF_INET,
        .sin_port = as_v6(address).sin6_port,
        .sin_addr.s_addr = htonl(INADDR_ANY),
    };
    struct wr_address only = {.len = sizeof v4};

    memcpy(&only.storage, &v4, sizeof v4);
    return only;
}

const char *wr_address_path(const struct wr_address *address)
{
    return (const char *) &address->storage + offsetof(struct sockaddr_un, sun_path);
}

void wr_address_format(const struct wr_address *address, char text[WR_ADDRESS_TEXT_SIZE])
{
    char host[INET6_ADDRSTRLEN] = "";

    if (wr_address_is_unix(address)) {
        (void) snprintf(text, WR_ADDRESS_TEXT_SIZE, "unix:%s", wr_address_path(address));
    } else if (address->storage.ss_family == AF_INET) {
        const struct sockaddr_in v4 = as_v4(address);

        (void) inet_ntop(AF_INET, &v4.sin_addr, host, sizeof host);
        (void) snprintf(text, WR_ADDRESS_TEXT_SIZE, "%s:%u", host, ntohs(v4.sin_port));
    } else {
        const struct sockaddr_in6 v6 = as_v6(address);

        (void) inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof host);
        (void) snprintf(text, WR_ADDRESS_TEXT_SIZE, "[%s]:%u", host, ntohs(v6.sin6_port));
    }
}
