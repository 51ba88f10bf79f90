/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seam between the store and a topology: where a request goes, and whether there is anybody to
 * send it to. Each I/O thread has a route of its own, with links of its own.
 *
 * Threads: new and destroy by the owner while the loop does not run; all else on the loop's thread.
 */
#ifndef WR_STORE_REDIS_ROUTE_H
#define WR_STORE_REDIS_ROUTE_H

#include <stdbool.h>

#include "store/redis/link.h"
#include "store/redis/request.h"

struct wr_redis_route;

struct wr_redis_route_ops {
    /* Begins to connect. */
    void (*open)(struct wr_redis_route *route);
    /* Takes a started request; it ends by its on_end, perhaps at once. An end by a reply that is an
     * error comes to the store as it is, after the route has done what it can. */
    void (*send)(struct wr_redis_route *route, struct wr_redis_request *request);
    /* Ends all requests and closes all links; nothing is sent after it. */
    void (*close)(struct wr_redis_route *route);
    void (*destroy)(struct wr_redis_route *route); /* closed, or never opened */
};

/* First member of every route. */
struct wr_redis_route {
    const struct wr_redis_route_ops *ops;
};

/* What the store gives to a route: the base of its links' options (loop, resolver, security,
 * limits, user, password, database, script; place and callbacks are the route's), and whom to tell.
 */
struct wr_redis_route_frame {
    struct wr_redis_link_options link;
    struct wr_redis_security *sentinel_security; /* of links to sentinels; NULL: bare */
    /* Whether calls can be answered; the route tells each change, beginning from "no". */
    void (*on_ready)(void *context, bool is_ready);
    void *context;
};

static inline void wr_redis_route_send(struct wr_redis_route *route,
                                       struct wr_redis_request *request)
{
    route->ops->send(route, request);
}

static inline void wr_redis_route_destroy(struct wr_redis_route *route)
{
    if (route != NULL) {
        route->ops->destroy(route);
    }
}

#endif
