/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of envoy.service.ratelimit.v3.RateLimitRequest into a wr_request, by hand, in one pass:
 * texts are borrowed from the bytes, and nothing is allocated but arrays whose size the caps bound.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_REQUEST_H
#define WR_WIRE_REQUEST_H

#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "service/failure.h"
#include "service/request.h"

struct wr_request_caps {
    size_t max_descriptors; /* a request */
    size_t max_entries;     /* a descriptor */
};

/*
 * Decodes `message` into `*out_request`, which borrows from it and from `arena`.
 *
 * On WR_ERR_MALFORMED (not this message), WR_ERR_TOO_LARGE (beyond a cap) and WR_ERR_NO_MEMORY
 * `*out_failure` says what to tell the caller: INVALID_ARGUMENT, RESOURCE_EXHAUSTED with the field
 * that is to blame, RESOURCE_EXHAUSTED.
 */
WR_MUST_USE enum wr_err wr_request_decode(struct wr_str message, const struct wr_request_caps *caps,
                                          struct wr_arena *arena, struct wr_request *out_request,
                                          struct wr_failure *out_failure);

#endif
