/* SPDX-License-Identifier: Apache-2.0 */
#include "weir/client.h"

#include "codec.h"
#include "error.h"
#include "stub.h"
#include "target.h"

#include <stdlib.h>

#define DEADLINE_DEFAULT_MS 20
#define IN_FLIGHT_DEFAULT 1024

/* Requests up to this size are encoded on the stack. */
#define STACK_BYTES 2048

struct weir_client {
    struct weir_stub *stub; /* owned */
    uint32_t deadline_ms;
    enum weir_policy policy;
    uint32_t attempts_max;
    bool retries_sent;
    uint32_t in_flight_max;
    struct weir_result scratch; /* of the stub's thread alone, for one callback after the other */
};

enum weir_err weir_client_new(const struct weir_options *options, struct weir_client **out_client,
                              struct weir_error *error)
{
    const struct weir_options chosen = options != NULL ? *options : (struct weir_options){0};
    const char *target = chosen.target != NULL ? chosen.target : WEIR_TARGET_DEFAULT;

    if (chosen.policy != WEIR_FAIL_OPEN && chosen.policy != WEIR_FAIL_CLOSED) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "policy %d is none: use WEIR_FAIL_OPEN or WEIR_FAIL_CLOSED",
                              (int) chosen.policy);
    }

    struct weir_client *client = malloc(sizeof *client);

    if (client == NULL) {
        return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    client->deadline_ms = chosen.deadline_ms != 0 ? chosen.deadline_ms : DEADLINE_DEFAULT_MS;
    client->policy = chosen.policy;
    client->attempts_max = chosen.attempts_max;
    client->retries_sent = chosen.retries_sent;
    client->in_flight_max = chosen.in_flight_max != 0 ? chosen.in_flight_max : IN_FLIGHT_DEFAULT;

    const enum weir_err err = weir_stub_new(target, &client->stub, error);

    if (err != WEIR_OK) {
        free(client);
        return err;
    }
    *out_client = client;
    return WEIR_OK;
}

void weir_client_destroy(struct weir_client *client)
{
    if (client == NULL) {
        return;
    }
    weir_stub_destroy(client->stub);
    free(client);
}

static enum weir_err check_request(const struct weir_request *request, struct weir_error *error)
{
    if (request->err == WEIR_ERR_FULL) {
        return weir_error_set(
            error, WEIR_ERR_FULL,
            "the request has more than %d descriptors, or more than %d entries in "
            "one: use fewer",
            WEIR_DESCRIPTORS_MAX, WEIR_ENTRIES_MAX);
    }
    if (request->err != WEIR_OK) {
        return weir_error_set(error, request->err,
                              "the request was not built right: begin a descriptor before its "
                              "entries, give each entry a key, and limits a unit that has a name");
    }
    if (request->domain.len == 0) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "the domain is empty: name the set of rules to look in");
    }
    if (request->descriptor_count == 0) {
        return weir_error_set(error, WEIR_ERR_INVALID,
                              "the request has no descriptor: say what is to be counted");
    }
    return WEIR_OK;
}

static bool read_reply(void *arg, const uint8_t *bytes, size_t len)
{
    return weir_codec_get_reply(bytes, len, arg);
}

/* What to do with a request that is encoded. */
typedef enum weir_err (*send_fn)(struct weir_client *client, struct weir_call *call, void *arg,
                                 struct weir_error *error);

