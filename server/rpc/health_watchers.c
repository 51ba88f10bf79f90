/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/health_watchers.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/lock.h"

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
    struct wr_str service; /* borrowed from the call arena */
    int told;              /* an enum wr_serving, or -1: nothing yet */
    /* guarded by mutex */
    uint64_t generation; /* as of its last turn */
    bool is_parked;
    bool is_linked;
    struct watcher *next, *prev;
    struct watcher *next_woken; /* of those that one change wakes */
};

struct wr_health_watchers {
    size_t max_watchers;
    wr_health_serving_fn *serving;
    void *context; /* borrowed */
    struct wr_mutex mutex;
    /* guarded by mutex */
    bool is_finishing;
    uint64_t generation; /* counts the changes */
    struct watcher *first;
    size_t n_watchers;
};

struct wr_health_watchers *wr_health_watchers_new(size_t max_watchers,
                                                  wr_health_serving_fn *serving, void *context)
{
    struct wr_health_watchers *const watchers = calloc(1, sizeof *watchers);

    if (watchers != NULL) {
        watchers->max_watchers = max_watchers;
        watchers->serving = serving;
        watchers->context = context;
        wr_mutex_init(&watchers->mutex, WR_LOCK_HEALTH);
    }
    return watchers;
}

void wr_health_watchers_destroy(struct wr_health_watchers *watchers)
{
    if (watchers == NULL) {
        return;
    }
    WR_ASSERT(watchers->first == NULL);
    wr_mutex_fini(&watchers->mutex);
    free(watchers);
}

/* Marks all parked watchers as woken; they are still to be woken, outside the lock. */
static struct watcher *change_locked(struct wr_health_watchers *watchers)
    WR_REQUIRES(watchers->mutex)
{
    struct watcher *woken = NULL;

    watchers->generation++;
    for (struct watcher *w = watchers->first; w != NULL; w = w->next) {
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

void wr_health_watchers_changed(struct wr_health_watchers *watchers)
{
    wr_mutex_lock(&watchers->mutex);

    struct watcher *const woken = change_locked(watchers);

    wr_mutex_unlock(&watchers->mutex);
    wake_all(woken);
}

void wr_health_watchers_finish(struct wr_health_watchers *watchers)
{
    wr_mutex_lock(&watchers->mutex);
    watchers->is_finishing = true;

    struct watcher *const woken = change_locked(watchers);

    wr_mutex_unlock(&watchers->mutex);
    wake_all(woken);
}

static void fail(struct wr_call *call, enum wr_status status, const char *text)
{
    call->ops->finish(call, status, wr_str_of(text), (struct wr_str){0});
}

static void unlink_locked(struct wr_health_watchers *watchers, struct watcher *w)
    WR_REQUIRES(watchers->mutex)
{
    if (!w->is_linked) {
        return;
    }
    if (w->prev == NULL) {
        watchers->first = w->next;
    } else {
        w->prev->next = w->next;
    }
    if (w->next != NULL) {
        w->next->prev = w->prev;
    }
    w->is_linked = false;
    watchers->n_watchers--;
}

static bool link_watcher(struct wr_health_watchers *watchers, struct watcher *w)
{
    wr_mutex_lock(&watchers->mutex);

    const bool has_room = watchers->n_watchers < watchers->max_watchers;

    if (has_room) {
        w->next = watchers->first;
        if (w->next != NULL) {
            w->next->prev = w;
        }
        watchers->first = w;
        watchers->n_watchers++;
        w->is_linked = true;
    }
    wr_mutex_unlock(&watchers->mutex);
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
        fail(w->call, WR_STATUS_RESOURCE_EXHAUSTED, "out of memory");
    }
    wr_arena_fini(&arena);
}

/* Awaits the next change; one that came since the turn began wakes at once. */
static void park(struct wr_health_watchers *watchers, struct watcher *w)
{
    w->call->ops->await(w->call);
    wr_mutex_lock(&watchers->mutex);
    w->is_parked = w->generation == watchers->generation;

    const bool is_parked = w->is_parked;

    wr_mutex_unlock(&watchers->mutex);
    if (!is_parked) {
        w->call->ops->wake(w->call);
    }
}

/* The generation is read before the state: a change between the two is told now, and costs another
 * turn that finds nothing new. */
static void take_turn(struct wr_health_watchers *watchers, struct watcher *w)
{
    wr_mutex_lock(&watchers->mutex);

    const bool is_open = w->is_linked;
    const bool is_finishing = watchers->is_finishing;

    w->generation = watchers->generation;
    if (is_finishing) {
        unlink_locked(watchers, w);
    }
    wr_mutex_unlock(&watchers->mutex);
    if (!is_open) {
        return;
    }
    tell(w, watchers->serving(watchers->context, w->service));
    if (is_finishing) {
        fail(w->call, WR_STATUS_UNAVAILABLE, "the server is shutting down");
    } else {
        park(watchers, w);
    }
}

void wr_health_watchers_add(struct wr_health_watchers *watchers, struct wr_call *call,
                            struct wr_str service)
{
    struct watcher *const w = wr_arena_calloc(call->arena, 1, sizeof *w);

    if (w == NULL) {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    *w = (struct watcher){.call = call, .service = service, .told = -1};
    if (!link_watcher(watchers, w)) {
        fail(call, WR_STATUS_RESOURCE_EXHAUSTED, "too many watchers; use Check");
        return;
    }
    call->state = w;
    take_turn(watchers, w);
}

void wr_health_watchers_turn(struct wr_health_watchers *watchers, struct wr_call *call)
{
    take_turn(watchers, call->state);
}

/* Balances the await of a parked watcher; one that is woken has its turn still to come. */
void wr_health_watchers_leave(struct wr_health_watchers *watchers, struct wr_call *call)
{
    struct watcher *const w = call->state;

    if (w == NULL) {
        return;
    }
    wr_mutex_lock(&watchers->mutex);
    unlink_locked(watchers, w);

    const bool is_parked = w->is_parked;

    w->is_parked = false;
    wr_mutex_unlock(&watchers->mutex);
    if (is_parked) {
        call->ops->wake(call);
    }
}
