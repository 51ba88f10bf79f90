/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/cluster.h"

#include <stdlib.h>

#include <hiredis/hiredis.h>

#include "metrics/metrics.h"
#include "store/redis/fault.h"
#include "store/redis/loop.h"
#include "store/redis/nodes.h"
#include "store/redis/parking.h"
#include "store/redis/route.h"
#include "store/redis/slots.h"
#include "store/redis/survey.h"

#define MAX_REDIRECTS 5 /* in a row */

struct cluster {
    struct wr_redis_route route;
    struct wr_redis_route_frame frame;
    struct wr_redis_nodes nodes;
    struct wr_redis_node *owner[WR_REDIS_SLOTS]; /* NULL: not known */
    struct wr_redis_parking parking;
    bool is_open, is_ready; /* ready: as told */
    struct wr_redis_survey survey;
};

static struct cluster *cluster_of(struct wr_redis_route *route)
{
    return (struct cluster *) route;
}

static int64_t now(const struct cluster *cluster)
{
    return wr_redis_loop_now(cluster->frame.link.loop);
}

static void dispatch(struct cluster *cluster, struct wr_redis_request *request);

/* ---- readiness ---- */

static void tell_ready(struct cluster *cluster)
{
    const bool is_ready =
        cluster->is_open && cluster->survey.has_map && wr_redis_nodes_any_ready(&cluster->nodes);

    if (is_ready != cluster->is_ready) {
        cluster->is_ready = is_ready;
        cluster->frame.on_ready(cluster->frame.context, is_ready);
    }
}

static void link_ready(void *context, struct wr_redis_link *link, bool is_ready)
{
    struct cluster *const cluster = context;

    (void) link;
    tell_ready(cluster);
    if (!is_ready || !cluster->survey.has_map) {
        wr_redis_survey_hurry(&cluster->survey);
    }
}

static void link_down(void *context, struct wr_redis_link *link, const char *why)
{
    struct cluster *const cluster = context;

    (void) link;
    (void) why;
    cluster->survey.has_failed = true;
    wr_redis_survey_hurry(&cluster->survey);
}

static void use_map(void *context, const struct wr_redis_slots *slots,
                    struct wr_redis_node *const *owners)
{
    struct cluster *const cluster = context;

    for (size_t slot = 0; slot < WR_REDIS_SLOTS; slot++) {
        cluster->owner[slot] = owners[slots->owner[slot]];
    }
    tell_ready(cluster);
}

/* ---- requests ---- */

/* `reply` says why it cannot be done now; NULL: nobody said anything. */
static void send_later(struct cluster *cluster, struct wr_redis_request *request,
                       const struct redisReply *reply)
{
    request->n_redirects = 0;
    if (!wr_redis_parking_take(&cluster->parking, request)) {
        wr_redis_request_end(request, reply != NULL ? WR_REDIS_REPLIED : WR_REDIS_AWAY, reply);
    }
}

/* NULL: it does not say where to. */
static struct wr_redis_node *read_target(struct cluster *cluster,
                                         const struct wr_redis_request *request,
                                         const struct redisReply *reply)
{
    struct wr_redis_redirect redirect;

    if (!wr_redis_redirect_read((struct wr_str){.ptr = reply->str, .len = reply->len}, &redirect) ||
        redirect.slot != request->slot) {
        return NULL;
    }
    if (redirect.host.len == 0) {
        redirect.host = wr_redis_link_place(request->from).host;
    }

    const struct wr_redis_primary names = {
        .names = {redirect.host},
        .n_names = 1,
        .port = redirect.port,
    };
    struct wr_redis_node *const node =
        wr_redis_nodes_find(&cluster->nodes, redirect.host, redirect.port);

    return node != NULL ? node : wr_redis_nodes_get(&cluster->nodes, &names);
}

static void back(void *context, struct wr_redis_request *request, enum wr_redis_end end,
                 const struct redisReply *reply);

static void learn_owner(struct cluster *cluster, uint16_t slot, struct wr_redis_node *node)
{
    node->is_on_map = true;
    cluster->owner[slot] = node;
    wr_redis_survey_hurry(&cluster->survey);
}

/* The slot is elsewhere for good, or (`is_asking`) its keys are about to be. */
static void redirect(struct cluster *cluster, struct wr_redis_request *request,
                     const struct redisReply *reply, bool is_asking)
{
    struct wr_redis_node *const node = read_target(cluster, request, reply);

    wr_metrics_add(wr_redis_loop_metrics(cluster->frame.link.loop), WR_METRIC_REDIS_REDIRECTS, 1);
    if (node == NULL) {
        wr_redis_survey_hurry(&cluster->survey);
        send_later(cluster, request, reply);
        return;
    }
    node->named_us = now(cluster);
    if (!is_asking) {
        learn_owner(cluster, request->slot, node);
    }
    if (request->n_redirects == MAX_REDIRECTS ||
        (is_asking && !wr_redis_link_is_ready(node->link))) {
        send_later(cluster, request, reply);
        return;
    }
    request->n_redirects++;
    request->n_repeats = 0;
    if (is_asking) {
        wr_redis_link_send_asking(node->link, request, back, cluster);
    } else {
        wr_redis_link_send(node->link, request, back, cluster);
    }
}

