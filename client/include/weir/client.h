/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libweir asks a rate-limit service (Weir, or any server of envoy.service.ratelimit.v3) one
 * question: may this pass? It answers within a deadline, in one of three ways that are never mixed
 * up: admitted, refused, or no answer. In the last case the policy chosen when the client was made
 * decides, and the result says that it was the policy.
 *
 *     struct weir_request request;
 *     struct weir_result result;
 *
 *     weir_request_init(&request, weir_str("edge"));
 *     weir_request_descriptor(&request);
 *     weir_request_entry(&request, weir_str("user"), (struct weir_str){user, user_len});
 *     if (weir_check(client, &request, &result) != WEIR_OK) {
 *         log_line(result.error.text);
 *     }
 *     if (!weir_admits(&result)) {
 *         return too_many_requests(result.retry_after_ms);
 *     }
 *
 * weir_check waits; weir_check_async does not and hands the result to a callback.
 *
 * Threads: one client serves any number of threads at once. A request and a result are plain
 * values that belong to one thread at a time.
 *
 * Fork: a client is of no use in a child process, not even to be destroyed there, and neither is
 * gRPC once its process had a client. A program that forks makes its clients after the fork, in
 * each process its own; a child that executes another program at once may be forked at any time.
 */
#ifndef WEIR_CLIENT_H
#define WEIR_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define WEIR_API __attribute__((visibility("default")))
#define WEIR_MUST_USE __attribute__((warn_unused_result))
#else
#define WEIR_API
#define WEIR_MUST_USE
#endif

#define WEIR_DESCRIPTORS_MAX 8 /* a request, and statuses kept of a reply */
#define WEIR_ENTRIES_MAX 8     /* a descriptor */
#define WEIR_NAME_MAX 127      /* bytes of a limit's name that a result keeps */
#define WEIR_ERROR_MAX 255     /* bytes of an error's text */

/*
 * What can go wrong. After every one of them the client stays usable and may be shared on; nothing
 * has to be closed or made again. A request stays as it is and can be sent again, except after
 * WEIR_ERR_FULL and WEIR_ERR_INVALID from one of its own functions: start it anew.
 *
 * name         retry?  meaning
 * FULL         no      the builder's bounds are passed; use fewer descriptors or entries
 * INVALID      no      the caller's mistake: found here, or by the server, whose words are the text
 * TOO_LARGE    no      the server does not take a message of this size
 * TIMEOUT      no*     the deadline passed, and the server had the request; it may have counted it
 * UNAVAILABLE  later*  the server cannot decide now, or the connection broke off; it may have
 *                      counted the request
 * CONNECT      later   no connection: nobody listens, the name cannot be resolved, the peer hangs
 *                      up or never speaks. Nothing was sent, so nothing was counted. The client
 *                      connects again by itself, at the latest 2 s after the server is back
 * PROTOCOL     no      whoever answers at the target is no rate-limit service, or its reply makes
 *                      no sense
 * SERVER       no      the server failed in another way; the text names its status
 * MEMORY       later   out of memory
 * BUSY         later   as many asynchronous checks as the options allow are in flight
 * CANCELLED    no*     the client was destroyed before the answer came
 *
 * (*) Not the same request, unless it may be counted twice.
 */
#define WEIR_ERR_TABLE(X)                                                                          \
    X(WEIR_OK, "ok")                                                                               \
    X(WEIR_ERR_FULL, "full")                                                                       \
    X(WEIR_ERR_INVALID, "invalid")                                                                 \
    X(WEIR_ERR_TOO_LARGE, "too_large")                                                             \
    X(WEIR_ERR_TIMEOUT, "timeout")                                                                 \
    X(WEIR_ERR_UNAVAILABLE, "unavailable")                                                         \
    X(WEIR_ERR_PROTOCOL, "protocol")                                                               \
    X(WEIR_ERR_SERVER, "server")                                                                   \
    X(WEIR_ERR_MEMORY, "memory")                                                                   \
    X(WEIR_ERR_CONNECT, "connect")                                                                 \
    X(WEIR_ERR_BUSY, "busy")                                                                       \
    X(WEIR_ERR_CANCELLED, "cancelled")

enum weir_err {
#define WEIR_ERR_ENUMERATOR(name, word) name,
    WEIR_ERR_TABLE(WEIR_ERR_ENUMERATOR)
#undef WEIR_ERR_ENUMERATOR
};

/* A code, and one sentence that says what to do; "" with WEIR_OK. */
struct weir_error {
    enum weir_err code;
    char text[WEIR_ERROR_MAX + 1]; /* UTF-8, no control characters, NUL-terminated */
};

/* The code's word of the table above, for logs and metrics; never NULL. */
WEIR_API const char *weir_err_name(enum weir_err err);

/* Text with a length: it needs no NUL at its end and may hold one. Borrowed, never copied. */
struct weir_str {
    const char *ptr;
    size_t len;
};

