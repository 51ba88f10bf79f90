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

/* C core tells the causes of a missing or lost connection only in words. */
struct cause {
    const char *needle;
    enum weir_err code;
    const char *before; /* what stands before the target */
    const char *after;  /* and after it */
};

static const struct cause unsent_causes[] = {
    {"Connection refused", WEIR_ERR_CONNECT, "connection refused at ", ": is weir running there?"},
    {"No such file or directory", WEIR_ERR_CONNECT, "no socket at ",
     ": is weir running, with this path?"},
    {"Permission denied", WEIR_ERR_CONNECT, "no permission to connect to ",
     ": check the socket's owner and mode"},
    {"DNS resolution failed", WEIR_ERR_CONNECT, "the name of ",
     " cannot be resolved: check its spelling and the resolver"},
    {"http1.x server", WEIR_ERR_PROTOCOL, "",
     " speaks HTTP/1: use the gRPC port, 8081 unless told otherwise"},
    {"Failed parsing HTTP/2", WEIR_ERR_PROTOCOL, "",
     " does not speak HTTP/2: is it weir's port, and without TLS?"},
    {"Socket closed", WEIR_ERR_CONNECT, "",
     " takes connections and ends them: is it weir's port, and without TLS?"},
    {"Broken pipe", WEIR_ERR_CONNECT, "",
     " takes connections and ends them: is it weir's port, and without TLS?"},
    {"Connection reset", WEIR_ERR_CONNECT, "",
     " takes connections and ends them: is it weir's port, and without TLS?"},
};

static const struct cause lost_causes[] = {
    {"Socket closed", WEIR_ERR_UNAVAILABLE, "the connection to ",
     " broke off: was the server stopped or restarted?"},
    {"Connection reset", WEIR_ERR_UNAVAILABLE, "the connection to ",
     " broke off: was the server stopped or restarted?"},
    {"Broken pipe", WEIR_ERR_UNAVAILABLE, "the connection to ",
     " broke off: was the server stopped or restarted?"},
};

static const struct cause *cause_find(struct weir_str message, const struct cause *causes,
                                      size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (has_text(message, causes[i].needle)) {
            return &causes[i];
        }
    }
    return NULL;
}

/* NULL when the words are the server's own, about its own troubles, or not known. */
static const struct cause *cause_of(const struct weir_failure *failure)
{
    if (!failure->was_sent) {
        return cause_find(failure->message, unsent_causes,
                          sizeof unsent_causes / sizeof unsent_causes[0]);
    }
    if (!failure->is_connected) {
        return cause_find(failure->message, lost_causes,
                          sizeof lost_causes / sizeof lost_causes[0]);
    }
    return NULL;
}

/* For a precision; a longer message would not fit in an error anyway. */
static int message_len(const struct weir_failure *failure)
{
    return failure->message.len < WEIR_ERROR_MAX ? (int) failure->message.len : WEIR_ERROR_MAX + 1;
}

bool weir_explain_is_unsent(struct weir_str message)
{
    return has_text(message, "failed to connect to all addresses") ||
           has_text(message, "DNS resolution failed");
}

static enum weir_err explain_unavailable(const struct weir_failure *failure,
                                         struct weir_error *error)
{
    const struct cause *cause = cause_of(failure);

    if (cause != NULL) {
        return weir_error_set(error, cause->code, "%s%s%s", cause->before, failure->target,
                              cause->after);
    }
    if (!failure->was_sent) {
        return weir_error_set(error, WEIR_ERR_CONNECT, "no connection to %s: %.*s", failure->target,
                              message_len(failure), failure->message.ptr);
    }
    return weir_error_set(error, WEIR_ERR_UNAVAILABLE,
                          "the server at %s cannot answer now, try later: %.*s", failure->target,
                          message_len(failure), failure->message.ptr);
}

static enum weir_err explain_deadline(const struct weir_failure *failure, struct weir_error *error)
{
    if (failure->was_sent) {
        return weir_error_set(error, WEIR_ERR_TIMEOUT,
                              "no answer from %s within %u ms: it is slow, or the deadline too "
                              "short",
                              failure->target, failure->deadline_ms);
    }
    return weir_error_set(
        error, WEIR_ERR_CONNECT,
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
