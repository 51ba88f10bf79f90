/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The response headers for one chosen descriptor: its limit, what remains, when it resets.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_SERVICE_HEADERS_H
#define WR_SERVICE_HEADERS_H

#include <stdbool.h>

#include "base/arena.h"
#include "service/response.h"
#include "service/settings.h"

/* The three headers for `status`, added to `response`. False when memory is out. */
bool wr_headers_write(const struct wr_settings *settings, const struct wr_descriptor_status *status,
                      struct wr_arena *arena, struct wr_response *response);

#endif
