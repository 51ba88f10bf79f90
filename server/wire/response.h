/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wr_response into the bytes of envoy.service.ratelimit.v3.RateLimitResponse, by protobuf-c.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_RESPONSE_H
#define WR_WIRE_RESPONSE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "service/response.h"

/* The bytes are in `arena`. False when memory is out. */
bool wr_response_encode(const struct wr_response *response, struct wr_arena *arena,
                        struct wr_str *out_message);

#endif
