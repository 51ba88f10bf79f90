/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The response headers: limit, what remains and when it resets, for one chosen descriptor; and who
 * decided when the store did not.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_SERVICE_HEADERS_H
#define WR_SERVICE_HEADERS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "service/response.h"
#include "service/settings.h"

/* What there is to say. */
struct wr_headers {
    const struct wr_descriptor_status *status; /* NULL: none has a limit, or nobody asks */
    struct wr_str decider; /* a failure mode; empty: none decided, or as above */
};

/* Adds them to `response`. False when memory is out. */
bool wr_headers_write(const struct wr_settings *settings, const struct wr_headers *headers,
                      struct wr_arena *arena, struct wr_response *response);

#endif
