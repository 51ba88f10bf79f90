/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/sentinel.h"

#include <inttypes.h>
#include <stdlib.h>

#include <hiredis/hiredis.h>

#include "base/log.h"
#include "base/pauses.h"
#include "metrics/metrics.h"
#include "store/redis/fault.h"
#include "store/redis/loop.h"
#include "store/redis/parking.h"
#include "store/redis/route.h"
#include "store/redis/target.h"
#include "store/redis/watcher.h"
#include "store/redis/witness.h"

#define PERIOD_US INT64_C(5000000)     /* between two looks, when all is well */
#define GAP_US INT64_C(20000)          /* the same, at least */
#define PAUSE_MIN_US INT64_C(100000)   /* the same, when something is amiss: doubles */
#define PAUSE_MAX_US INT64_C(1000000)  /* up to this */
#define GRACE_US INT64_C(50000)        /* that the first answer waits for the others */
#define DOUBT_US INT64_C(3000000)      /* that a primary in use is preferred to an older one */
#define DOUBT_AWAY_US INT64_C(1000000) /* the same when it is away */
#define REFUTED_US INT64_C(2000000)    /* that a replica is thought to be one still */

struct sentinel {
    struct wr_redis_route route;
    struct wr_redis_route_frame frame;
    const struct wr_redis_target *target; /* borrowed */
    struct wr_redis_link *primary;        /* owned; closed while nobody knows where it is */
    struct wr_redis_witness current;      /* where `primary` leads to */
    struct wr_redis_watcher **watchers;   /* owned, and the array; of the sentinels */
    struct wr_redis_witness *said;        /* owned; by each of them, last */
    size_t n;
    struct wr_redis_timer look, choice;
    struct wr_pauses pauses;
    struct wr_redis_parking parking; /* of requests that a replica has refused */
    int64_t looked_us;
    int64_t older_since_us; /* an older configuration than the current one is all that is told since
                               then; 0: not so */
    bool is_open;
};

static struct sentinel *sentinel_of(struct wr_redis_route *route)
{
    return (struct sentinel *) route;
}

static int64_t now(const struct sentinel *sentinel)
{
    return wr_redis_loop_now(sentinel->frame.link.loop);
}

static void set_timer(struct sentinel *sentinel, struct wr_redis_timer *timer, int64_t due_us)
{
    wr_redis_timer_set(wr_redis_loop_timers(sentinel->frame.link.loop), timer, due_us);
}

/* ---- when to look ---- */

static void look_by(struct sentinel *sentinel, int64_t due_us)
{
    if (sentinel->is_open &&
        (!wr_redis_timer_is_set(&sentinel->look) || sentinel->look.due_mono_us > due_us)) {
        set_timer(sentinel, &sentinel->look, due_us);
    }
}

/* Many requests and sentinels may tell of one change: it is looked for once. */
static void look_soon(struct sentinel *sentinel)
{
    const int64_t earliest_us = sentinel->looked_us + GAP_US;

    look_by(sentinel, earliest_us > now(sentinel) ? earliest_us : now(sentinel));
}

static void look_later(struct sentinel *sentinel)
{
    const uint64_t random = wr_redis_loop_random(sentinel->frame.link.loop);
    int64_t pause_us = PERIOD_US - PERIOD_US / 5 + (int64_t) (random % (2 * PERIOD_US / 5));

    if (!wr_redis_link_is_ready(sentinel->primary)) {
        pause_us = PAUSE_MIN_US + wr_pauses_next(&sentinel->pauses, random);
    }
    set_timer(sentinel, &sentinel->look, now(sentinel) + pause_us);
}

/* ---- whom to believe ---- */

static void go(struct sentinel *sentinel, const struct wr_redis_witness *choice)
{
    const struct wr_redis_place place = {.host = wr_str_of(choice->host), .port = choice->port};

    wr_log(WR_LOG_INFO, "Redis sentinels: the primary %s is at %s:%u, by epoch %" PRId64,
           sentinel->target->primary_name, choice->host, choice->port, choice->epoch);
    if (wr_redis_link_move(sentinel->primary, place) != WR_OK) {
        look_soon(sentinel);
        return;
    }
    if (sentinel->current.port != 0) {
        wr_metrics_add(wr_redis_loop_metrics(sentinel->frame.link.loop),
                       WR_METRIC_REDIS_PRIMARY_CHANGES, 1);
    }
    sentinel->current = *choice;
    wr_redis_link_open(sentinel->primary);
}

/* In the middle of a fail-over most of them do not know of it yet, and who does may be slow to
 * answer: an older configuration has to stay the only one for a while. As long as the primary in
 * use works most of them have to have it, too: then they were set up anew. */
