/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a request was refused and where: filled by the decoder on its way out, from the innermost
 * field to the outermost, then told in words. No value of the request is repeated.
 *
 * Threads: owner thread only.
 */
#ifndef WR_WIRE_REQUEST_FAULT_H
#define WR_WIRE_REQUEST_FAULT_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "service/failure.h"
#include "wire/scan.h"

#define WR_REQUEST_FAULT_DEPTH_MAX 3 /* descriptors[n].entries[n].key */
#define WR_NO_INDEX SIZE_MAX

/* All zero: none. */
struct wr_request_fault {
    struct wr_scan scan; /* what is wrong with the bytes, unless err says more */
    enum wr_err err;     /* WR_OK, WR_ERR_TOO_LARGE, WR_ERR_NO_MEMORY */
    size_t cap;          /* that was passed, with WR_ERR_TOO_LARGE */
    size_t n_path;
    struct {
        const char *name; /* static */
        size_t index;     /* WR_NO_INDEX: none */
    } path[WR_REQUEST_FAULT_DEPTH_MAX];
};

/* These three return NULL for the caller to return in its turn, as wr_scan_fail does. */

/* Says that it happened in this field. */
const unsigned char *wr_request_fault_in(struct wr_request_fault *fault, const char *name,
                                         size_t index);

/* Says that this field has more elements than the cap. */
const unsigned char *wr_request_fault_too_many(struct wr_request_fault *fault, const char *name,
                                               size_t cap);

const unsigned char *wr_request_fault_no_memory(struct wr_request_fault *fault);

/* The fault of a request that starts at `begin`, for the caller, and as a code: WR_ERR_MALFORMED,
 * WR_ERR_TOO_LARGE or WR_ERR_NO_MEMORY. The texts are in `arena`, or static when it has no room. */
WR_MUST_USE enum wr_err wr_request_fault_explain(const struct wr_request_fault *fault,
                                                 const unsigned char *begin, struct wr_arena *arena,
                                                 struct wr_failure *out_failure);

#endif
