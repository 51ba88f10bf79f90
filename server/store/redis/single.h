/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topology of one server: everything goes there.
 *
 * Threads: as store/redis/route.h says.
 */
#ifndef WR_STORE_REDIS_SINGLE_H
#define WR_STORE_REDIS_SINGLE_H

#include "base/err.h"

struct wr_redis_route;
struct wr_redis_route_frame;
struct wr_redis_target;

/* WR_ERR_NO_MEMORY. `target` has one address. */
WR_MUST_USE enum wr_err wr_redis_single_new(const struct wr_redis_route_frame *frame,
                                            const struct wr_redis_target *target,
                                            struct wr_redis_route **out_route);

#endif
