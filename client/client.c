/* SPDX-License-Identifier: Apache-2.0 */
#include "weir/client.h"

#include "codec.h"
#include "error.h"
#include "stub.h"
#include "target.h"

#include <stdlib.h>

#define DEADLINE_DEFAULT_MS 20

/* Requests up to this size are encoded on the stack. */
#define STACK_BYTES 2048

struct weir_client {
    struct weir_stub *stub; /* owned */
    uint32_t deadline_ms;
    enum weir_policy policy;
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
        return weir_error_set(
            error, request->err,
            "the request was not built right: begin a descriptor before its "
            "entries, give each entry a key, and limits a unit from second to year");
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

static enum weir_err send_request(struct weir_client *client, const struct weir_request *request,
                                  uint8_t *bytes, size_t len, struct weir_result *result)
{
    const struct weir_call call = {
        .method = WEIR_METHOD_CHECK,
        .deadline_ms = client->deadline_ms,
        .bytes = bytes,
        .len = len,
        .on_reply = read_reply,
        .arg = result,
    };

    if (!weir_codec_put_request(request, bytes, len)) {
        return weir_error_set(&result->error, WEIR_ERR_INVALID,
                              "the request changed while it was sent: one thread at a time");
    }
    return weir_stub_unary(client->stub, &call, &result->error);
}

static enum weir_err exchange(struct weir_client *client, const struct weir_request *request,
                              struct weir_result *result)
{
    uint8_t stack[STACK_BYTES];
    const size_t len = weir_codec_request_size(request);
    uint8_t *bytes = len <= sizeof stack ? stack : malloc(len);

    if (bytes == NULL) {
        return weir_error_set(&result->error, WEIR_ERR_MEMORY, "out of memory");
    }

    const enum weir_err err = send_request(client, request, bytes, len, result);

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

enum weir_err weir_check(struct weir_client *client, const struct weir_request *request,
                         struct weir_result *result)
{
    forget_answer(result);
    result->policy_admits = client->policy == WEIR_FAIL_OPEN;
    weir_error_clear(&result->error);

    enum weir_err err = check_request(request, &result->error);

    if (err == WEIR_OK) {
        err = exchange(client, request, result);
    }
    if (err == WEIR_OK) {
        err = judge(result);
    }
    if (err != WEIR_OK) {
        forget_answer(result);
    }
    return err;
}
