/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/single.h"

#include <stdlib.h>

#include "store/redis/route.h"
#include "store/redis/target.h"

struct single {
    struct wr_redis_route route;
    struct wr_redis_link *link; /* owned */
    void (*on_ready)(void *context, bool is_ready);
    void *context;
};

static struct single *single_of(struct wr_redis_route *route)
{
    return (struct single *) route;
}

static void single_open(struct wr_redis_route *route)
{
    wr_redis_link_open(single_of(route)->link);
}

static void single_send(struct wr_redis_route *route, struct wr_redis_request *request)
{
    wr_redis_link_send(single_of(route)->link, request, NULL, NULL);
}

static void single_close(struct wr_redis_route *route)
{
    wr_redis_link_close(single_of(route)->link);
}

static void single_destroy(struct wr_redis_route *route)
{
    struct single *const single = single_of(route);

    wr_redis_link_destroy(single->link);
    free(single);
}

static const struct wr_redis_route_ops single_ops = {
    .open = single_open,
    .send = single_send,
    .close = single_close,
    .destroy = single_destroy,
};

static void link_ready(void *context, struct wr_redis_link *link, bool is_ready)
{
    const struct single *const single = context;

    (void) link;
    single->on_ready(single->context, is_ready);
}

enum wr_err wr_redis_single_new(const struct wr_redis_route_frame *frame,
                                const struct wr_redis_target *target,
                                struct wr_redis_route **out_route)
{
    struct single *const single = calloc(1, sizeof *single);
    struct wr_redis_link_options options = frame->link;

    if (single == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    *single = (struct single){
        .route.ops = &single_ops,
        .on_ready = frame->on_ready,
        .context = frame->context,
    };
    options.place = (struct wr_redis_place){
        .host = wr_str_of(target->addresses[0].host),
        .port = target->addresses[0].port,
    };
    options.needs_primary = true;
    options.on_ready = link_ready;
    options.context = single;

    const enum wr_err err = wr_redis_link_new(&options, &single->link);

    if (err != WR_OK) {
        single_destroy(&single->route);
        return err;
    }
    *out_route = &single->route;
    return WR_OK;
}
