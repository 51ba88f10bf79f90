/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/store.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/hash.h"
#include "store/redis/fault.h"
#include "store/redis/heartbeat.h"
#include "store/redis/loop.h"
#include "store/redis/request.h"
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
    struct wr_redis_job job;          /* open and close */
    struct wr_redis_timer away;       /* runs while it is away and that is not told yet */
    bool is_reachable;                /* as told */
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

/* The takes of a batch that go in one command. */
struct part {
    struct wr_redis_request request;
    struct call *call;
    struct wr_take **takes;
    size_t n_takes;
};

/* A batch on its way, in the arena of its call. */
struct call {
    struct wr_redis_job job;
    struct io *io;
    struct wr_batch *batch;
    struct part *parts;
    size_t n_parts, n_left; /* parts without an end; and one while they are sent */
};

static struct redis_store *store_of(struct wr_backend *backend)
{
    return (struct redis_store *) backend;
}

/* ---- answers ---- */

static void answer_all(struct wr_take *const *takes, size_t n, enum wr_take_answer answer)
{
    for (size_t i = 0; i < n; i++) {
        takes[i]->answer = answer;
    }
}

static void part_done(struct call *call)
{
    if (--call->n_left == 0) {
        call->batch->done(call->batch, call->batch->context);
    }
}

static void fail(struct part *part, enum wr_take_answer answer)
{
    answer_all(part->takes, part->n_takes, answer);
    wr_metrics_add(part->call->io->metrics,
                   answer == WR_TAKE_AWAY ? WR_METRIC_STORE_AWAY : WR_METRIC_STORE_TIMEOUT,
                   part->n_takes);
}

static void note(struct part *part, const struct wr_redis_script_notes *notes)
{
    struct wr_metrics_block *const metrics = part->call->io->metrics;

    wr_metrics_add(metrics, WR_METRIC_STORE_FOREIGN, notes->n_foreign);
    wr_metrics_add(metrics, WR_METRIC_STORE_AWAY, notes->n_foreign);
    wr_metrics_add(metrics, WR_METRIC_STORE_REPAIRED, notes->n_repaired);
    wr_metrics_add(metrics, WR_METRIC_STORE_RESTARTS, notes->n_restarted);
    if (notes->n_late > 0) {
        wr_metrics_add(metrics, WR_METRIC_STORE_LATE, notes->n_late);
        wr_redis_link_retime(part->request.from);
    }
}

static void read_reply(struct part *part, const struct redisReply *reply)
{
    struct wr_redis_script_notes notes = {0};
    struct wr_redis_fault fault = {0};

    switch (wr_redis_script_read(reply, part->takes, part->n_takes, &notes)) {
    case WR_REDIS_SCRIPT_ANSWERED:
        note(part, &notes);
        break;
    case WR_REDIS_SCRIPT_ERROR:
        (void) wr_redis_fault_in(reply, &fault);
        fail(part, fault.is_uncharged ? WR_TAKE_AWAY : WR_TAKE_TIMEOUT);
        break;
    case WR_REDIS_SCRIPT_GARBAGE:
    default:
        fail(part, WR_TAKE_TIMEOUT);
        wr_redis_link_renew(part->request.from);
        break;
    }
}

static void part_ended(struct wr_redis_request *request, enum wr_redis_end end,
                       const struct redisReply *reply)
{
    struct part *const part = request->context;

    switch (end) {
    case WR_REDIS_REPLIED:
        read_reply(part, reply);
        break;
    case WR_REDIS_LOST:
        wr_metrics_add(part->call->io->metrics, WR_METRIC_STORE_LOST, part->n_takes);
        fail(part, WR_TAKE_TIMEOUT);
        break;
    case WR_REDIS_TIMED_OUT:
        fail(part, request->was_sent ? WR_TAKE_TIMEOUT : WR_TAKE_AWAY);
        break;
    case WR_REDIS_AWAY:
    default:
        fail(part, WR_TAKE_AWAY);
        break;
    }
    part_done(part->call);
}

/* A cost that is spent is booked though nobody waits any more. */
static bool must_send(const struct part *part)
{
    for (size_t i = 0; i < part->n_takes; i++) {
        if (part->takes[i]->must_book) {
            return true;
        }
    }
    return part->request.deadline_mono_us > wr_redis_loop_now(part->call->io->loop);
}

/* On the I/O thread. */
static void send_call(struct wr_redis_job *job)
{
    struct call *const call = job->context;

    for (size_t i = 0; i < call->n_parts; i++) {
        struct part *const part = &call->parts[i];

        if (must_send(part)) {
            wr_redis_request_start(&part->request, call->io->loop);
            wr_redis_route_send(call->io->route, &part->request);
        } else {
            fail(part, WR_TAKE_AWAY);
            part_done(call);
        }
    }
    part_done(call);
}

/* ---- from a batch to commands, on the thread that takes ---- */

static int64_t window_start_s(const struct wr_batch *batch, const struct wr_take *take)
{
    const int64_t length_s = take->limit.length_us / 1000000;
    const int64_t now_s = batch->now.wall_us / 1000000;

    return length_s > 0 ? now_s - now_s % length_s : now_s;
}

/* A take and where it goes. */
struct errand {
    struct wr_str key;
    size_t index; /* in the batch */
    uint16_t slot;
};

static int compare_errands(const void *a, const void *b)
{
    const struct errand *const left = a;
    const struct errand *const right = b;

    if (left->slot != right->slot) {
        return left->slot < right->slot ? -1 : 1;
    }
    return left->index < right->index ? -1 : 1;
}

