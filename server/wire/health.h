/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of grpc.health.v1, by protobuf-c with the call arena as its allocator.
 *
 * Threads: pure functions; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_HEALTH_H
#define WR_WIRE_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

/* The numbers are those of HealthCheckResponse.ServingStatus. */
enum wr_serving {
    WR_SERVING_UNKNOWN = 0,
    WR_SERVING_YES = 1,
    WR_SERVING_NO = 2,
    WR_SERVING_SERVICE_UNKNOWN = 3,
};

struct wr_health_row {
    struct wr_str service;
    enum wr_serving serving;
};

/* HealthCheckRequest. `*out_service` is in `arena`. WR_ERR_MALFORMED, WR_ERR_TOO_LARGE (far beyond
 * any name), WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_health_request_decode(struct wr_str message, struct wr_arena *arena,
                                                 struct wr_str *out_service);

/* HealthCheckResponse. False when memory is out; also below. */
bool wr_health_response_encode(enum wr_serving serving, struct wr_arena *arena,
                               struct wr_str *out_message);

/* HealthListResponse. */
bool wr_health_list_encode(const struct wr_health_row *rows, size_t n, struct wr_arena *arena,
                           struct wr_str *out_message);

#endif
