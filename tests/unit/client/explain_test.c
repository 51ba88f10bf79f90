/* SPDX-License-Identifier: Apache-2.0 */
#include "client/explain.h"

#include <criterion/criterion.h>

static const struct {
    int status;
    const char *message;
    bool is_connected;
    enum weir_err code;
    const char *text;
} rows[] = {
    {14,
     "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect "
     "to remote host: Connection refused",
     false, WEIR_ERR_UNAVAILABLE, "connection refused at h:1: is weir running there?"},
    {14, "unix:/x: No such file or directory", false, WEIR_ERR_UNAVAILABLE,
     "no socket at h:1: is weir running, with this path?"},
    {14, "Permission denied", false, WEIR_ERR_UNAVAILABLE,
     "no permission to connect to h:1: check the socket's owner and mode"},
    {14, "DNS resolution failed for h:1: C-ares status is not ARES_SUCCESS", false,
     WEIR_ERR_UNAVAILABLE,
     "the name of h:1 cannot be resolved: check its spelling and the resolver"},
    {14, "Socket closed", false, WEIR_ERR_UNAVAILABLE,
     "the connection to h:1 broke off: was the server stopped or restarted?"},
    {14, "recvmsg:Connection reset by peer", false, WEIR_ERR_UNAVAILABLE,
     "the connection to h:1 broke off: was the server stopped or restarted?"},
    {14, "Trying to connect an http1.x server", false, WEIR_ERR_PROTOCOL,
     "h:1 speaks HTTP/1: use the gRPC port, 8081 unless told otherwise"},
    {14, "redis: Connection refused", true, WEIR_ERR_UNAVAILABLE,
     "the server at h:1 cannot answer now, try later: redis: Connection refused"},
    {14, "no rules yet", true, WEIR_ERR_UNAVAILABLE,
     "the server at h:1 cannot answer now, try later: no rules yet"},
    {4, "Deadline Exceeded", true, WEIR_ERR_TIMEOUT,
     "no answer from h:1 within 20 ms: it is slow, or the deadline too short"},
    {4, "Deadline Exceeded", false, WEIR_ERR_TIMEOUT,
     "no connection to h:1 within 20 ms: check host, port and firewall, or give it a longer "
     "deadline"},
    {3, "domain is empty", true, WEIR_ERR_INVALID,
     "the server refuses the request: domain is empty"},
    {8, "over 4 MiB", true, WEIR_ERR_TOO_LARGE,
     "the request is more than the server takes: over 4 MiB"},
    {12, "", true, WEIR_ERR_PROTOCOL,
     "h:1 speaks gRPC but does not know this call: is it weir's port?"},
    {13, "boom", true, WEIR_ERR_SERVER, "the server at h:1 failed with INTERNAL: boom"},
    {1, "", true, WEIR_ERR_SERVER, "the server at h:1 failed with CANCELLED: "},
    {16, "who?", true, WEIR_ERR_SERVER, "the server at h:1 failed with UNAUTHENTICATED: who?"},
    {77, "?", true, WEIR_ERR_SERVER, "the server at h:1 failed with no status: ?"},
};

Test(explain, gives_each_failure_a_code_and_says_what_to_do)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct weir_failure failure = {
            .status = rows[i].status,
            .message = weir_str(rows[i].message),
            .target = "h:1",
            .deadline_ms = 20,
            .is_connected = rows[i].is_connected,
        };
        struct weir_error error;

        cr_assert_eq(weir_explain(&failure, &error), rows[i].code, "row %zu: %s", i, error.text);
        cr_assert_eq(error.code, rows[i].code, "row %zu", i);
        cr_assert_str_eq(error.text, rows[i].text, "row %zu: %s", i, error.text);
    }
}

Test(explain, bounds_what_a_server_says)
{
    static char message[1U << 16U];
    struct weir_error error;

    memset(message, 'm', sizeof message);

    const struct weir_failure failure = {
        .status = 13, .message = {message, sizeof message}, .target = "h:1"};

    cr_assert_eq(weir_explain(&failure, &error), WEIR_ERR_SERVER);
    cr_assert_eq(strlen(error.text), WEIR_ERROR_MAX);
    cr_assert_str_eq(&error.text[WEIR_ERROR_MAX - 4], "m...");
}