/* In order of slots, and of the batch within a slot. NULL: no memory. */
static struct errand *make_errands(const struct redis_store *store, const struct wr_batch *batch)
{
    const bool has_slots = store->options.target.topology == WR_REDIS_CLUSTER;
    struct errand *const errands = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *errands);

    if (errands == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        const struct wr_take *const take = &batch->takes[i];

        errands[i].index = i;
        if (!wr_redis_key_write(&store->options.keys, batch->arena, take->key,
                                take->is_domain_group, window_start_s(batch, take),
                                &errands[i].key)) {
            return NULL;
        }
        errands[i].slot = has_slots ? wr_redis_key_slot(errands[i].key) : 0;
    }
    if (has_slots) {
        qsort(errands, batch->n_takes, sizeof *errands, compare_errands);
    }
    return errands;
}

static size_t count_slots(const struct errand *errands, size_t n)
{
    size_t n_slots = n > 0;

    for (size_t i = 1; i < n; i++) {
        n_slots += errands[i].slot != errands[i - 1].slot;
    }
    return n_slots;
}

static int64_t deadline_of(const struct redis_store *store, const struct wr_batch *batch)
{
    const int64_t timeout_us = batch->now.mono_us + store->options.timeout_us;

    return batch->deadline_mono_us < timeout_us ? batch->deadline_mono_us : timeout_us;
}

/* `keys` are those of `takes`. */
static bool make_part(struct part *part, struct call *call, const struct wr_str *keys,
                      struct wr_take **takes, size_t n)
{
    const struct wr_redis_script_call script = {
        .keys = keys,
        .takes = takes,
        .n_takes = n,
        .mode = call->batch->mode,
        .has_dated_keys = call->io->store->options.keys.form == WR_REDIS_KEY_REFERENCE,
    };

    *part = (struct part){
        .request = {.deadline_mono_us = deadline_of(call->io->store, call->batch),
                    .on_end = part_ended,
                    .context = part},
        .call = call,
        .takes = takes,
        .n_takes = n,
    };
    if (!wr_redis_script_format(&script, call->batch->arena, &part->request.bytes)) {
        return false;
    }
    part->request.not_after_at = wr_redis_script_not_after_at(part->request.bytes, n);
    return true;
}

static bool make_parts(struct call *call)
{
    struct wr_batch *const batch = call->batch;
    const size_t n = batch->n_takes;
    const struct errand *const errands = make_errands(call->io->store, batch);
    struct wr_take **const takes = wr_arena_calloc(batch->arena, n, sizeof(struct wr_take *));
    struct wr_str *const keys = wr_arena_calloc(batch->arena, n, sizeof *keys);

    if (errands == NULL || takes == NULL || keys == NULL) {
        return false;
    }
    call->parts = wr_arena_calloc(batch->arena, count_slots(errands, n), sizeof *call->parts);
    if (call->parts == NULL) {
        return false;
    }
    for (size_t first = 0, end = 0; first < n; first = end) {
        for (; end < n && errands[end].slot == errands[first].slot; end++) {
            takes[end] = &batch->takes[errands[end].index];
            keys[end] = errands[end].key;
        }

        struct part *const part = &call->parts[call->n_parts++];

        if (!make_part(part, call, keys + first, takes + first, end - first)) {
            return false;
        }
        part->request.slot = errands[first].slot;
    }
    return true;
}

/* A thread that takes stays with one I/O thread: its block of metrics is its own. */
static struct io *choose_io(struct redis_store *store, const struct wr_batch *batch)
{
    return &store
                ->ios[(uintptr_t) batch->metrics / alignof(struct wr_metrics_block) % store->n_ios];
}

static void no_memory(struct wr_batch *batch)
{
    for (size_t i = 0; i < batch->n_takes; i++) {
        batch->takes[i].answer = WR_TAKE_NO_MEMORY;
    }
    wr_metrics_add(batch->metrics, WR_METRIC_STORE_NO_MEMORY, batch->n_takes);
    batch->done(batch, batch->context);
}

static void redis_store_take(struct wr_backend *backend, struct wr_batch *batch)
{
    struct redis_store *const store = store_of(backend);
    struct call *const call = wr_arena_calloc(batch->arena, 1, sizeof *call);

    if (call == NULL) {
        no_memory(batch);
        return;
    }
    call->io = choose_io(store, batch);
    call->batch = batch;
    call->job = (struct wr_redis_job){.run = send_call, .context = call};
    if (!make_parts(call)) {
        no_memory(batch);
        return;
    }
    call->n_left = call->n_parts + 1;
    wr_redis_loop_push(call->io->loop, &call->job);
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

static void route_ready(void *context, bool is_ready)
{
    struct io *const io = context;

    if (is_ready) {
        tell(io, true);
    } else if (!wr_redis_timer_is_set(&io->away)) {
        wr_redis_timer_set(wr_redis_loop_timers(io->loop), &io->away,
                           wr_redis_loop_now(io->loop) + AWAY_US);
    }
}

/* ---- begin and end ---- */

static void open_route(struct wr_redis_job *job)
{
    struct io *const io = job->context;
    struct redis_store *const store = io->store;

    io->route->ops->open(io->route);
    if (store->options.replicas != NULL && io == store->ios) {
        wr_redis_heartbeat_open(&store->heartbeat, io->loop, io->route);
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
    if (err == WR_OK) {
        err = wr_redis_loop_start(io->loop);
    }
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
    enum wr_err err = store->options.replicas == NULL ? WR_OK : wr_hash_key_draw(&id);

    if (store->options.replicas == NULL || err != WR_OK) {
        return err;
    }
    return wr_redis_heartbeat_init(
        &store->heartbeat, store->options.setup, store->options.keys.prefix,
        wr_hash_of(&id, store->options.keys.prefix).low, store->options.replicas);
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
