/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The row of the method table that Weir exists for: bytes of a request in, decoded, decided,
 * answered.
 *
 * Threads: the row runs on the transport's workers; what it refers to is immutable.
 */
#ifndef WR_RPC_DECIDE_H
#define WR_RPC_DECIDE_H

#include "base/clock.h"
#include "rpc/method.h"
#include "service/service.h"
#include "wire/request.h"

/* All borrowed, and alive as long as calls may come. */
struct wr_decide {
    struct wr_service *service;
    struct wr_clock *clock;
    struct wr_request_caps caps;
};

/* The row, which refers to `row`. */
struct wr_method wr_decide_method(struct wr_decide *row);

#endif
