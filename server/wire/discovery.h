/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two messages of the discovery protocol, envoy.service.discovery.v3, as a client needs them: a
 * request written, a response read. Both by hand: of the official text's dozens of types they need
 * five fields each, and a response is far too large for protobuf-c.
 *
 * Threads: pure functions; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_DISCOVERY_H
#define WR_WIRE_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/scan.h"

/* The type of the resources that hold rules, one a domain. */
#define WR_RULES_TYPE_URL "type.googleapis.com/ratelimit.config.ratelimit.v3.RateLimitConfig"

struct wr_discovery_label {
    struct wr_str name, value;
};

/* Who asks. */
struct wr_discovery_node {
    struct wr_str id;
    const struct wr_discovery_label *labels; /* its metadata */
    size_t n_labels;
};

/* DiscoveryRequest, of all resources of a type. */
struct wr_discovery_request {
    const struct wr_discovery_node *node;
    struct wr_str type_url;
    struct wr_str version; /* what is in force; empty: nothing known */
    struct wr_str nonce;   /* of the response that this answers; empty: of none */
    struct wr_str error;   /* why that was refused; empty: it was not */
};

/* More than any control plane has domains; bounds what is made of a response. */
#define WR_DISCOVERY_RESOURCES_MAX (1 << 20)

/* google.protobuf.Any. */
struct wr_discovery_resource {
    struct wr_str type_url, message;
};

/* DiscoveryResponse. */
struct wr_discovery_response {
    struct wr_str version, nonce, type_url;
    const struct wr_discovery_resource *resources;
    size_t n_resources;
};

/* The bytes in `arena`; what is not UTF-8 is made so. False when memory is out. */
bool wr_discovery_request_encode(const struct wr_discovery_request *request, struct wr_arena *arena,
                                 struct wr_str *out_message);

/* Texts are borrowed from the bytes, resources in `arena`. WR_ERR_MALFORMED, with the reason in
 * `*scan`, which begins as {0}; WR_ERR_TOO_LARGE, WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_discovery_response_decode(struct wr_str message, struct wr_arena *arena,
                                                     struct wr_scan *scan,
                                                     struct wr_discovery_response *out_response);

#endif
