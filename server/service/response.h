/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller is told, in plain C: made by deciding, encoded by the wire room. All of it is
 * borrowed from the call arena or from a snapshot that outlives it.
 *
 * Threads: plain values.
 */
#ifndef WR_SERVICE_RESPONSE_H
#define WR_SERVICE_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/value.h"
#include "limit/unit.h"

/* The numbers are those of RateLimitResponse.Code. */
enum wr_code {
    WR_CODE_UNKNOWN = 0, /* of a status only: the store gave no answer for this descriptor */
    WR_CODE_OK = 1,
    WR_CODE_OVER_LIMIT = 2,
};

/* One a descriptor, in the request's order. */
struct wr_descriptor_status {
    enum wr_code code;
    bool has_limit; /* current_limit and duration_until_reset are set */
    uint32_t requests_per_unit;
    enum wr_unit unit;
    struct wr_str name;   /* may be empty */
    struct wr_str window; /* its length for people, when the unit is not it; else empty */
    uint32_t limit_remaining;
    int64_t reset_us; /* as it is shown: whole seconds for windows of a second and more */
};

struct wr_header {
    struct wr_str name, value;
};

struct wr_response {
    enum wr_code overall_code;
    const struct wr_descriptor_status *statuses;
    size_t n_statuses;
    const struct wr_header *headers; /* response_headers_to_add */
    size_t n_headers;
    const struct wr_value *dynamic_metadata; /* a map; NULL when there is none */
};

#endif
