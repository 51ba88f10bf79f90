/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nanopb calls back for every field without a bound. Its arguments are not const, so a callback
 * gets the address of a variable that points to the borrowed data.
 */
#include "codec.h"

#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <grpc/health/v1/health.pb.h>
#include <pb_decode.h>
#include <pb_encode.h>

typedef envoy_service_ratelimit_v3_RateLimitRequest rls_request;
typedef envoy_service_ratelimit_v3_RateLimitResponse rls_reply;
typedef envoy_service_ratelimit_v3_RateLimitResponse_DescriptorStatus rls_status;
typedef envoy_extensions_common_ratelimit_v3_RateLimitDescriptor rls_descriptor;
typedef envoy_extensions_common_ratelimit_v3_RateLimitDescriptor_Entry rls_entry;

#define RLS_REQUEST_FIELDS envoy_service_ratelimit_v3_RateLimitRequest_fields
#define RLS_REPLY_FIELDS envoy_service_ratelimit_v3_RateLimitResponse_fields
#define RLS_STATUS_FIELDS envoy_service_ratelimit_v3_RateLimitResponse_DescriptorStatus_fields
#define RLS_DESCRIPTOR_FIELDS envoy_extensions_common_ratelimit_v3_RateLimitDescriptor_fields
#define RLS_ENTRY_FIELDS envoy_extensions_common_ratelimit_v3_RateLimitDescriptor_Entry_fields

/* ---- Requests ---- */

/* An empty text is left out, as everywhere in proto3. */
static bool put_text(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
    const struct weir_str *text = *arg;

    if (text->len == 0) {
        return true;
    }
    return pb_encode_tag_for_field(stream, field) &&
           pb_encode_string(stream, (const pb_byte_t *) text->ptr, text->len);
}

static bool put_entries(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
    const struct weir_descriptor *const *source = *arg;

    for (size_t i = 0; i < (*source)->entry_count; i++) {
        struct weir_entry entry = (*source)->entries[i];
        const rls_entry message = {
            .key = {.funcs.encode = put_text, .arg = &entry.key},
            .value = {.funcs.encode = put_text, .arg = &entry.value},
        };

        if (!pb_encode_tag_for_field(stream, field) ||
            !pb_encode_submessage(stream, RLS_ENTRY_FIELDS, &message)) {
            return false;
        }
    }
    return true;
}

static rls_descriptor descriptor_message(const struct weir_descriptor *descriptor)
{
    rls_descriptor message = {.is_negative_hits = descriptor->is_refund};

    if (descriptor->has_hits) {
        message.has_hits_addend = true;
        message.hits_addend.value = descriptor->hits;
    }
    if (descriptor->has_limit) {
        message.has_limit = true;
        message.limit.requests_per_unit = descriptor->limit_requests;
        message.limit.unit = (envoy_type_v3_RateLimitUnit) descriptor->limit_unit;
    }
    return message;
}

static bool put_descriptors(pb_ostream_t *stream, const pb_field_t *field, void *const *arg)
{
    const struct weir_request *const *source = *arg;

    for (size_t i = 0; i < (*source)->descriptor_count; i++) {
        const struct weir_descriptor *descriptor = &(*source)->descriptors[i];
        rls_descriptor message = descriptor_message(descriptor);

        message.entries = (pb_callback_t){.funcs.encode = put_entries, .arg = &descriptor};
        if (!pb_encode_tag_for_field(stream, field) ||
            !pb_encode_submessage(stream, RLS_DESCRIPTOR_FIELDS, &message)) {
            return false;
        }
    }
    return true;
}

static bool put_request(pb_ostream_t *stream, const struct weir_request *request)
{
    struct weir_str domain = request->domain;
    const rls_request message = {
        .domain = {.funcs.encode = put_text, .arg = &domain},
        .descriptors = {.funcs.encode = put_descriptors, .arg = &request},
        .hits_addend = request->hits,
    };

    return pb_encode(stream, RLS_REQUEST_FIELDS, &message);
}

size_t weir_codec_request_size(const struct weir_request *request)
{
    pb_ostream_t sizing = PB_OSTREAM_SIZING;

    return put_request(&sizing, request) ? sizing.bytes_written : 0;
}

bool weir_codec_put_request(const struct weir_request *request, uint8_t *bytes, size_t len)
{
    pb_ostream_t stream = pb_ostream_from_buffer(bytes, len);

    return put_request(&stream, request) && stream.bytes_written == len;
}

/* ---- Replies ---- */

/* Keeps a name that fits whole; of another only the length. */
static bool get_name(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
    struct weir_limit *limit = *arg;
    const size_t len = stream->bytes_left;

    (void) field;
    limit->name[0] = '\0';
    limit->name_len = len;
    if (len > WEIR_NAME_MAX) {
        return pb_read(stream, NULL, len);
    }
    limit->name[len] = '\0';
    return pb_read(stream, (pb_byte_t *) limit->name, len);
}