static bool is_stale(struct sentinel *sentinel, const struct wr_redis_witness *choice,
                     int64_t mono_us)
{
    const bool is_ready = wr_redis_link_is_ready(sentinel->primary);
    const int64_t patience_us = is_ready ? DOUBT_US : DOUBT_AWAY_US;
    const bool has_most =
        2 * wr_redis_witness_votes(sentinel->said, sentinel->n, choice) > sentinel->n;

    if (choice->epoch >= sentinel->current.epoch || sentinel->current.refuted_until_us > mono_us) {
        return false;
    }
    if (sentinel->older_since_us == 0) {
        sentinel->older_since_us = mono_us;
    }

    const int64_t until_us = sentinel->older_since_us + patience_us;

    if (mono_us < until_us) {
        look_by(sentinel, until_us);
        return true;
    }
    return is_ready && !has_most;
}

static void choose(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct sentinel *const sentinel = timer->context;
    const struct wr_redis_witness *const choice =
        wr_redis_witness_choose(sentinel->said, sentinel->n, mono_us);

    if (choice == NULL) {
        return;
    }
    if (wr_redis_witness_is_same(choice, &sentinel->current)) {
        sentinel->current.epoch = choice->epoch;
        sentinel->older_since_us = 0;
    } else if (!is_stale(sentinel, choice, mono_us)) {
        sentinel->older_since_us = 0;
        go(sentinel, choice);
    }
}

/* Chooses when all have said what they have to say; they are not waited for long. */
static void watcher_said(void *context)
{
    struct sentinel *const sentinel = context;
    bool is_pending = false;

    for (size_t i = 0; i < sentinel->n; i++) {
        is_pending |= wr_redis_watcher_is_pending(sentinel->watchers[i]);
    }
    if (!is_pending) {
        wr_redis_timer_clear(&sentinel->choice);
        choose(&sentinel->choice, now(sentinel));
    } else if (!wr_redis_timer_is_set(&sentinel->choice)) {
        set_timer(sentinel, &sentinel->choice, now(sentinel) + GRACE_US);
    }
}

static void watcher_news(void *context)
{
    look_soon(context);
}

static void look(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct sentinel *const sentinel = timer->context;

    sentinel->looked_us = mono_us;
    for (size_t i = 0; i < sentinel->n; i++) {
        wr_redis_watcher_ask(sentinel->watchers[i]);
    }
    look_later(sentinel);
}

/* ---- the primary ---- */

static void primary_ready(void *context, struct wr_redis_link *link, bool is_ready)
{
    struct sentinel *const sentinel = context;

    (void) link;
    if (is_ready) {
        wr_pauses_reset(&sentinel->pauses);
    } else {
        look_soon(sentinel);
    }
    sentinel->frame.on_ready(sentinel->frame.context, is_ready);
}

static void refute(struct sentinel *sentinel)
{
    for (size_t i = 0; i < sentinel->n; i++) {
        if (wr_redis_witness_is_same(&sentinel->said[i], &sentinel->current)) {
            sentinel->said[i].refuted_until_us = now(sentinel) + REFUTED_US;
        }
    }
    sentinel->current.refuted_until_us = now(sentinel) + REFUTED_US;
}

static void primary_down(void *context, struct wr_redis_link *link, const char *why)
{
    struct sentinel *const sentinel = context;

    (void) why;
    if (wr_redis_link_has_met_replica(link)) {
        refute(sentinel);
    }
    look_soon(sentinel);
}

/* ---- requests ---- */

static bool is_refused(enum wr_redis_end end, const struct redisReply *reply)
{
    struct wr_redis_fault fault;

    return end == WR_REDIS_REPLIED && wr_redis_fault_in(reply, &fault) &&
           fault.reaction == WR_REDIS_RENEW && fault.is_uncharged;
}

/* What a replica has refused, and nobody has got since, waits for the next primary. */
static void back(void *context, struct wr_redis_request *request, enum wr_redis_end end,
                 const struct redisReply *reply)
{
    struct sentinel *const sentinel = context;

    if (is_refused(end, reply)) {
        look_soon(sentinel);
        request->n_redirects = 1;
        request->n_repeats = 0;
    }
    if (!sentinel->is_open || request->n_redirects == 0 ||
        !(is_refused(end, reply) || end == WR_REDIS_AWAY) ||
        !wr_redis_parking_take(&sentinel->parking, request)) {
        wr_redis_request_end(request, end, reply);
    }
}

static void send_parked(void *context, struct wr_redis_request *request)
{
    struct sentinel *const sentinel = context;

    wr_redis_link_send(sentinel->primary, request, back, sentinel);
}

/* ---- of a route ---- */

static void sentinel_open(struct wr_redis_route *route)
{
    struct sentinel *const sentinel = sentinel_of(route);

    sentinel->is_open = true;
    for (size_t i = 0; i < sentinel->n; i++) {
        wr_redis_watcher_open(sentinel->watchers[i]);
    }
    look_later(sentinel);
}

