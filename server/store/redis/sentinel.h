/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topology of one primary that sentinels look after: everything goes to the primary, and where
 * that is they say. All of them are asked at first, after each message of theirs that it has
 * changed, whenever the primary is not there or turns out to be a replica, and every few seconds.
 *
 * Of several answers the one of the newest epoch counts. A primary that takes requests is left for
 * one of an older epoch only when most of the sentinels say so for some seconds, and nobody says
 * otherwise. A node that is a replica gets no requests.
 * While no sentinel can be asked the primary that is known stays in use. READONLY is proof that
 * nothing was charged: such a request waits for the next primary, as its deadline allows.
 *
 * A user of a sentinel needs +auth +ping +client|setname +subscribe &+switch-master
 * &+promoted-slave +sentinel|get-master-addr-by-name +sentinel|master +sentinel|masters.
 * Threads: as store/redis/route.h says.
 */
#ifndef WR_STORE_REDIS_SENTINEL_H
#define WR_STORE_REDIS_SENTINEL_H

#include "base/err.h"

struct wr_redis_route;
struct wr_redis_route_frame;
struct wr_redis_target;

/* WR_ERR_NO_MEMORY. `target`, whose addresses are the sentinels, is borrowed with its texts while
 * the route lives. */
WR_MUST_USE enum wr_err wr_redis_sentinel_new(const struct wr_redis_route_frame *frame,
                                              const struct wr_redis_target *target,
                                              struct wr_redis_route **out_route);

#endif
