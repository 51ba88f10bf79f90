/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/store.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/hash.h"
#include "store/redis/call.h"
#include "store/redis/heartbeat.h"
#include "store/redis/loop.h"
#include "store/redis/resolve.h"
#include "store/redis/route.h"
#include "store/redis/script.h"
#include "store/redis/socket.h"

/* Shorter absences are not told: a connection that is replaced at once is none. */
#define AWAY_US INT64_C(500000)

/* One I/O thread. */
struct io {
    struct redis_store *store;
    struct wr_redis_loop *loop;       /* owned */
    struct wr_redis_route *route;     /* owned */
    struct wr_metrics_block *metrics; /* of the metrics */
    struct wr_redis_courier courier;
    struct wr_redis_job job;    /* open and close */
    struct wr_redis_timer away; /* runs while it is away and that is not told yet */
    bool is_ready;              /* there is somebody to ask */
    bool is_refused;            /* who does not let himself be written to */
    bool is_reachable;          /* as told */
};

struct redis_store {
    struct wr_backend backend;
    struct wr_redis_store_options options;
    struct wr_arena setup;              /* what target and keys point into */
    struct wr_redis_security *security; /* owned; NULL: none, or not yet */
    struct wr_redis_resolver *resolver; /* owned */
    struct io *ios;                     /* owned */
    size_t n_ios;
    struct wr_redis_heartbeat heartbeat; /* on the first I/O thread */
    atomic_size_t n_reachable;           /* I/O threads that have somebody to ask */
};

static struct redis_store *store_of(struct wr_backend *backend)
{
    return (struct redis_store *) backend;
}

/* A thread that takes stays with one I/O thread: its block of metrics is its own. Threads of a kind
 * make theirs one after the other, and so are spread evenly. */
static struct io *choose_io(struct redis_store *store, const struct wr_batch *batch)
{
    return &store->ios[batch->metrics->number % store->n_ios];
}

static void no_memory(struct wr_batch *batch)
{
    wr_metrics_add(batch->metrics, WR_METRIC_STORE_NO_MEMORY, batch->n_takes);
    wr_batch_end(batch, WR_TAKE_NO_MEMORY);
}

static void redis_store_take(struct wr_backend *backend, struct wr_batch *batch)
{
    struct wr_redis_call *const call =
        wr_redis_call_new(&choose_io(store_of(backend), batch)->courier, batch);

    if (call == NULL) {
        no_memory(batch);
    } else {
        wr_redis_call_post(call);
    }
}

/* ---- whether it can be reached ---- */

/* Two threads may tell in another order than they counted: so whoever has told looks again. */
static void tell_all(struct redis_store *store)
{
    size_t seen = atomic_load(&store->n_reachable);

    for (;;) {
        store->options.on_reachable(store->options.context, seen == store->n_ios);

        const size_t now = atomic_load(&store->n_reachable);

        if (now == seen) {
            return;
        }
        seen = now;
    }
}

static void tell(struct io *io, bool is_reachable)
{
    struct redis_store *const store = io->store;

    wr_redis_timer_clear(&io->away);
    if (io->is_reachable == is_reachable) {
        return;
    }
    io->is_reachable = is_reachable;
    (void) atomic_fetch_add(&store->n_reachable, is_reachable ? 1 : (size_t) -1);
    if (store->options.on_reachable != NULL) {
        tell_all(store);
    }
}

static void stays_away(struct wr_redis_timer *timer, int64_t mono_us)
{
    (void) mono_us;
    tell(timer->context, false);
}

static void look(struct io *io)
{
    if (io->is_ready && !io->is_refused) {
        tell(io, true);
    } else if (!wr_redis_timer_is_set(&io->away)) {
        wr_redis_timer_set(wr_redis_loop_timers(io->loop), &io->away,
                           wr_redis_loop_now(io->loop) + AWAY_US);
    }
}

static void route_ready(void *context, bool is_ready)
{
    struct io *const io = context;

    io->is_ready = is_ready;
    look(io);
}

static void probed(void *context, bool is_usable)
{
    struct io *const io = context;

    io->is_refused = !is_usable;
    look(io);
}

/* ---- begin and end ---- */

static void open_route(struct wr_redis_job *job)
{
    struct io *const io = job->context;
    struct redis_store *const store = io->store;

    io->route->ops->open(io->route);
    if (io == store->ios) {
        wr_redis_heartbeat_open(&store->heartbeat, io->loop, io->route, probed, io);
    }
}

static void close_route(struct wr_redis_job *job)
{
    struct io *const io = job->context;

    if (io == io->store->ios) {
        wr_redis_heartbeat_close(&io->store->heartbeat);
    }
    io->route->ops->close(io->route);
    wr_redis_timer_clear(&io->away);
}