static void sentinel_send(struct wr_redis_route *route, struct wr_redis_request *request)
{
    struct sentinel *const sentinel = sentinel_of(route);

    request->n_redirects = request->n_waits = 0;
    wr_redis_link_send(sentinel->primary, request, back, sentinel);
}

static void sentinel_close(struct wr_redis_route *route)
{
    struct sentinel *const sentinel = sentinel_of(route);

    sentinel->is_open = false;
    wr_redis_timer_clear(&sentinel->look);
    wr_redis_timer_clear(&sentinel->choice);
    wr_redis_parking_clear(&sentinel->parking);
    for (size_t i = 0; i < sentinel->n; i++) {
        wr_redis_watcher_close(sentinel->watchers[i]);
    }
    wr_redis_link_close(sentinel->primary);
}

static void sentinel_destroy(struct wr_redis_route *route)
{
    struct sentinel *const sentinel = sentinel_of(route);

    for (size_t i = 0; i < sentinel->n; i++) {
        wr_redis_watcher_destroy(sentinel->watchers[i]);
    }
    wr_redis_link_destroy(sentinel->primary);
    free(sentinel->watchers);
    free(sentinel->said);
    free(sentinel);
}

static const struct wr_redis_route_ops sentinel_ops = {
    .open = sentinel_open,
    .send = sentinel_send,
    .close = sentinel_close,
    .destroy = sentinel_destroy,
};

/* ---- making one ---- */

static enum wr_err make_watcher(struct sentinel *sentinel, size_t i)
{
    const struct wr_redis_address *const address = &sentinel->target->addresses[i];
    const struct wr_redis_login *const login = &sentinel->target->sentinel_login;
    const struct wr_redis_watcher_options options = {
        .link = {.loop = sentinel->frame.link.loop,
                 .resolver = sentinel->frame.link.resolver,
                 .security = sentinel->frame.sentinel_security,
                 .limits = sentinel->frame.link.limits,
                 .place = {.host = wr_str_of(address->host), .port = address->port},
                 .user = wr_str_of(login->user != NULL ? login->user : ""),
                 .password = wr_str_of(login->password != NULL ? login->password : "")},
        .name = wr_str_of(sentinel->target->primary_name),
        .said = &sentinel->said[i],
        .on_said = watcher_said,
        .on_news = watcher_news,
        .context = sentinel,
    };

    sentinel->said[i].epoch = -1;
    return wr_redis_watcher_new(&options, &sentinel->watchers[i]);
}

static enum wr_err make_watchers(struct sentinel *sentinel)
{
    const size_t n = sentinel->target->n_addresses;
    enum wr_err err = WR_OK;

    sentinel->watchers = calloc(n, sizeof *sentinel->watchers);
    sentinel->said = calloc(n, sizeof *sentinel->said);
    if (sentinel->watchers == NULL || sentinel->said == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    sentinel->n = n;
    for (size_t i = 0; i < n && err == WR_OK; i++) {
        err = make_watcher(sentinel, i);
    }
    return err;
}

static enum wr_err make_primary(struct sentinel *sentinel)
{
    struct wr_redis_link_options options = sentinel->frame.link;

    options.place = (struct wr_redis_place){.host = WR_STR("")};
    options.needs_primary = true;
    options.what = (struct wr_str) WR_STR("Redis primary");
    options.on_ready = primary_ready;
    options.on_down = primary_down;
    options.context = sentinel;
    return wr_redis_link_new(&options, &sentinel->primary);
}

enum wr_err wr_redis_sentinel_new(const struct wr_redis_route_frame *frame,
                                  const struct wr_redis_target *target,
                                  struct wr_redis_route **out_route)
{
    struct sentinel *const sentinel = calloc(1, sizeof *sentinel);

    if (sentinel == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    sentinel->route.ops = &sentinel_ops;
    sentinel->frame = *frame;
    sentinel->target = target;
    sentinel->current.epoch = -1;
    sentinel->look = (struct wr_redis_timer){.on_due = look, .context = sentinel};
    sentinel->choice = (struct wr_redis_timer){.on_due = choose, .context = sentinel};
    sentinel->pauses = (struct wr_pauses){.min_us = PAUSE_MIN_US, .max_us = PAUSE_MAX_US};
    wr_redis_parking_init(&sentinel->parking, frame->link.loop, send_parked, sentinel);

    enum wr_err err = make_primary(sentinel);

    if (err == WR_OK) {
        err = make_watchers(sentinel);
    }
    if (err != WR_OK) {
        sentinel_destroy(&sentinel->route);
        return err;
    }
    *out_route = &sentinel->route;
    return WR_OK;
}
