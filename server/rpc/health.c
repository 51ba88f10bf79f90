/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/health.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/lock.h"
#include "wire/health.h"

static const struct wr_str names[] = {
    WR_STR(""),
    WR_STR("ratelimit"),
    WR_STR("envoy.service.ratelimit.v3.RateLimitService"),
};

#define N_NAMES (sizeof names / sizeof names[0])

/*
 * One Watch. Between two turns on its owner thread it is parked: it awaits, and whoever changes the
 * state wakes it, once. From then until its turn it is woken and left alone; what changes meanwhile
 * shows in the generation.
 *
 *              turn: tells what is new, awaits
 *   (new) ──────────────► PARKED ── state changed, call closed ──► WOKEN
 *                 ▲                                                  │
 *                 └──────────────────── on_wake ─────────────────────┘
 */
struct watcher {
    struct wr_call *call;
    bool is_known; /* the service asked for is one of ours */
    int told;      /* an enum wr_serving, or -1: nothing yet */
    /* guarded by mutex */
    uint64_t generation; /* as of its last turn */
    bool is_parked;
    bool is_linked;
    struct watcher *next, *prev;
    struct watcher *next_woken; /* of those that one change wakes */
};

struct wr_health {
    size_t max_watchers;
    struct wr_mutex mutex;
    /* guarded by mutex */
    bool is_serving;
    bool is_draining;
    bool is_finishing;
    uint64_t generation; /* counts the changes of the three above */
    struct watcher *watchers;
    size_t n_watchers;
};

struct wr_health *wr_health_new(size_t max_watchers)
{
    struct wr_health *const health = calloc(1, sizeof *health);

    if (health != NULL) {
        health->max_watchers = max_watchers;
        wr_mutex_init(&health->mutex, WR_LOCK_HEALTH);
    }
    return health;
}

void wr_health_destroy(struct wr_health *health)
{
    if (health == NULL) {
        return;
    }
    WR_ASSERT(health->watchers == NULL);
    wr_mutex_fini(&health->mutex);
    free(health);
}

static bool is_known(struct wr_str service)
{
    for (size_t i = 0; i < N_NAMES; i++) {
        if (wr_str_equal(service, names[i])) {
            return true;
        }
    }
    return false;
}

static enum wr_serving serving_of(bool is_serving)
{
    return is_serving ? WR_SERVING_YES : WR_SERVING_NO;
}

bool wr_health_is_serving(struct wr_health *health)
{
    wr_mutex_lock(&health->mutex);

    const bool is_serving = health->is_serving;

    wr_mutex_unlock(&health->mutex);
    return is_serving;
}

/* Marks all parked watchers as woken; they are still to be woken, outside the lock. */
static struct watcher *change_locked(struct wr_health *health) WR_REQUIRES(health->mutex)
{
    struct watcher *woken = NULL;

    health->generation++;
    for (struct watcher *w = health->watchers; w != NULL; w = w->next) {
        if (w->is_parked) {
            w->is_parked = false;
            w->next_woken = woken;
            woken = w;
        }
    }
    return woken;
}

/* A watcher lives until it is woken, not longer. */
static void wake_all(struct watcher *woken)
{
    while (woken != NULL) {
        struct watcher *const next = woken->next_woken;

        woken->call->ops->wake(woken->call);
        woken = next;
    }
}

void wr_health_set(struct wr_health *health, bool is_serving)
{
    struct watcher *woken = NULL;

    wr_mutex_lock(&health->mutex);
    if (!health->is_draining && health->is_serving != is_serving) {
        health->is_serving = is_serving;
        woken = change_locked(health);
    }
    wr_mutex_unlock(&health->mutex);
    wake_all(woken);
}

void wr_health_drain(struct wr_health *health)
{
    wr_mutex_lock(&health->mutex);
    health->is_draining = true;
    health->is_serving = false;

    struct watcher *const woken = change_locked(health);

    wr_mutex_unlock(&health->mutex);
    wake_all(woken);
}

