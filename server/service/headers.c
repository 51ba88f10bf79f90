/* SPDX-License-Identifier: Apache-2.0 */
#include "service/headers.h"

#include <inttypes.h>
#include <stdio.h>

#define N_HEADERS 3
#define US_PER_SECOND 1000000

static bool write_number(struct wr_arena *arena, int64_t number, struct wr_str *out_text)
{
    char text[24];
    const int len = snprintf(text, sizeof text, "%" PRId64, number);

    return wr_arena_copy(arena, (struct wr_str){.ptr = text, .len = (size_t) len}, out_text);
}

bool wr_headers_write(const struct wr_settings *settings, const struct wr_descriptor_status *status,
                      struct wr_arena *arena, struct wr_response *response)
{
    struct wr_header *const headers = wr_arena_calloc(arena, N_HEADERS, sizeof *headers);
    const int64_t reset_s = (status->reset_us + US_PER_SECOND - 1) / US_PER_SECOND;

    if (headers == NULL) {
        return false;
    }
    headers[0].name = settings->limit_header;
    headers[1].name = settings->remaining_header;
    headers[2].name = settings->reset_header;
    if (!write_number(arena, status->requests_per_unit, &headers[0].value) ||
        !write_number(arena, status->limit_remaining, &headers[1].value) ||
        !write_number(arena, reset_s, &headers[2].value)) {
        return false;
    }
    response->headers = headers;
    response->n_headers = N_HEADERS;
    return true;
}