static inline struct weir_str weir_str(const char *text)
{
    struct weir_str str;

    str.ptr = text;
    str.len = strlen(text);
    return str;
}

/* ---- The client ---- */

enum weir_policy {
    WEIR_FAIL_OPEN,   /* no answer: let it pass */
    WEIR_FAIL_CLOSED, /* no answer: refuse it */
};

/* All zero is a good start: every member has its default. */
struct weir_options {
    const char *target;   /* "host:port", "unix:path", "dns:///host:port"; NULL: 127.0.0.1:8081 */
    uint32_t deadline_ms; /* for one check, connecting and retries included; 0: 20 */
    enum weir_policy policy; /* when there is no answer */
    uint32_t attempts_max;   /* of one check; 0 and 1: it is never tried again */
    bool retries_sent;       /* try again also where the request may have been counted */
    uint32_t in_flight_max;  /* of asynchronous checks; 0: 1024 */
};

/*
 * Retries, with `attempts_max` of 2 and more, all within the one deadline:
 *  - after WEIR_ERR_CONNECT, when nothing can have been counted: the check waits for a connection,
 *    and fails as the first attempt did when none comes about;
 *  - after WEIR_ERR_UNAVAILABLE, only with `retries_sent`: at once. The request may then be counted
 *    once an attempt.
 * Nothing else is ever tried again.
 */

struct weir_client;

/*
 * Makes a client; `options` may be NULL. It connects at the first check, so a server that is not
 * there yet is no error. On failure `*out_client` is untouched and `error`, unless NULL, tells why:
 * WEIR_ERR_INVALID (a target or policy that cannot be), WEIR_ERR_MEMORY.
 *
 * Threads: any thread. It starts threads of gRPC's own, which inherit the caller's signal mask,
 * and the client's own, which takes no signals, watches the connection and runs callbacks.
 */
WEIR_API WEIR_MUST_USE enum weir_err weir_client_new(const struct weir_options *options,
                                                     struct weir_client **out_client,
                                                     struct weir_error *error);

/*
 * Closes the connection and frees all. Asynchronous checks in flight end with WEIR_ERR_CANCELLED
 * unless their answer is there; each callback has run when this returns. No weir_check and no other
 * function on this client may be under way. A callback of this client must not call it: that could
 * never end, so it says so on stderr and aborts the program. NULL is fine.
 */
WEIR_API void weir_client_destroy(struct weir_client *client);

/* ---- The request ---- */

enum weir_unit {
    WEIR_UNIT_UNKNOWN = 0,
    WEIR_UNIT_SECOND = 1,
    WEIR_UNIT_MINUTE = 2,
    WEIR_UNIT_HOUR = 3,
    WEIR_UNIT_DAY = 4,
    WEIR_UNIT_MONTH = 5,
    WEIR_UNIT_YEAR = 6,
    WEIR_UNIT_WEEK = 7,
};

/* "minute", "hour", …; "unknown" for any other number; never NULL. */
WEIR_API const char *weir_unit_name(enum weir_unit unit);

struct weir_entry {
    struct weir_str key;
    struct weir_str value;
};

/* Written by the functions below; the members are visible only so that no heap is needed. */
struct weir_descriptor {
    struct weir_entry entries[WEIR_ENTRIES_MAX];
    size_t entry_count;
    bool has_hits;
    bool is_refund;
    uint64_t hits;
    bool has_limit;
    uint32_t limit_requests;
    enum weir_unit limit_unit;
};

struct weir_request {
    struct weir_str domain;
    uint32_t hits; /* 0: one hit */
    enum weir_err err;
    size_t descriptor_count;
    struct weir_descriptor descriptors[WEIR_DESCRIPTORS_MAX];
};

/*
 * A request borrows all texts, which must outlive the check. They are UTF-8, as protobuf demands,
 * and of any length that the server takes (4 MiB a message unless it is told otherwise).
 *
 * The functions below return the request's first error and change nothing after it; the error
 * sticks, and weir_check returns it too, so looking there alone is enough.
 */
WEIR_API void weir_request_init(struct weir_request *request, struct weir_str domain);

/* Hits of each descriptor that does not say otherwise; 0 and the default mean one. */
WEIR_API void weir_request_hits(struct weir_request *request, uint32_t hits);

/* Begins a descriptor, which the functions below add to. WEIR_ERR_FULL beyond the eighth. */
WEIR_API enum weir_err weir_request_descriptor(struct weir_request *request);

/* Adds an entry; the value may be empty, the key not. WEIR_ERR_FULL beyond the eighth,
 * WEIR_ERR_INVALID without a descriptor or a key. */
WEIR_API enum weir_err weir_request_entry(struct weir_request *request, struct weir_str key,
                                          struct weir_str value);

