/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/health.h"

#include "grpc/health/v1/health.pb-c.h"
#include "wire/message.h"

/* Far beyond any name; bounds what protobuf-c allocates for unknown fields. */
#define MESSAGE_SIZE_MAX 16384

/* A row: the message of each part in one piece. */
struct row_parts {
    Grpc__Health__V1__HealthListResponse__StatusesEntry entry;
    Grpc__Health__V1__HealthCheckResponse response;
};

enum wr_err wr_health_request_decode(struct wr_str message, struct wr_arena *arena,
                                     struct wr_str *out_service)
{
    ProtobufCMessage *unpacked = NULL;

    if (message.len > MESSAGE_SIZE_MAX) {
        return WR_ERR_TOO_LARGE;
    }

    const enum wr_err err = wr_message_unpack(&grpc__health__v1__health_check_request__descriptor,
                                              message, arena, &unpacked);

    if (err != WR_OK) {
        return err;
    }

    const struct wr_str service =
        wr_str_of(((Grpc__Health__V1__HealthCheckRequest *) unpacked)->service);

    if (!wr_str_is_utf8(service)) {
        return WR_ERR_MALFORMED;
    }
    *out_service = service;
    return WR_OK;
}

static void fill_response(Grpc__Health__V1__HealthCheckResponse *message, enum wr_serving serving)
{
    grpc__health__v1__health_check_response__init(message);
    message->status = (Grpc__Health__V1__HealthCheckResponse__ServingStatus) serving;
}

bool wr_health_response_encode(enum wr_serving serving, struct wr_arena *arena,
                               struct wr_str *out_message)
{
    Grpc__Health__V1__HealthCheckResponse message;

    fill_response(&message, serving);
    return wr_message_pack(&message.base, arena, out_message);
}

bool wr_health_list_encode(const struct wr_health_row *rows, size_t n, struct wr_arena *arena,
                           struct wr_str *out_message)
{
    Grpc__Health__V1__HealthListResponse message;
    struct row_parts *const parts = wr_arena_calloc(arena, n, sizeof *parts);
    Grpc__Health__V1__HealthListResponse__StatusesEntry **const entries =
        wr_arena_calloc(arena, n, sizeof *entries);

    if (parts == NULL || entries == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        grpc__health__v1__health_list_response__statuses_entry__init(&parts[i].entry);
        fill_response(&parts[i].response, rows[i].serving);
        parts[i].entry.key = wr_message_text(arena, rows[i].service);
        parts[i].entry.value = &parts[i].response;
        entries[i] = &parts[i].entry;
        if (parts[i].entry.key == NULL) {
            return false;
        }
    }
    grpc__health__v1__health_list_response__init(&message);
    message.n_statuses = n;
    message.statuses = entries;
    return wr_message_pack(&message.base, arena, out_message);
}
