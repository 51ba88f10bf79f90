/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The topology of a Redis or Valkey cluster: each request goes to the primary that owns its slot.
 *
 * The map of slots is asked of a node at first, every few seconds, and soon after anything that
 * shows that it has changed: a redirection, a cluster that is down, a node that is away. MOVED,
 * ASK, TRYAGAIN, CLUSTERDOWN and LOADING are proof that nothing was charged, so the request is sent
 * again, as its deadline allows; one whose reply was lost is not. Replicas are not asked.
 *
 * Ready: there is a map, and a primary of it that takes requests. A request for a slot whose owner
 * is not known or not there ends AWAY at once.
 * Threads: as store/redis/route.h says.
 */
#ifndef WR_STORE_REDIS_CLUSTER_H
#define WR_STORE_REDIS_CLUSTER_H

#include "base/err.h"

struct wr_redis_route;
struct wr_redis_route_frame;
struct wr_redis_target;

/* WR_ERR_NO_MEMORY. `target`, whose addresses are some of the nodes, is borrowed with its texts
 * while the route lives. */
WR_MUST_USE enum wr_err wr_redis_cluster_new(const struct wr_redis_route_frame *frame,
                                             const struct wr_redis_target *target,
                                             struct wr_redis_route **out_route);

#endif
