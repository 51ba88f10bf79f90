/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/response.h"

#include <stddef.h>
#include <string.h>

#include "envoy/service/ratelimit/v3/rls.pb-c.h"
#include "wire/duration.h"
#include "wire/message.h"
#include "wire/metadata.h"

/* A status: the message of each part in one piece. */
struct status_parts {
    Envoy__Service__Ratelimit__V3__RateLimitResponse__DescriptorStatus status;
    Envoy__Service__Ratelimit__V3__RateLimitResponse__RateLimit limit;
    Google__Protobuf__Duration reset;
};

static bool fill_status(struct status_parts *parts, const struct wr_descriptor_status *status,
                        struct wr_arena *arena)
{
    envoy__service__ratelimit__v3__rate_limit_response__descriptor_status__init(&parts->status);
    parts->status.code = (Envoy__Service__Ratelimit__V3__RateLimitResponse__Code) status->code;
    parts->status.limit_remaining = status->limit_remaining;
    if (!status->has_limit) {
        return true;
    }

    envoy__service__ratelimit__v3__rate_limit_response__rate_limit__init(&parts->limit);
    parts->limit.requests_per_unit = status->requests_per_unit;
    parts->limit.unit =
        (Envoy__Service__Ratelimit__V3__RateLimitResponse__RateLimit__Unit) status->unit;
    parts->status.current_limit = &parts->limit;

    wr_duration_set(&parts->reset, status->reset_us);
    parts->status.duration_until_reset = &parts->reset;

    if (status->name.len > 0) {
        parts->limit.name = wr_message_text(arena, status->name);
    }
    return parts->limit.name != NULL;
}

static bool fill_statuses(Envoy__Service__Ratelimit__V3__RateLimitResponse *message,
                          const struct wr_response *response, struct wr_arena *arena)
{
    const size_t n = response->n_statuses;
    struct status_parts *const parts = wr_arena_alloc(arena, n * sizeof *parts);
    Envoy__Service__Ratelimit__V3__RateLimitResponse__DescriptorStatus **const statuses =
        wr_arena_alloc(arena, n * sizeof *statuses);

    if (parts == NULL || statuses == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        statuses[i] = &parts[i].status;
        if (!fill_status(&parts[i], &response->statuses[i], arena)) {
            return false;
        }
    }
    message->n_statuses = n;
    message->statuses = statuses;
    return true;
}

/* The characters of a token of HTTP (RFC 9110, 5.6.2). */
static bool is_token(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Envoy copies names and values into HTTP without a look: what could end a header becomes '-' in a
 * name and a space in a value. */
static bool fill_header(Envoy__Config__Core__V3__HeaderValue *message,
                        const struct wr_header *header, struct wr_arena *arena)
{
    envoy__config__core__v3__header_value__init(message);
    message->key = wr_message_text(arena, header->name);
    message->value = wr_message_text(arena, header->value);
    if (message->key == NULL || message->value == NULL) {
        return false;
    }
    for (char *c = message->key; *c != '\0'; c++) {
        *c = is_token(*c) ? *c : '-';
    }
    for (char *c = message->value; *c != '\0'; c++) {
        *c = (unsigned char) *c < 0x20 || *c == 0x7f ? ' ' : *c;
    }
    return true;
}

static bool fill_headers(Envoy__Service__Ratelimit__V3__RateLimitResponse *message,
                         const struct wr_response *response, struct wr_arena *arena)
{
    const size_t n = response->n_headers;
    Envoy__Config__Core__V3__HeaderValue *const headers =
        wr_arena_alloc(arena, n * sizeof *headers);
    Envoy__Config__Core__V3__HeaderValue **const pointers =
        wr_arena_alloc(arena, n * sizeof *pointers);

    if (headers == NULL || pointers == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        pointers[i] = &headers[i];
        if (!fill_header(&headers[i], &response->headers[i], arena)) {
            return false;
        }
    }
    message->n_response_headers_to_add = n;
    message->response_headers_to_add = pointers;
    return true;
}

bool wr_response_encode(const struct wr_response *response, struct wr_arena *arena,
                        struct wr_str *out_message)
{
    Envoy__Service__Ratelimit__V3__RateLimitResponse message;

    envoy__service__ratelimit__v3__rate_limit_response__init(&message);
    message.overall_code =
        (Envoy__Service__Ratelimit__V3__RateLimitResponse__Code) response->overall_code;
    if (!fill_statuses(&message, response, arena) || !fill_headers(&message, response, arena)) {
        return false;
    }
    if (response->dynamic_metadata != NULL) {
        message.dynamic_metadata = wr_metadata_message(response->dynamic_metadata, arena);
        if (message.dynamic_metadata == NULL) {
            return false;
        }
    }
    return wr_message_pack(&message.base, arena, out_message);
}
