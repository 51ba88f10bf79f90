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

/*
 * The bytes are in `arena`. False when memory is out.
 *
 * Texts are sent as they are but for what would break a reader: a NUL or a byte that is not UTF-8
 * becomes '?', in a header's name what is no token becomes '-', in its value a control character
 * becomes a space. Metadata deeper than 32 is cut (wire/metadata.h).
 */
bool wr_response_encode(const struct wr_response *response, struct wr_arena *arena,
                        struct wr_str *out_message);

#endif
