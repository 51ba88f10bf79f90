/* SPDX-License-Identifier: Apache-2.0 */
#include "service/headers.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_HEADERS 4
#define US_PER_SECOND 1000000

static bool write_number(struct wr_arena *arena, int64_t number, struct wr_str *out_text)
{
    char text[24];
    const int len = snprintf(text, sizeof text, "%" PRId64, number);

    return wr_arena_copy(arena, (struct wr_str){.ptr = text, .len = (size_t) len}, out_text);
}

static bool write_limit(const struct wr_settings *settings,
                        const struct wr_descriptor_status *status, struct wr_arena *arena,
                        struct wr_header *headers)
{
    const int64_t reset_s = (status->reset_us + US_PER_SECOND - 1) / US_PER_SECOND;

    headers[0].name = settings->limit_header;
    headers[1].name = settings->remaining_header;
    headers[2].name = settings->reset_header;
    return write_number(arena, status->requests_per_unit, &headers[0].value) &&
           write_number(arena, status->limit_remaining, &headers[1].value) &&
           write_number(arena, reset_s, &headers[2].value);
}

bool wr_headers_write(const struct wr_settings *settings, const struct wr_headers *headers,
                      struct wr_arena *arena, struct wr_response *response)
{
    size_t n = 0;

    if (headers->status == NULL && headers->decider.len == 0) {
        return true;
    }

    struct wr_header *const all = wr_arena_calloc(arena, MAX_HEADERS, sizeof *all);

    if (all == NULL) {
        return false;
    }
    if (headers->status != NULL) {
        if (!write_limit(settings, headers->status, arena, all)) {
            return false;
        }
        n += 3;
    }
    if (headers->decider.len > 0) {
        all[n++] = (struct wr_header){.name = settings->degraded_header, .value = headers->decider};
    }
    response->headers = all;
    response->n_headers = n;
    return true;
}
