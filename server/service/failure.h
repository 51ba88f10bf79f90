/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why a call failed, for the caller: a code, a sentence, and what a program can act on.
 *
 * Threads: plain values.
 */
#ifndef WR_SERVICE_FAILURE_H
#define WR_SERVICE_FAILURE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* The numbers are gRPC's. */
enum wr_status {
    WR_STATUS_OK = 0,
    WR_STATUS_INVALID_ARGUMENT = 3,
    WR_STATUS_DEADLINE_EXCEEDED = 4,
    WR_STATUS_NOT_FOUND = 5,
    WR_STATUS_RESOURCE_EXHAUSTED = 8,
    WR_STATUS_UNIMPLEMENTED = 12,
    WR_STATUS_INTERNAL = 13,
    WR_STATUS_UNAVAILABLE = 14,
};

struct wr_failure {
    enum wr_status status;
    struct wr_str message; /* for people; static or in the call arena; holds no raw value */
    struct wr_str field;   /* that is to blame, as `descriptors[2].limit.unit`; may be empty */
    int64_t retry_us;      /* when to try again; 0: not said */
};

/* Sets `*out_failure` for a call that found no memory; returns WR_ERR_NO_MEMORY. */
enum wr_err wr_fail_no_memory(struct wr_failure *out_failure);

#endif