/* Microseconds, rounded up. Protobuf bounds a Duration to 10 000 years; so do we, and below to 0.
 */
static int64_t duration_us(const google_protobuf_Duration *duration)
{
    const int64_t seconds_max = INT64_C(315576000000);

    if (duration->seconds < 0 || duration->nanos < 0) {
        return 0;
    }
    if (duration->seconds >= seconds_max) {
        return seconds_max * 1000000;
    }
    return duration->seconds * 1000000 + (duration->nanos + INT64_C(999)) / 1000;
}

static void status_from_message(const rls_status *message, struct weir_status *status)
{
    status->code = (enum weir_code) message->code;
    status->has_limit = message->has_current_limit;
    status->limit.requests = message->current_limit.requests_per_unit;
    status->limit.unit = (enum weir_unit) message->current_limit.unit;
    status->remaining = message->limit_remaining;
    status->has_reset = message->has_duration_until_reset;
    status->reset_us = duration_us(&message->duration_until_reset);
}

static void keep_retry_after(const struct weir_status *status, struct weir_result *result)
{
    const uint64_t reset_ms = ((uint64_t) status->reset_us + 999) / 1000;

    if (status->code == WEIR_CODE_OVER_LIMIT && reset_ms > result->retry_after_ms) {
        result->retry_after_ms = reset_ms;
    }
}

/* Statuses beyond the eighth are left unread, and nanopb skips them. */
static bool get_status(pb_istream_t *stream, const pb_field_t *field, void **arg)
{
    struct weir_result *result = *arg;

    (void) field;
    if (result->status_count == WEIR_DESCRIPTORS_MAX) {
        return true;
    }

    struct weir_status *status = &result->statuses[result->status_count];
    rls_status message = {
        .current_limit.name = {.funcs.decode = get_name, .arg = &status->limit},
    };

    status->limit.name[0] = '\0';
    status->limit.name_len = 0;
    if (!pb_decode(stream, RLS_STATUS_FIELDS, &message)) {
        return false;
    }
    status_from_message(&message, status);
    keep_retry_after(status, result);
    result->status_count++;
    return true;
}

bool weir_codec_get_reply(const uint8_t *bytes, size_t len, struct weir_result *out)
{
    pb_istream_t stream = pb_istream_from_buffer(bytes, len);
    rls_reply message = {.statuses = {.funcs.decode = get_status, .arg = out}};

    out->status_count = 0;
    out->retry_after_ms = 0;

    const bool ok = pb_decode(&stream, RLS_REPLY_FIELDS, &message);

    out->overall_code = (enum weir_code) message.overall_code;
    return ok;
}

enum weir_code weir_codec_get_verdict(const uint8_t *bytes, size_t len)
{
    pb_istream_t stream = pb_istream_from_buffer(bytes, len);
    uint64_t code = WEIR_CODE_UNKNOWN;
    pb_wire_type_t type;
    uint32_t tag;
    bool is_end;

    while (pb_decode_tag(&stream, &type, &tag, &is_end)) {
        const bool is_code = tag == envoy_service_ratelimit_v3_RateLimitResponse_overall_code_tag &&
                             type == PB_WT_VARINT;

        if (is_code ? !pb_decode_varint(&stream, &code) : !pb_skip_field(&stream, type)) {
            break;
        }
    }
    return code <= WEIR_CODE_OVER_LIMIT ? (enum weir_code) code : WEIR_CODE_UNKNOWN;
}

/* ---- Health ---- */

static bool put_health(pb_ostream_t *stream, struct weir_str service)
{
    const grpc_health_v1_HealthCheckRequest message = {
        .service = {.funcs.encode = put_text, .arg = &service},
    };

    return pb_encode(stream, grpc_health_v1_HealthCheckRequest_fields, &message);
}

size_t weir_codec_health_size(struct weir_str service)
{
    pb_ostream_t sizing = PB_OSTREAM_SIZING;

    return put_health(&sizing, service) ? sizing.bytes_written : 0;
}

bool weir_codec_put_health(struct weir_str service, uint8_t *bytes, size_t len)
{
    pb_ostream_t stream = pb_ostream_from_buffer(bytes, len);

    return put_health(&stream, service) && stream.bytes_written == len;
}

bool weir_codec_get_health(const uint8_t *bytes, size_t len, enum weir_health *out_health)
{
    pb_istream_t stream = pb_istream_from_buffer(bytes, len);
    grpc_health_v1_HealthCheckResponse message = {0};

    if (!pb_decode(&stream, grpc_health_v1_HealthCheckResponse_fields, &message)) {
        return false;
    }

    const unsigned int status = (unsigned int) message.status;

    *out_health =
        status <= WEIR_HEALTH_SERVICE_UNKNOWN ? (enum weir_health) status : WEIR_HEALTH_UNKNOWN;
    return true;
}
