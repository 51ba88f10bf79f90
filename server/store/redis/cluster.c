/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <hiredis/hiredis.h>

#include "base/log.h"
#include "metrics/metrics.h"
#include "store/redis/fault.h"
#include "store/redis/loop.h"
#include "store/redis/nodes.h"
#include "store/redis/parking.h"
#include "store/redis/retry.h"
#include "store/redis/route.h"
#include "store/redis/slots.h"
#include "store/redis/target.h"

#define PERIOD_US INT64_C(5000000)    /* between two looks at the map, when all is well */
#define GAP_US INT64_C(100000)        /* the same, at least */
#define PAUSE_MAX_US INT64_C(1000000) /* the same, when something is amiss */
#define QUERY_US INT64_C(500000)      /* then another node is asked */
#define MAX_REDIRECTS 5               /* in a row */
#define ASK_SHARDS "*2\r\n$7\r\nCLUSTER\r\n$6\r\nSHARDS\r\n"
#define ASK_SLOTS "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n"

struct cluster {
    struct wr_redis_route route;
    struct wr_redis_route_frame frame;
    const struct wr_redis_target *target; /* borrowed */
    struct wr_redis_nodes nodes;
    struct wr_redis_node *owner[WR_REDIS_SLOTS]; /* NULL: not known */
    struct wr_redis_parking parking;
    bool is_open, is_ready; /* ready: as told */
    bool has_map;           /* else nothing is known about the cluster */
    bool has_failed;        /* the last attempt to learn more */
    /* of the map's refresh: one query at a time */
    struct wr_redis_timer timer; /* of the next query */
    struct wr_redis_request query;
    bool is_querying;
    bool is_due_soon; /* something has changed since the query was sent */
    bool asks_slots;  /* CLUSTER SLOTS is asked, not SHARDS */
    int64_t asked_us; /* when the last query was sent */
    struct wr_redis_pauses pauses;
    struct wr_log_limit log;
    size_t n_covered;            /* slots that have an owner */
    struct wr_redis_slots slots; /* to read into */
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

/* ---- when to look at the map ---- */

static int64_t jitter(struct cluster *cluster, int64_t max_us)
{
    return (int64_t) (wr_redis_loop_random(cluster->frame.link.loop) % (uint64_t) max_us);
}

static void look_at(struct cluster *cluster, int64_t due_us)
{
    wr_redis_timer_set(wr_redis_loop_timers(cluster->frame.link.loop), &cluster->timer, due_us);
}

/* Many requests may learn of one change: the map is asked for once. */
static void look_soon(struct cluster *cluster)
{
    const int64_t due_us = cluster->asked_us + GAP_US + jitter(cluster, GAP_US);

    if (!cluster->is_open || cluster->is_due_soon) {
        return;
    }
    cluster->is_due_soon = true;
    if (!cluster->is_querying) {
        look_at(cluster, due_us > now(cluster) ? due_us : now(cluster));
    }
}

static bool is_whole(const struct cluster *cluster)
{
    return cluster->has_map && cluster->n_covered == WR_REDIS_SLOTS &&
           wr_redis_nodes_all_ready(&cluster->nodes);
}

/* After a query, or when there was nobody to ask. */
static void look_later(struct cluster *cluster, bool has_worked)
{
    int64_t pause_us = GAP_US + jitter(cluster, GAP_US);

    if (has_worked && is_whole(cluster)) {
        wr_redis_pauses_reset(&cluster->pauses);
        pause_us = cluster->is_due_soon
                       ? pause_us
                       : PERIOD_US - PERIOD_US / 5 + jitter(cluster, 2 * PERIOD_US / 5);
    } else {
        pause_us += cluster->is_due_soon
                        ? 0
                        : wr_redis_pauses_next(&cluster->pauses,
                                               wr_redis_loop_random(cluster->frame.link.loop));
    }
    look_at(cluster, now(cluster) + pause_us);
}

/* ---- readiness ---- */

static void tell_ready(struct cluster *cluster)
{
    const bool is_ready =
        cluster->is_open && cluster->has_map && wr_redis_nodes_any_ready(&cluster->nodes);

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
    if (!is_ready || !cluster->has_map) {
        look_soon(cluster);
    }
}

static void link_down(void *context, struct wr_redis_link *link, const char *why)
{
    struct cluster *const cluster = context;

    (void) link;
    (void) why;
    cluster->has_failed = true;
    look_soon(cluster);
}

/* ---- the map ---- */

static void open_seeds(struct cluster *cluster)
{
    for (size_t i = 0; i < cluster->target->n_addresses; i++) {
        const struct wr_redis_address *const address = &cluster->target->addresses[i];
        const struct wr_redis_primary seed = {
            .names = {wr_str_of(address->host)},
            .n_names = 1,
            .port = address->port,
        };

        (void) wr_redis_nodes_get(&cluster->nodes, &seed);
    }
}

static void log_map(const struct cluster *cluster)
{
    const bool is_complete = cluster->n_covered == WR_REDIS_SLOTS;

    wr_log(is_complete ? WR_LOG_INFO : WR_LOG_WARN,
           "Redis cluster: %zu primaries have %zu of %d slots%s", cluster->slots.n_primaries,
           cluster->n_covered, WR_REDIS_SLOTS,
           is_complete ? "" : "; what belongs to the others fails: see CLUSTER INFO");
}

/* Nodes that the map does not name stay for a while, for what is on its way to them. */
static void use_map(struct cluster *cluster)
{
    const struct wr_redis_slots *const slots = &cluster->slots;
    struct wr_redis_node *nodes[WR_REDIS_PRIMARIES + 1] = {NULL};
    const bool is_news = !cluster->has_map || slots->n_covered != cluster->n_covered;

    for (size_t i = 0; i < cluster->nodes.n; i++) {
        cluster->nodes.items[i]->is_on_map = false;
    }
    for (size_t i = 0; i < slots->n_primaries; i++) {
        nodes[i + 1] = wr_redis_nodes_get(&cluster->nodes, &slots->primaries[i]);
        if (nodes[i + 1] != NULL) {
            nodes[i + 1]->is_on_map = true;
        }
    }
    for (size_t slot = 0; slot < WR_REDIS_SLOTS; slot++) {
        cluster->owner[slot] = nodes[slots->owner[slot]];
    }
    cluster->has_map = true;
    cluster->n_covered = slots->n_covered;
    if (is_news) {
        log_map(cluster);
    }
    tell_ready(cluster);
}

/* A node that knows of nobody who owns a slot has left the cluster, or never joined it. */
static bool read_map(struct cluster *cluster, const struct redisReply *reply)
{
    const struct wr_redis_slots_asked asked = {
        .host = wr_redis_link_place(cluster->query.from).host,
        .has_tls = cluster->frame.link.security != NULL,
    };
    const bool is_map = cluster->asks_slots
                            ? wr_redis_slots_read_slots(reply, &asked, &cluster->slots)
                            : wr_redis_slots_read_shards(reply, &asked, &cluster->slots);

    if (is_map && cluster->slots.n_covered > 0) {
        use_map(cluster);
    }
    return is_map && cluster->slots.n_covered > 0;
}

static void log_no_map(struct cluster *cluster, const char *why)
{
    uint64_t skipped = 0;

    if (wr_log_limit_pass(&cluster->log, now(cluster), &skipped)) {
        wr_log(WR_LOG_WARN,
               "Redis cluster: no map of the slots: %s; others are asked (and %" PRIu64
               " more like this)",
               why, skipped);
    }
}

static const char *why_refused(const struct redisReply *reply, const struct wr_redis_fault *fault)
{
    if (strstr(reply->str, "cluster support disabled") != NULL) {
        return "the server is no node of a cluster: set --redis-type single";
    }
    return fault->reaction == WR_REDIS_REFUSED
               ? "the user may not ask for it: allow it +cluster|shards and +cluster|slots"
               : fault->advice;
}

/* True when the other command may do better: an old server does not know this one, or a user may
 * use the other alone. */
static bool try_other_command(struct cluster *cluster, const struct wr_redis_fault *fault)
{
    if (fault->reaction != WR_REDIS_FAIL && fault->reaction != WR_REDIS_REFUSED) {
        return false;
    }
    cluster->asks_slots = !cluster->asks_slots;
    return cluster->asks_slots;
}

static void query_ended(struct wr_redis_request *request, enum wr_redis_end end,
                        const struct redisReply *reply)
{
    struct cluster *const cluster = request->context;
    struct wr_redis_fault fault;
    bool has_worked = false;

    cluster->is_querying = false;
    if (end != WR_REDIS_REPLIED) {
        log_no_map(cluster, "a node does not answer");
    } else if (!wr_redis_fault_in(reply, &fault)) {
        has_worked = read_map(cluster, reply);
        if (!has_worked) {
            log_no_map(cluster, "a node has left the cluster, or answers what is no map");
        }
    } else if (try_other_command(cluster, &fault)) {
        look_at(cluster, now(cluster));
        return;
    } else {
        log_no_map(cluster, why_refused(reply, &fault));
    }
    cluster->has_failed = !has_worked;
    look_later(cluster, has_worked);
}

static void query(struct cluster *cluster, struct wr_redis_node *node)
{
    cluster->query = (struct wr_redis_request){
        .bytes = wr_str_of(cluster->asks_slots ? ASK_SLOTS : ASK_SHARDS),
        .deadline_mono_us = now(cluster) + QUERY_US,
        .on_end = query_ended,
        .context = cluster,
    };
    wr_redis_timer_clear(&cluster->timer);
    cluster->is_querying = true;
    cluster->is_due_soon = false;
    cluster->asked_us = now(cluster);
    wr_redis_request_start(&cluster->query, cluster->frame.link.loop);
    wr_redis_link_send(node->link, &cluster->query, NULL, NULL);
}

static void look(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct cluster *const cluster = timer->context;

    (void) mono_us;
    wr_redis_nodes_tidy(&cluster->nodes);

    struct wr_redis_node *const node = wr_redis_nodes_next(&cluster->nodes);

    if (node != NULL) {
        query(cluster, node);
        return;
    }
    open_seeds(cluster);
    cluster->is_due_soon = false;
    look_later(cluster, false);
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
    look_soon(cluster);
}

/* The slot is elsewhere for good, or (`is_asking`) its keys are about to be. */
static void redirect(struct cluster *cluster, struct wr_redis_request *request,
                     const struct redisReply *reply, bool is_asking)
{
    struct wr_redis_node *const node = read_target(cluster, request, reply);

    wr_metrics_add(wr_redis_loop_metrics(cluster->frame.link.loop), WR_METRIC_REDIS_REDIRECTS, 1);
    if (node == NULL) {
        look_soon(cluster);
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
    request->is_repeated = false;
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
        look_soon(cluster);
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

    look_soon(cluster);
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
    } else if (cluster->is_open && !cluster->has_map && !cluster->has_failed) {
        send_later(cluster, request, NULL);
    } else {
        look_soon(cluster);
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
    open_seeds(cluster);
    look_later(cluster, false);
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
    wr_redis_timer_clear(&cluster->timer);
    if (cluster->is_querying) {
        wr_redis_request_drop(&cluster->query);
        cluster->is_querying = false;
    }
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
    cluster->target = target;
    cluster->timer = (struct wr_redis_timer){.on_due = look, .context = cluster};
    cluster->pauses = (struct wr_redis_pauses){.min_us = GAP_US, .max_us = PAUSE_MAX_US};
    links.on_ready = link_ready;
    links.on_down = link_down;
    links.context = cluster;
    wr_redis_nodes_init(&cluster->nodes, &links);
    wr_redis_parking_init(&cluster->parking, frame->link.loop, send_parked, cluster);
    *out_route = &cluster->route;
    return WR_OK;
}