void wr_health_finish_watchers(struct wr_health *health)
{
    wr_mutex_lock(&health->mutex);
    health->is_finishing = true;

    struct watcher *const woken = change_locked(health);

    wr_mutex_unlock(&health->mutex);
    wake_all(woken);
}

static void fail(struct wr_call *call, enum wr_status status, const char *text)
{
    call->ops->finish(call, status, wr_str_of(text), (struct wr_str){0});
}

static void fail_for(struct wr_call *call, enum wr_err err)
{
    if (err == WR_ERR_MALFORMED) {
        fail(call, WR_STATUS_INVALID_ARGUMENT, "the message is not a HealthCheckRequest");
    } else if (err == WR_ERR_TOO_LARGE) {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED,
             "the message is larger than any that asks for health");
    } else {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED, "out of memory");
    }
}

/* False when the call was answered with an error. */
static bool read_service(struct wr_call *call, struct wr_str message, struct wr_str *out_service)
{
    if (message.ptr == NULL) {
        fail(call, WR_STATUS_INVALID_ARGUMENT, "the call came without a message");
        return false;
    }

    const enum wr_err err = wr_health_request_decode(message, call->arena, out_service);

    if (err != WR_OK) {
        fail_for(call, err);
    }
    return err == WR_OK;
}

static void check(void *context, struct wr_call *call, struct wr_str message)
{
    struct wr_health *const health = context;
    struct wr_str service = {0}, answer = {0};

    wr_metrics_add(call->metrics, WR_METRIC_HEALTH_CALLS, 1);
    if (!read_service(call, message, &service)) {
        return;
    }
    if (!is_known(service)) {
        fail(call, WR_STATUS_NOT_FOUND, "no such service here; List tells which there are");
    } else if (!wr_health_response_encode(serving_of(wr_health_is_serving(health)), call->arena,
                                          &answer)) {
        fail_for(call, WR_ERR_NO_MEMORY);
    } else {
        call->ops->reply(call, answer);
    }
}

static void list(void *context, struct wr_call *call, struct wr_str message)
{
    struct wr_health *const health = context;
    const enum wr_serving serving = serving_of(wr_health_is_serving(health));
    struct wr_health_row rows[N_NAMES];
    struct wr_str answer = {0};

    (void) message; /* has no fields */
    wr_metrics_add(call->metrics, WR_METRIC_HEALTH_CALLS, 1);
    for (size_t i = 0; i < N_NAMES; i++) {
        rows[i] = (struct wr_health_row){.service = names[i], .serving = serving};
    }
    if (!wr_health_list_encode(rows, N_NAMES, call->arena, &answer)) {
        fail_for(call, WR_ERR_NO_MEMORY);
    } else {
        call->ops->reply(call, answer);
    }
}

static void unlink_locked(struct wr_health *health, struct watcher *w) WR_REQUIRES(health->mutex)
{
    if (!w->is_linked) {
        return;
    }
    if (w->prev == NULL) {
        health->watchers = w->next;
    } else {
        w->prev->next = w->next;
    }
    if (w->next != NULL) {
        w->next->prev = w->prev;
    }
    w->is_linked = false;
    health->n_watchers--;
}

static bool link_watcher(struct wr_health *health, struct watcher *w)
{
    wr_mutex_lock(&health->mutex);

    const bool has_room = health->n_watchers < health->max_watchers;

    if (has_room) {
        w->next = health->watchers;
        if (w->next != NULL) {
            w->next->prev = w;
        }
        health->watchers = w;
        health->n_watchers++;
        w->is_linked = true;
    }
    wr_mutex_unlock(&health->mutex);
    return has_room;
}

/* Sends `serving` unless that is what the watcher was told last. The arena is one of its own: the
 * call's would grow with every change. */
