/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/error_details.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "google/rpc/error_details.pb-c.h"
#include "google/rpc/status.pb-c.h"
#include "wire/duration.h"
#include "wire/message.h"

#define DETAILS_MAX 2

/* Packs `message` into `any`, under the name that the official libraries look for. */
static bool wrap(const ProtobufCMessage *message, struct wr_arena *arena,
                 Google__Protobuf__Any *any)
{
    static const struct wr_str prefix = WR_STR("type.googleapis.com/");
    const struct wr_str name = wr_str_of(message->descriptor->name);
    char *const url = wr_arena_alloc(arena, prefix.len + name.len + 1);
    struct wr_str bytes = {NULL, 0};

    if (url == NULL || !wr_message_pack(message, arena, &bytes)) {
        return false;
    }
    memcpy(url, prefix.ptr, prefix.len);
    memcpy(url + prefix.len, name.ptr, name.len + 1);
    google__protobuf__any__init(any);
    any->type_url = url;
    any->value = (ProtobufCBinaryData){
        .len = bytes.len, .data = (uint8_t *) (uintptr_t) bytes.ptr /* is only read */
    };
    return true;
}

static bool wrap_bad_request(const struct wr_failure *failure, char *description,
                             struct wr_arena *arena, Google__Protobuf__Any *any)
{
    Google__Rpc__BadRequest__FieldViolation violation;
    Google__Rpc__BadRequest__FieldViolation *violations[] = {&violation};
    Google__Rpc__BadRequest message;

    google__rpc__bad_request__field_violation__init(&violation);
    violation.field = wr_message_text(arena, failure->field);
    violation.description = description;
    google__rpc__bad_request__init(&message);
    message.n_field_violations = 1;
    message.field_violations = violations;
    return violation.field != NULL && wrap(&message.base, arena, any);
}

static bool wrap_retry_info(const struct wr_failure *failure, struct wr_arena *arena,
                            Google__Protobuf__Any *any)
{
    Google__Protobuf__Duration delay;
    Google__Rpc__RetryInfo message;

    wr_duration_set(&delay, failure->retry_us);
    google__rpc__retry_info__init(&message);
    message.retry_delay = &delay;
    return wrap(&message.base, arena, any);
}

bool wr_error_details_encode(const struct wr_failure *failure, struct wr_arena *arena,
                             struct wr_str *out_details)
{
    Google__Protobuf__Any anys[DETAILS_MAX];
    Google__Protobuf__Any *details[DETAILS_MAX] = {&anys[0], &anys[1]};
    Google__Rpc__Status status;

    google__rpc__status__init(&status);
    status.code = (int32_t) failure->status;
    status.details = details;
    status.message = wr_message_text(arena, failure->message);
    if (status.message == NULL) {
        return false;
    }
    if ((failure->field.len > 0 || failure->status == WR_STATUS_INVALID_ARGUMENT) &&
        !wrap_bad_request(failure, status.message, arena, details[status.n_details++])) {
        return false;
    }
    if (failure->retry_us > 0 && !wrap_retry_info(failure, arena, details[status.n_details++])) {
        return false;
    }
    if (status.n_details == 0) {
        *out_details = (struct wr_str){.ptr = "", .len = 0};
        return true;
    }
    return wr_message_pack(&status.base, arena, out_details);
}