static void refused(struct cluster *cluster, struct wr_redis_request *request,
                    const struct redisReply *reply, const struct wr_redis_fault *fault)
{
    switch (fault->reaction) {
    case WR_REDIS_MOVED:
    case WR_REDIS_ASK:
        redirect(cluster, request, reply, fault->reaction == WR_REDIS_ASK);
        break;
    case WR_REDIS_AGAIN:
    case WR_REDIS_HOLD:
    case WR_REDIS_RENEW:
        wr_redis_survey_hurry(&cluster->survey);
        send_later(cluster, request, reply);
        break;
    case WR_REDIS_FAIL:
    case WR_REDIS_TEACH:
    case WR_REDIS_LOGIN:
    case WR_REDIS_REFUSED:
    default:
        wr_redis_request_end(request, WR_REDIS_REPLIED, reply);
        break;
    }
}

/* No byte of it was sent. By now its slot may be elsewhere. */
static void unsent(struct cluster *cluster, struct wr_redis_request *request)
{
    const struct wr_redis_node *const node = cluster->owner[request->slot];

    wr_redis_survey_hurry(&cluster->survey);
    if (node == NULL || node->link == request->from || request->n_redirects == MAX_REDIRECTS) {
        wr_redis_request_end(request, WR_REDIS_AWAY, NULL);
        return;
    }
    request->n_redirects++;
    dispatch(cluster, request);
}

static void back(void *context, struct wr_redis_request *request, enum wr_redis_end end,
                 const struct redisReply *reply)
{
    struct cluster *const cluster = context;
    struct wr_redis_fault fault;

    if (!cluster->is_open) {
        wr_redis_request_end(request, end, reply);
    } else if (end == WR_REDIS_REPLIED && wr_redis_fault_in(reply, &fault) && fault.is_uncharged) {
        refused(cluster, request, reply, &fault);
    } else if (end == WR_REDIS_AWAY) {
        unsent(cluster, request);
    } else {
        wr_redis_request_end(request, end, reply);
    }
}

static void dispatch(struct cluster *cluster, struct wr_redis_request *request)
{
    const struct wr_redis_node *const node = cluster->owner[request->slot];

    if (node != NULL) {
        wr_redis_link_send(node->link, request, back, cluster);
    } else if (cluster->is_open && !cluster->survey.has_map && !cluster->survey.has_failed) {
        send_later(cluster, request, NULL);
    } else {
        wr_redis_survey_hurry(&cluster->survey);
        wr_redis_request_end(request, WR_REDIS_AWAY, NULL);
    }
}

static void send_parked(void *context, struct wr_redis_request *request)
{
    dispatch(context, request);
}

/* ---- of a route ---- */

static void cluster_open(struct wr_redis_route *route)
{
    struct cluster *const cluster = cluster_of(route);

    cluster->is_open = true;
    wr_redis_survey_open(&cluster->survey);
}

static void cluster_send(struct wr_redis_route *route, struct wr_redis_request *request)
{
    request->n_redirects = request->n_waits = 0;
    dispatch(cluster_of(route), request);
}

static void cluster_close(struct wr_redis_route *route)
{
    struct cluster *const cluster = cluster_of(route);

    cluster->is_open = false;
    wr_redis_survey_close(&cluster->survey);
    wr_redis_parking_clear(&cluster->parking);
    wr_redis_nodes_close(&cluster->nodes);
    tell_ready(cluster);
}

static void cluster_destroy(struct wr_redis_route *route)
{
    struct cluster *const cluster = cluster_of(route);

    wr_redis_nodes_fini(&cluster->nodes);
    free(cluster);
}

static const struct wr_redis_route_ops cluster_ops = {
    .open = cluster_open,
    .send = cluster_send,
    .close = cluster_close,
    .destroy = cluster_destroy,
};

enum wr_err wr_redis_cluster_new(const struct wr_redis_route_frame *frame,
                                 const struct wr_redis_target *target,
                                 struct wr_redis_route **out_route)
{
    struct cluster *const cluster = calloc(1, sizeof *cluster);
    struct wr_redis_link_options links = frame->link;

    if (cluster == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    cluster->route.ops = &cluster_ops;
    cluster->frame = *frame;
    links.on_ready = link_ready;
    links.on_down = link_down;
    links.context = cluster;
    wr_redis_nodes_init(&cluster->nodes, &links);
    wr_redis_survey_init(&cluster->survey, &(struct wr_redis_survey_options){
                                               .loop = frame->link.loop,
                                               .nodes = &cluster->nodes,
                                               .target = target,
                                               .has_tls = frame->link.security != NULL,
                                               .on_map = use_map,
                                               .context = cluster,
                                           });
    wr_redis_parking_init(&cluster->parking, frame->link.loop, send_parked, cluster);
    *out_route = &cluster->route;
    return WR_OK;
}
