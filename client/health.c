/* SPDX-License-Identifier: Apache-2.0 */
#include "health.h"

#include "error.h"

#include <stdlib.h>

#define STATUS_NOT_FOUND 5 /* of gRPC: how a check says that it does not know the service */

/* The request's bytes, to be freed; NULL when out of memory. */
static uint8_t *encode(struct weir_str service, size_t *out_len)
{
    const size_t len = weir_codec_health_size(service);
    uint8_t *bytes = malloc(len > 0 ? len : 1);

    if (bytes != NULL && !weir_codec_put_health(service, bytes, len)) {
        free(bytes);
        return NULL;
    }
    *out_len = len;
    return bytes;
}

typedef enum weir_err (*send_fn)(struct weir_stub *stub, const struct weir_call *call,
                                 struct weir_error *error);

/* Makes a call that is complete but for the request. */
static enum weir_err ask(struct weir_stub *stub, struct weir_str service, send_fn send,
                         struct weir_call *call, struct weir_error *error)
{
    uint8_t *bytes = encode(service, &call->len);

    if (bytes == NULL) {
        return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    call->bytes = bytes;

    const enum weir_err err = send(stub, call, error);

    free(bytes);
    return err;
}

static bool keep_health(void *arg, const uint8_t *bytes, size_t len)
{
    return weir_codec_get_health(bytes, len, arg);
}

enum weir_err weir_health_check(struct weir_stub *stub, struct weir_str service,
                                uint32_t deadline_ms, enum weir_health *out_health,
                                struct weir_error *error)
{
    int status = 0;
    struct weir_call call = {
        .method = WEIR_METHOD_HEALTH_CHECK,
        .deadline_ms = deadline_ms,
        .on_reply = keep_health,
        .arg = out_health,
        .out_status = &status,
    };
    const enum weir_err err = ask(stub, service, weir_stub_unary, &call, error);

    if (status == STATUS_NOT_FOUND) {
        *out_health = WEIR_HEALTH_SERVICE_UNKNOWN;
        return WEIR_OK;
    }
    return err;
}

struct watch {
    weir_health_fn on_change;
    void *arg;
};

static bool tell_health(void *arg, const uint8_t *bytes, size_t len)
{
    const struct watch *watch = arg;
    enum weir_health health;

    if (!weir_codec_get_health(bytes, len, &health)) {
        return false;
    }
    watch->on_change(watch->arg, health);
    return true;
}

enum weir_err weir_health_watch(struct weir_stub *stub, struct weir_str service,
                                weir_health_fn on_change, void *arg, struct weir_error *error)
{
    struct watch watch = {on_change, arg};
    struct weir_call call = {
        .method = WEIR_METHOD_HEALTH_WATCH,
        .deadline_ms = WEIR_NO_DEADLINE,
        .on_reply = tell_health,
        .arg = &watch,
    };
    const enum weir_err err = ask(stub, service, weir_stub_stream, &call, error);

    if (err == WEIR_OK) {
        return weir_error_set(error, WEIR_ERR_UNAVAILABLE,
                              "the server ended the watch: it is about to stop");
    }
    return err;
}
