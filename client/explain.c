/* SPDX-License-Identifier: Apache-2.0 */
#include "explain.h"

#include "error.h"

/* Numbers of gRPC's protocol, doc/statuscodes.md there. */
enum {
    STATUS_INVALID_ARGUMENT = 3,
    STATUS_DEADLINE_EXCEEDED = 4,
    STATUS_RESOURCE_EXHAUSTED = 8,
    STATUS_UNIMPLEMENTED = 12,
    STATUS_UNAVAILABLE = 14,
};

static const char *const status_names[] = {
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
};

static const char *status_name(int status)
{
    const size_t index = (size_t) status;

    return index < sizeof status_names / sizeof status_names[0] ? status_names[index] : "no status";
}

/* Without GNU's memmem. */
static bool has_text(struct weir_str text, const char *needle)
{
    const size_t len = strlen(needle);

    for (size_t i = 0; i + len <= text.len; i++) {
        if (memcmp(&text.ptr[i], needle, len) == 0) {
            return true;
        }
    }
    return false;
}

/* C core tells the causes of a missing connection only in words. */
static const struct {
    const char *needle;
    enum weir_err code;
    const char *before; /* what stands before the target */
    const char *after;  /* and after it */
} causes[] = {
    {"Connection refused", WEIR_ERR_UNAVAILABLE, "connection refused at ",
     ": is weir running there?"},
    {"No such file or directory", WEIR_ERR_UNAVAILABLE, "no socket at ",
     ": is weir running, with this path?"},
    {"Permission denied", WEIR_ERR_UNAVAILABLE, "no permission to connect to ",
     ": check the socket's owner and mode"},
    {"DNS resolution failed", WEIR_ERR_UNAVAILABLE, "the name of ",
     " cannot be resolved: check its spelling and the resolver"},
    {"Socket closed", WEIR_ERR_UNAVAILABLE, "the connection to ",
     " broke off: was the server stopped or restarted?"},
    {"Connection reset", WEIR_ERR_UNAVAILABLE, "the connection to ",
     " broke off: was the server stopped or restarted?"},
    {"http1.x server", WEIR_ERR_PROTOCOL, "",
     " speaks HTTP/1: use the gRPC port, 8081 unless told otherwise"},
};

/* For a precision; a longer message would not fit in an error anyway. */
static int message_len(const struct weir_failure *failure)
{
    return failure->message.len < WEIR_ERROR_MAX ? (int) failure->message.len : WEIR_ERROR_MAX + 1;
}

static enum weir_err explain_unavailable(const struct weir_failure *failure,
                                         struct weir_error *error)
{
    /* With a connection the words are the server's own, about its own troubles. */
    for (size_t i = 0; !failure->is_connected && i < sizeof causes / sizeof causes[0]; i++) {
        if (has_text(failure->message, causes[i].needle)) {
            return weir_error_set(error, causes[i].code, "%s%s%s", causes[i].before,
                                  failure->target, causes[i].after);
        }
    }
    return weir_error_set(error, WEIR_ERR_UNAVAILABLE,
                          "the server at %s cannot answer now, try later: %.*s", failure->target,
                          message_len(failure), failure->message.ptr);
}

static enum weir_err explain_deadline(const struct weir_failure *failure, struct weir_error *error)
{
    if (failure->is_connected) {
        return weir_error_set(error, WEIR_ERR_TIMEOUT,
                              "no answer from %s within %u ms: it is slow, or the deadline too "
                              "short",
                              failure->target, failure->deadline_ms);
    }
    return weir_error_set(
        error, WEIR_ERR_TIMEOUT,
        "no connection to %s within %u ms: check host, port and firewall, or give "
        "it a longer deadline",
        failure->target, failure->deadline_ms);
}

enum weir_err weir_explain(const struct weir_failure *failure, struct weir_error *error)
{
    const char *message = failure->message.ptr;
    const int len = message_len(failure);

    switch (failure->status) {
    case STATUS_INVALID_ARGUMENT:
        return weir_error_set(error, WEIR_ERR_INVALID, "the server refuses the request: %.*s", len,
                              message);
    case STATUS_DEADLINE_EXCEEDED:
        return explain_deadline(failure, error);
    case STATUS_RESOURCE_EXHAUSTED:
        return weir_error_set(error, WEIR_ERR_TOO_LARGE,
                              "the request is more than the server takes: %.*s", len, message);
    case STATUS_UNIMPLEMENTED:
        return weir_error_set(error, WEIR_ERR_PROTOCOL,
                              "%s speaks gRPC but does not know this call: is it weir's port?",
                              failure->target);
    case STATUS_UNAVAILABLE:
        return explain_unavailable(failure, error);
    default:
        return weir_error_set(error, WEIR_ERR_SERVER, "the server at %s failed with %s: %.*s",
                              failure->target, status_name(failure->status), len, message);
    }
}