/* Takes `hits` from the current descriptor's limits instead of the request's. 0 is a peek. */
WEIR_API enum weir_err weir_request_take(struct weir_request *request, uint64_t hits);

/* Looks at the current descriptor's limits and takes nothing. */
WEIR_API enum weir_err weir_request_peek(struct weir_request *request);

/* Gives `hits` back to the current descriptor's limits. */
WEIR_API enum weir_err weir_request_refund(struct weir_request *request, uint64_t hits);

/* Overrides the limit of the rule that the current descriptor matches. WEIR_ERR_INVALID for a unit
 * that has no name. In requests, 7 for a week has none in Envoy's protocol; Weir and
 * envoyproxy/ratelimit take it. */
WEIR_API enum weir_err weir_request_limit(struct weir_request *request, uint32_t requests,
                                          enum weir_unit unit);

/* ---- The result ---- */

enum weir_outcome {
    WEIR_NO_ANSWER, /* nobody decided; `policy_admits` is the policy's choice */
    WEIR_ADMITTED,  /* the service answered OK */
    WEIR_REFUSED,   /* the service answered OVER_LIMIT */
};

enum weir_code {
    WEIR_CODE_UNKNOWN = 0,
    WEIR_CODE_OK = 1,
    WEIR_CODE_OVER_LIMIT = 2,
};

/* "OK", "OVER_LIMIT", "UNKNOWN"; never NULL. */
WEIR_API const char *weir_code_name(enum weir_code code);

struct weir_limit {
    uint32_t requests;
    enum weir_unit unit;
    size_t name_len; /* of the rule's name as sent; beyond WEIR_NAME_MAX it is not kept */
    char name[WEIR_NAME_MAX + 1]; /* NUL-terminated; "" when there is none or it is too long */
};

/* What one descriptor of the request came to. */
struct weir_status {
    enum weir_code code;
    bool has_limit; /* false: no rule matched, or the rule is unlimited */
    bool has_reset;
    struct weir_limit limit;
    uint32_t remaining; /* UINT32_MAX without a limit: the rule is unlimited */
    int64_t reset_us;   /* until the window ends, >= 0 */
};

struct weir_result {
    enum weir_outcome outcome;
    bool policy_admits; /* of meaning only with WEIR_NO_ANSWER */
    enum weir_code overall_code;
    size_t status_count; /* one a descriptor, in the request's order */
    struct weir_status statuses[WEIR_DESCRIPTORS_MAX];
    uint64_t
        retry_after_ms; /* longest reset among the statuses that are over; 0: none or not known */
    struct weir_error error; /* why there is no answer */
};

/*
 * Asks, and waits for the answer until the client's deadline at the longest.
 *
 * `result` is always written, also on failure: then its outcome is WEIR_NO_ANSWER, its statuses are
 * none and its error has the code that is returned. Any status of gRPC but OK is such a failure,
 * and so is a reply without a clear verdict, so nothing is ever admitted or refused by mistake.
 *
 * WEIR_ERR_INVALID also stands for what the server itself calls an invalid argument.
 */
WEIR_API WEIR_MUST_USE enum weir_err weir_check(struct weir_client *client,
                                                const struct weir_request *request,
                                                struct weir_result *result);

/* Is given the result of one asynchronous check, which is valid during the call only. */
typedef void (*weir_result_fn)(void *arg, const struct weir_result *result);

/*
 * Asks, and does not wait. Returns WEIR_OK: `on_result` will be called exactly once, with the
 * result that weir_check would have written, within the client's deadline or as soon after as the
 * callbacks before it allow. Any other code: it will not be called, and `error`, unless NULL, tells
 * why: WEIR_ERR_FULL and WEIR_ERR_INVALID for the request, WEIR_ERR_BUSY beyond the options'
 * `in_flight_max`, WEIR_ERR_CANCELLED from a callback while the client is destroyed,
 * WEIR_ERR_MEMORY. Let the policy decide then.
 *
 * The request is copied, its texts too: they may go when this returns. `arg` is handed on as it is.
 *
 * Threads: any. All callbacks of a client run one after the other in the one thread of the client,
 * possibly before this function has returned to another thread. They must be short, since each
 * holds up the others and the connection; they may call weir_check_async. weir_check works there
 * but waits, and weir_client_destroy of the same client aborts.
 */
WEIR_API WEIR_MUST_USE enum weir_err weir_check_async(struct weir_client *client,
                                                      const struct weir_request *request,
                                                      weir_result_fn on_result, void *arg,
                                                      struct weir_error *error);

/* May it pass: by the service's answer, or by the policy where there is none. */
static inline bool weir_admits(const struct weir_result *result)
{
    return result->outcome == WEIR_ADMITTED ||
           (result->outcome == WEIR_NO_ANSWER && result->policy_admits);
}

#ifdef __cplusplus
}
#endif

#endif
