/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A wr_failure into the bytes of google.rpc.Status, with BadRequest where the request is to
 * blame (its field is empty when that is the message as a whole) and RetryInfo where it says when
 * to try again: what goes into grpc-status-details-bin.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_ERROR_DETAILS_H
#define WR_WIRE_ERROR_DETAILS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "service/failure.h"

/* The bytes are in `arena`; empty when there is nothing to say beyond status and message. False
 * when memory is out. */
bool wr_error_details_encode(const struct wr_failure *failure, struct wr_arena *arena,
                             struct wr_str *out_details);

#endif