static void redis_store_destroy(struct wr_backend *backend)
{
    struct redis_store *const store = store_of(backend);

    for (size_t i = 0; i < store->n_ios; i++) {
        struct io *const io = &store->ios[i];

        if (io->route != NULL) {
            io->job = (struct wr_redis_job){.run = close_route, .context = io};
            wr_redis_loop_call(io->loop, &io->job);
        }
        if (io->loop != NULL) {
            wr_redis_loop_stop(io->loop);
        }
    }
    wr_redis_resolver_destroy(store->resolver);
    for (size_t i = 0; i < store->n_ios; i++) {
        wr_redis_route_destroy(store->ios[i].route);
        wr_redis_loop_destroy(store->ios[i].loop);
    }
    free(store->ios);
    if (store->security != NULL) {
        store->security->destroy(store->security);
    }
    wr_arena_fini(&store->setup);
    free(store);
}

static const struct wr_backend_ops redis_store_ops = {
    .take = redis_store_take,
    .destroy = redis_store_destroy,
};

static struct wr_redis_route_frame frame_of(struct io *io)
{
    const struct wr_redis_store_options *const options = &io->store->options;
    const struct wr_redis_login *const login = &options->target.login;

    return (struct wr_redis_route_frame){
        .link = {.loop = io->loop,
                 .resolver = io->store->resolver,
                 .security = options->target.has_tls ? options->security : NULL,
                 .limits = options->limits,
                 .user = wr_str_of(login->user != NULL ? login->user : ""),
                 .password = wr_str_of(login->password != NULL ? login->password : ""),
                 .database = options->target.database,
                 .script_load = wr_redis_script_load(),
                 .count_late = wr_redis_script_count_late,
                 .what = WR_STR("Redis")},
        .sentinel_security = options->target.has_sentinel_tls ? options->security : NULL,
        .on_ready = route_ready,
        .context = io,
    };
}

static enum wr_err start_io(struct io *io)
{
    const struct wr_redis_store_options *const options = &io->store->options;

    io->away = (struct wr_redis_timer){.on_due = stays_away, .context = io};
    io->metrics = wr_metrics_block_new(options->metrics);
    if (io->metrics == NULL) {
        return WR_ERR_NO_MEMORY;
    }

    enum wr_err err = wr_redis_loop_new("redis-io", io->metrics, &io->loop);

    if (err != WR_OK) {
        return err;
    }

    const struct wr_redis_route_frame frame = frame_of(io);

    err = options->new_route(&frame, &options->target, &io->route);
    if (err != WR_OK) {
        return err;
    }
    io->courier = (struct wr_redis_courier){
        .loop = io->loop,
        .route = io->route,
        .metrics = io->metrics,
        .keys = &options->keys,
        .timeout_us = options->timeout_us,
        .has_slots = options->target.topology == WR_REDIS_CLUSTER,
    };
    err = wr_redis_loop_start(io->loop);
    if (err == WR_OK) {
        io->job = (struct wr_redis_job){.run = open_route, .context = io};
        wr_redis_loop_push(io->loop, &io->job);
    }
    return err;
}

/* Anything that tells this process from all others will do for an id. */
static enum wr_err init_heartbeat(struct redis_store *store)
{
    struct wr_hash_key id;
    const enum wr_err err = wr_hash_key_draw(&id);

    if (err != WR_OK) {
        return err;
    }
    return wr_redis_heartbeat_init(&store->heartbeat, store->options.setup, &store->options.keys,
                                   wr_hash_of(&id, store->options.keys.prefix).low,
                                   store->options.replicas);
}

enum wr_err wr_redis_store_new(const struct wr_redis_store_options *options,
                               struct wr_backend **out_backend)
{
    struct redis_store *const store = calloc(1, sizeof *store);

    WR_ASSERT(options->timeout_us > 0 && options->n_threads > 0);
    if (store == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    store->backend.ops = &redis_store_ops;
    store->options = *options;
    store->ios = calloc(options->n_threads, sizeof *store->ios);

    enum wr_err err =
        store->ios == NULL ? WR_ERR_NO_MEMORY : wr_redis_resolver_new(&store->resolver);

    if (err == WR_OK) {
        err = init_heartbeat(store);
    }
    if (err == WR_OK) {
        store->n_ios = options->n_threads;
    }
    for (size_t i = 0; i < store->n_ios && err == WR_OK; i++) {
        store->ios[i].store = store;
        err = start_io(&store->ios[i]);
    }
    if (err != WR_OK) {
        redis_store_destroy(&store->backend);
        return err;
    }
    store->setup = *options->setup;
    wr_arena_init(options->setup, 0);
    store->security = options->security;
    *out_backend = &store->backend;
    return WR_OK;
}