static void tell(struct watcher *w, enum wr_serving serving)
{
    struct wr_arena arena;
    struct wr_str answer = {0};

    if (w->told == (int) serving) {
        return;
    }
    w->told = (int) serving;
    wr_arena_init(&arena, 256);
    if (wr_health_response_encode(serving, &arena, &answer)) {
        w->call->ops->send(w->call, answer);
    } else {
        fail_for(w->call, WR_ERR_NO_MEMORY);
    }
    wr_arena_fini(&arena);
}

/* Awaits the next change; one that came since the turn began wakes at once. */
static void park(struct wr_health *health, struct watcher *w)
{
    w->call->ops->await(w->call);
    wr_mutex_lock(&health->mutex);
    w->is_parked = w->generation == health->generation;

    const bool is_parked = w->is_parked;

    wr_mutex_unlock(&health->mutex);
    if (!is_parked) {
        w->call->ops->wake(w->call);
    }
}

static void take_turn(struct wr_health *health, struct watcher *w)
{
    wr_mutex_lock(&health->mutex);

    const bool is_open = w->is_linked;
    const bool is_finishing = health->is_finishing;
    const enum wr_serving serving = serving_of(health->is_serving);

    w->generation = health->generation;
    if (is_finishing) {
        unlink_locked(health, w);
    }
    wr_mutex_unlock(&health->mutex);
    if (!is_open) {
        return;
    }
    tell(w, w->is_known ? serving : WR_SERVING_SERVICE_UNKNOWN);
    if (is_finishing) {
        fail(w->call, WR_STATUS_UNAVAILABLE, "the server is shutting down");
    } else {
        park(health, w);
    }
}

static void watch(void *context, struct wr_call *call, struct wr_str message)
{
    struct wr_health *const health = context;
    struct wr_str service = {0};

    if (call->state != NULL) {
        return; /* a half-close, or a message too many */
    }
    wr_metrics_add(call->metrics, WR_METRIC_HEALTH_CALLS, 1);
    if (!read_service(call, message, &service)) {
        return;
    }

    struct watcher *const w = wr_arena_calloc(call->arena, 1, sizeof *w);

    if (w == NULL) {
        fail_for(call, WR_ERR_NO_MEMORY);
        return;
    }
    *w = (struct watcher){.call = call, .is_known = is_known(service), .told = -1};
    if (!link_watcher(health, w)) {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED, "too many watchers; use Check");
        return;
    }
    call->state = w;
    take_turn(health, w);
}

static void watch_woken(void *context, struct wr_call *call)
{
    take_turn(context, call->state);
}

/* Balances the await of a parked watcher; one that is woken has its turn still to come. */
static void watch_closed(void *context, struct wr_call *call, bool is_cancelled)
{
    struct wr_health *const health = context;
    struct watcher *const w = call->state;

    (void) is_cancelled;
    if (w == NULL) {
        return;
    }
    wr_mutex_lock(&health->mutex);
    unlink_locked(health, w);

    const bool is_parked = w->is_parked;

    w->is_parked = false;
    wr_mutex_unlock(&health->mutex);
    if (is_parked) {
        call->ops->wake(call);
    }
}

void wr_health_methods(struct wr_health *health, struct wr_method out_methods[WR_HEALTH_METHODS])
{
    out_methods[0] = (struct wr_method){
        .path = "/grpc.health.v1.Health/Check",
        .kind = WR_METHOD_UNARY,
        .context = health,
        .on_message = check,
    };
    out_methods[1] = (struct wr_method){
        .path = "/grpc.health.v1.Health/List",
        .kind = WR_METHOD_UNARY,
        .context = health,
        .on_message = list,
    };
    out_methods[2] = (struct wr_method){
        .path = "/grpc.health.v1.Health/Watch",
        .kind = WR_METHOD_STREAM,
        .context = health,
        .on_message = watch,
        .on_wake = watch_woken,
        .on_close = watch_closed,
    };
}
