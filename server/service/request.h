/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller asks, in plain C: decoded by the wire room, read by deciding. Texts are borrowed
 * from the message, arrays from the call arena.
 *
 * Threads: plain values.
 */
#ifndef WR_SERVICE_REQUEST_H
#define WR_SERVICE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "rules/entry.h"

/* A limit that the request brings along in place of the rule's. */
struct wr_override {
    uint32_t requests_per_unit;
    int32_t unit; /* number of envoy.type.v3.RateLimitUnit, unchecked */
};

struct wr_descriptor {
    const struct wr_entry *entries;
    size_t n_entries;
    bool has_override;
    struct wr_override override;
    bool has_hits_addend; /* absent: the request's; present and 0: look, take nothing */
    uint64_t hits_addend;
    bool is_negative_hits; /* give hits back */
};

struct wr_request {
    struct wr_str domain;
    const struct wr_descriptor *descriptors;
    size_t n_descriptors;
    uint32_t hits_addend; /* 0 means 1 */
};

#endif