static enum weir_err encode_and_send(struct weir_client *client, const struct weir_request *request,
                                     send_fn send, void *arg, struct weir_error *error)
{
    uint8_t stack[STACK_BYTES];
    const size_t len = weir_codec_request_size(request);
    uint8_t *bytes = len <= sizeof stack ? stack : malloc(len);
    struct weir_call call = {
        .method = WEIR_METHOD_CHECK,
        .deadline_ms = client->deadline_ms,
        .attempts_max = client->attempts_max,
        .retries_sent = client->retries_sent,
        .bytes = bytes,
        .len = len,
    };
    enum weir_err err;

    if (bytes == NULL) {
        return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    if (weir_codec_put_request(request, bytes, len)) {
        err = send(client, &call, arg, error);
    } else {
        err = weir_error_set(error, WEIR_ERR_INVALID,
                             "the request changed while it was sent: one thread at a time");
    }
    if (bytes != stack) {
        free(bytes);
    }
    return err;
}

/* Only OK and OVER_LIMIT are verdicts; a service that says anything else has not decided. */
static enum weir_err judge(struct weir_result *result)
{
    if (result->overall_code == WEIR_CODE_OK) {
        result->outcome = WEIR_ADMITTED;
        return WEIR_OK;
    }
    if (result->overall_code == WEIR_CODE_OVER_LIMIT) {
        result->outcome = WEIR_REFUSED;
        return WEIR_OK;
    }
    return weir_error_set(&result->error, WEIR_ERR_PROTOCOL,
                          "the reply has no verdict (overall code %d): is the target a rate-limit "
                          "service?",
                          (int) result->overall_code);
}

static void forget_answer(struct weir_result *result)
{
    result->outcome = WEIR_NO_ANSWER;
    result->overall_code = WEIR_CODE_UNKNOWN;
    result->status_count = 0;
    result->retry_after_ms = 0;
}

static void begin_result(const struct weir_client *client, struct weir_result *result)
{
    forget_answer(result);
    result->policy_admits = client->policy == WEIR_FAIL_OPEN;
    weir_error_clear(&result->error);
}

/* What was read becomes an answer, or none. */
static enum weir_err end_result(struct weir_result *result, enum weir_err err)
{
    if (err == WEIR_OK) {
        err = judge(result);
    }
    if (err != WEIR_OK) {
        forget_answer(result);
    }
    return err;
}

/* ---- Waiting ---- */

static enum weir_err send_and_wait(struct weir_client *client, struct weir_call *call, void *arg,
                                   struct weir_error *error)
{
    call->on_reply = read_reply;
    call->arg = arg;
    return weir_stub_unary(client->stub, call, error);
}

enum weir_err weir_check(struct weir_client *client, const struct weir_request *request,
                         struct weir_result *result)
{
    begin_result(client, result);

    enum weir_err err = check_request(request, &result->error);

    if (err == WEIR_OK) {
        err = encode_and_send(client, request, send_and_wait, result, &result->error);
    }
    return end_result(result, err);
}

/* ---- Not waiting ---- */

/* What a check in flight needs at its end; owned by the stub's call meanwhile. */
struct pending {
    struct weir_client *client;
    weir_result_fn on_result;
    void *arg;
};

/* Replies are read into the one scratch result, just before their callback. */
static bool read_pending(void *arg, const uint8_t *bytes, size_t len)
{
    const struct pending *pending = arg;

    return weir_codec_get_reply(bytes, len, &pending->client->scratch);
}

static void end_pending(void *arg, enum weir_err err, const struct weir_error *error)
{
    struct pending *pending = arg;
    struct weir_result *result = &pending->client->scratch;

    result->policy_admits = pending->client->policy == WEIR_FAIL_OPEN;
    weir_error_clear(&result->error);
    if (err != WEIR_OK) {
        result->error = *error;
    }
    end_result(result, err);
    pending->on_result(pending->arg, result);
    free(pending);
}

/* Takes the pending check over, at `arg`, when the stub takes the call. */
static enum weir_err send_and_return(struct weir_client *client, struct weir_call *call, void *arg,
                                     struct weir_error *error)
{
    struct pending **pending = arg;

    call->on_reply = read_pending;
    call->arg = *pending;

    const enum weir_err err =
        weir_stub_start(client->stub, call, end_pending, client->in_flight_max, error);

    if (err == WEIR_OK) {
        *pending = NULL;
    }
    return err;
}

enum weir_err weir_check_async(struct weir_client *client, const struct weir_request *request,
                               weir_result_fn on_result, void *arg, struct weir_error *error)
{
    enum weir_err err = check_request(request, error);

    if (err != WEIR_OK) {
        return err;
    }

    struct pending *pending = malloc(sizeof *pending);

    if (pending == NULL) {
        return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    *pending = (struct pending){client, on_result, arg};
    err = encode_and_send(client, request, send_and_return, &pending, error);
    free(pending);
    return err;
}
