/* SPDX-License-Identifier: Apache-2.0 */
#include "target.h"

#include "error.h"

#include <sys/un.h>

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool is_port(const char *text)
{
    unsigned long port = 0;

    if (*text == '\0') {
        return false;
    }
    for (; *text != '\0'; text++) {
        if (*text < '0' || *text > '9' || port > 65535) {
            return false;
        }
        port = port * 10 + (unsigned long) (*text - '0');
    }
    return port >= 1 && port <= 65535;
}

static enum weir_err check_host_port(const char *target, const char *host, struct weir_error *error)
{
    const char *colon = strrchr(host, ':');

    if (colon == NULL || colon == host || !is_port(colon + 1)) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "target '%s' needs a host and a port of 1 to 65535, such as %s",
                              target, WEIR_TARGET_DEFAULT);
    }
    if (memchr(host, ':', (size_t) (colon - host)) != NULL &&
        (host[0] != '[' || colon[-1] != ']')) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "target '%s': put an IPv6 address in brackets, such as [::1]:8081",
                              target);
    }
    return WEIR_OK;
}

static enum weir_err check_path(const char *target, const char *path, struct weir_error *error)
{
    const size_t path_max = sizeof(((struct sockaddr_un *) NULL)->sun_path) - 1;

    if (*path == '\0' || strlen(path) > path_max) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "target '%s' needs a socket's path of 1 to %zu bytes, such as "
                              "unix:/run/weir.sock",
                              target, path_max);
    }
    return WEIR_OK;
}

enum weir_err weir_target_check(const char *target, struct weir_error *error)
{
    static const char *const plain[] = {"ipv4:", "ipv6:", "dns:"};

    if (starts_with(target, "unix:")) {
        return check_path(target, target + strlen("unix:"), error);
    }
    if (starts_with(target, "dns://")) {
        const char *slash = strchr(target + strlen("dns://"), '/');

        return check_host_port(target, slash == NULL ? "" : slash + 1, error);
    }
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++) {
        if (starts_with(target, plain[i])) {
            return check_host_port(target, target + strlen(plain[i]), error);
        }
    }
    if (strstr(target, "://") != NULL) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "target '%s' is no gRPC address: write host:port, unix:path or "
                              "dns:///host:port",
                              target);
    }
    return check_host_port(target, target, error);
}
