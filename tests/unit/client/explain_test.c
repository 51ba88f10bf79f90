/* SPDX-License-Identifier: Apache-2.0 */
#include "client/explain.h"

#include <criterion/criterion.h>

/* How far the call came. */
enum way { UNSENT, LOST, CONNECTED };

static const struct {
    int status;
    const char *message;
    enum way way;
    enum weir_err code;
    const char *text;
} rows[] = {
    {14,
     "failed to connect to all addresses; last error: UNKNOWN: ipv4:127.0.0.1:1: Failed to connect "
     "to remote host: Connection refused",
     UNSENT, WEIR_ERR_CONNECT, "connection refused at h:1: is weir running there?"},
    {14, "unix:/x: No such file or directory", UNSENT, WEIR_ERR_CONNECT,
     "no socket at h:1: is weir running, with this path?"},
    {14, "Permission denied", UNSENT, WEIR_ERR_CONNECT,
     "no permission to connect to h:1: check the socket's owner and mode"},
    {14, "DNS resolution failed for h:1: C-ares status is not ARES_SUCCESS", UNSENT,
     WEIR_ERR_CONNECT, "the name of h:1 cannot be resolved: check its spelling and the resolver"},
    {14, "Socket closed", LOST, WEIR_ERR_UNAVAILABLE,
     "the connection to h:1 broke off: was the server stopped or restarted?"},
    {14, "recvmsg:Connection reset by peer", LOST, WEIR_ERR_UNAVAILABLE,
     "the connection to h:1 broke off: was the server stopped or restarted?"},
    {14, "sendmsg: Broken pipe", LOST, WEIR_ERR_UNAVAILABLE,
     "the connection to h:1 broke off: was the server stopped or restarted?"},
    {14, "Trying to connect an http1.x server", UNSENT, WEIR_ERR_PROTOCOL,
     "h:1 speaks HTTP/1: use the gRPC port, 8081 unless told otherwise"},
    {14, "redis: Connection refused", CONNECTED, WEIR_ERR_UNAVAILABLE,
     "the server at h:1 cannot answer now, try later: redis: Connection refused"},
    {14, "no rules yet", CONNECTED, WEIR_ERR_UNAVAILABLE,
     "the server at h:1 cannot answer now, try later: no rules yet"},
    {4, "Deadline Exceeded", CONNECTED, WEIR_ERR_TIMEOUT,
     "no answer from h:1 within 20 ms: it is slow, or the deadline too short"},
    {4, "Deadline Exceeded", UNSENT, WEIR_ERR_CONNECT,
     "no connection to h:1 within 20 ms: check host, port and firewall, or give it a longer "
     "deadline"},
    {3, "domain is empty", CONNECTED, WEIR_ERR_INVALID,
     "the server refuses the request: domain is empty"},
    {8, "over 4 MiB", CONNECTED, WEIR_ERR_TOO_LARGE,
     "the request is more than the server takes: over 4 MiB"},
    {12, "", CONNECTED, WEIR_ERR_PROTOCOL,
     "h:1 speaks gRPC but does not know this call: is it weir's port?"},
    {13, "boom", CONNECTED, WEIR_ERR_SERVER, "the server at h:1 failed with INTERNAL: boom"},
    {1, "", CONNECTED, WEIR_ERR_SERVER, "the server at h:1 failed with CANCELLED: "},
    {16, "who?", CONNECTED, WEIR_ERR_SERVER, "the server at h:1 failed with UNAUTHENTICATED: who?"},
    {77, "?", CONNECTED, WEIR_ERR_SERVER, "the server at h:1 failed with no status: ?"},
    {14, "failed to connect to all addresses; last error: UNKNOWN: Socket closed", UNSENT,
     WEIR_ERR_CONNECT, "h:1 takes connections and ends them: is it weir's port, and without TLS?"},
    {14, "recvmsg:Connection reset by peer", UNSENT, WEIR_ERR_CONNECT,
     "h:1 takes connections and ends them: is it weir's port, and without TLS?"},
    {14, "last error: UNAVAILABLE: ipv4:127.0.0.1:1: Failed parsing HTTP/2", UNSENT,
     WEIR_ERR_PROTOCOL, "h:1 does not speak HTTP/2: is it weir's port, and without TLS?"},
    {14, "no route to host", UNSENT, WEIR_ERR_CONNECT, "no connection to h:1: no route to host"},
    {14, "redis: Connection refused", LOST, WEIR_ERR_UNAVAILABLE,
     "the server at h:1 cannot answer now, try later: redis: Connection refused"},
    {4, "Deadline Exceeded", LOST, WEIR_ERR_TIMEOUT,
     "no answer from h:1 within 20 ms: it is slow, or the deadline too short"},
};

Test(explain, gives_each_failure_a_code_and_says_what_to_do)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct weir_failure failure = {
            .status = rows[i].status,
            .message = weir_str(rows[i].message),
            .target = "h:1",
            .deadline_ms = 20,
            .was_sent = rows[i].way != UNSENT,
            .is_connected = rows[i].way == CONNECTED,
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

Test(explain, takes_for_unsent_only_what_surely_is)
{
    cr_assert(weir_explain_is_unsent(
        weir_str("failed to connect to all addresses; last error: UNKNOWN: Socket closed")));
    cr_assert(weir_explain_is_unsent(weir_str("DNS resolution failed for h:1: no")));
    cr_assert_not(weir_explain_is_unsent(weir_str("Socket closed")));
    cr_assert_not(weir_explain_is_unsent(weir_str("recvmsg:Connection reset by peer")));
    cr_assert_not(weir_explain_is_unsent(weir_str("GOAWAY received")));
    cr_assert_not(weir_explain_is_unsent(weir_str("")));
}
