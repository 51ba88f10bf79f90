/* SPDX-License-Identifier: Apache-2.0 */
/*
 *     unused -- first call --> no connection -- READY --> connected, no call taken
 *                              waits for an               looks every TICK_MS, since waiting would
 *                              event  <-- lost ---------  cost each other call a switch of threads
 *                                 |                              |  ^
 *                                 |                 first taken  v  |  last ended
 *                                 +--- lost ----------------  connected, calls taken
 *                                                             waits for an event
 *
 * It ends when it is stopped and each call that it took has ended; an event that means nothing
 * wakes it for that. A call is handed over by the mutex: who starts it touches it no more after the
 * lock, the keeper only after taking the lock at its event.
 */
#include "keeper.h"

#include "error.h"

#include <grpc/support/time.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* How soon an idle client sees what a server does to its connection. */
#define TICK_MS 250

/* A call that was taken, in the keeper's list until its end. */
struct weir_started {
    struct weir_exchange exchange;
    weir_done_fn on_done;
    struct weir_started *prev;
    struct weir_started *next;
};

/* ---- Started calls ---- */

static void list_add_locked(struct weir_keeper *keeper, struct weir_started *started)
{
    started->prev = NULL;
    started->next = keeper->started;
    if (keeper->started != NULL) {
        keeper->started->prev = started;
    }
    keeper->started = started;
    keeper->started_count++;
}

static void list_remove_locked(struct weir_keeper *keeper, struct weir_started *started)
{
    if (started->prev != NULL) {
        started->prev->next = started->next;
    } else {
        keeper->started = started->next;
    }
    if (started->next != NULL) {
        started->next->prev = started->prev;
    }
    keeper->started_count--;
}

/* After it nobody else adds to the list, and only the keeper takes from it. */
static void cancel_all(struct weir_keeper *keeper)
{
    for (struct weir_started *started = keeper->started; started != NULL; started = started->next) {
        grpc_call_cancel(started->exchange.rpc, NULL);
    }
}

static bool begin(struct weir_keeper *keeper, struct weir_started *started)
{
    weir_exchange_open(&started->exchange, keeper->queue);
    return weir_exchange_start_unary(&started->exchange, started);
}

/* In the keeper, at the event of an attempt, which is its own from the lock on. It is taken from
 * the list before its callback, which may start the next one. */
static void started_end(struct weir_keeper *keeper, struct weir_started *started)
{
    struct weir_error error = {.code = WEIR_OK};

    pthread_mutex_lock(&keeper->mutex);

    const bool is_ending = keeper->is_ending;

    pthread_mutex_unlock(&keeper->mutex);

    enum weir_err err = weir_exchange_finish(&started->exchange, &error);

    if (is_ending && started->exchange.status == GRPC_STATUS_CANCELLED) {
        err = weir_error_set(&error, WEIR_ERR_CANCELLED,
                             "the client was destroyed before an answer came");
    } else if (!is_ending && weir_exchange_is_retriable(&started->exchange, err) &&
               begin(keeper, started)) {
        return;
    }
    pthread_mutex_lock(&keeper->mutex);
    list_remove_locked(keeper, started);
    pthread_mutex_unlock(&keeper->mutex);
    started->on_done(started->exchange.call.arg, err, &error);
    weir_exchange_fini(&started->exchange);
    free(started);
}

/* ---- The thread ---- */

static void tick_locked(struct weir_keeper *keeper)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&keeper->wake, &keeper->mutex, &until);
}

/*
 * Begins to wait for the channel's next state. It asks for no connection by itself: a call does,
 * and C core goes on trying after a failure; an idle client that lost its server leaves it alone.
 */
static void watch_begin(struct weir_keeper *keeper)
{
    const grpc_connectivity_state state =
        grpc_channel_check_connectivity_state(keeper->route->channel, 0);

    grpc_channel_watch_connectivity_state(
        keeper->route->channel, state, gpr_inf_future(GPR_CLOCK_MONOTONIC), keeper->queue, keeper);
    keeper->is_connected = state == GRPC_CHANNEL_READY;
    keeper->is_watching = true;
}

/* Looks for an event, or waits for one, and does what is due; false when there was none. */
static bool handle(struct weir_keeper *keeper, bool wait)
{
    const gpr_timespec until =
        wait ? gpr_inf_future(GPR_CLOCK_MONOTONIC) : gpr_inf_past(GPR_CLOCK_MONOTONIC);
    const grpc_event event = grpc_completion_queue_next(keeper->queue, until, NULL);

    if (event.type != GRPC_OP_COMPLETE) {
        return false;
    }
    if (event.tag == keeper) {
        keeper->is_watching = false;
    } else if (event.tag != &keeper->wake) {
        started_end(keeper, event.tag);
    }
    return true;
}

static void serve_locked(struct weir_keeper *keeper)
{
    const bool has_started = keeper->started_count > 0;

    pthread_mutex_unlock(&keeper->mutex);
    if (!keeper->is_watching) {
        watch_begin(keeper);
    }

    const bool wait = has_started || !keeper->is_connected;
    const bool had_event = handle(keeper, wait);

    pthread_mutex_lock(&keeper->mutex);
    if (!had_event && !keeper->is_ending && keeper->started_count == 0) {
        tick_locked(keeper);
    }
}

/* A callback that starts a call is refused from here on. */
static void finish_locked(struct weir_keeper *keeper)
{
    pthread_mutex_unlock(&keeper->mutex);
    cancel_all(keeper);
    pthread_mutex_lock(&keeper->mutex);
    while (keeper->started_count > 0) {
        pthread_mutex_unlock(&keeper->mutex);
        handle(keeper, true);
        pthread_mutex_lock(&keeper->mutex);
    }
}

static void *keep(void *arg)
{
    struct weir_keeper *keeper = arg;

    pthread_mutex_lock(&keeper->mutex);
    while (!keeper->is_ending) {
        if (atomic_load_explicit(&keeper->is_used, memory_order_relaxed)) {
            serve_locked(keeper);
        } else {
            pthread_cond_wait(&keeper->wake, &keeper->mutex);
        }
    }
    finish_locked(keeper);
    pthread_mutex_unlock(&keeper->mutex);
    return NULL;
}

/* ---- Life ---- */

/* Waits by the monotonic clock. */
static bool wake_init(pthread_cond_t *wake)
{
    pthread_condattr_t attributes;

    if (pthread_condattr_init(&attributes) != 0) {
        return false;
    }
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);

    const bool ok = pthread_cond_init(wake, &attributes) == 0;

    pthread_condattr_destroy(&attributes);
    return ok;
}

/* Signals are the program's: none is delivered to this thread. */
static bool thread_start(struct weir_keeper *keeper)
{
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);

    const int err = pthread_create(&keeper->thread, NULL, keep, keeper);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err == 0;
}

bool weir_keeper_start(struct weir_keeper *keeper, const struct weir_route *route)
{
    keeper->route = route;
    keeper->is_watching = false;
    keeper->is_connected = false;
    keeper->is_ending = false;
    keeper->started_count = 0;
    keeper->started = NULL;
    atomic_init(&keeper->is_used, false);
    if (pthread_mutex_init(&keeper->mutex, NULL) != 0) {
        return false;
    }
    if (!wake_init(&keeper->wake)) {
        goto destroy_mutex;
    }
    keeper->queue = grpc_completion_queue_create_for_next(NULL);
    if (!thread_start(keeper)) {
        goto destroy_queue;
    }
    return true;

destroy_queue:
    grpc_completion_queue_shutdown(keeper->queue);
    grpc_completion_queue_destroy(keeper->queue);
    pthread_cond_destroy(&keeper->wake);
destroy_mutex:
    pthread_mutex_destroy(&keeper->mutex);
    return false;
}

/* Ends its wait for an event: a batch of nothing is one, of a call that never begins. */
static void call_up(struct weir_keeper *keeper)
{
    grpc_call *call = grpc_channel_create_registered_call(
        keeper->route->channel, NULL, GRPC_PROPAGATE_DEFAULTS, keeper->queue,
        keeper->route->methods[WEIR_METHOD_CHECK], gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

    grpc_call_start_batch(call, NULL, 0, &keeper->wake, NULL);
    grpc_call_unref(call);
}

static void refuse_own_thread(const struct weir_keeper *keeper)
{
    if (pthread_equal(pthread_self(), keeper->thread) != 0) {
        fputs("libweir: weir_client_destroy was called by a callback of the same client\n", stderr);
        abort();
    }
}

void weir_keeper_stop(struct weir_keeper *keeper)
{
    refuse_own_thread(keeper);
    pthread_mutex_lock(&keeper->mutex);
    keeper->is_ending = true;
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->mutex);
    call_up(keeper);
    pthread_join(keeper->thread, NULL);
}

void weir_keeper_fini(struct weir_keeper *keeper)
{
    const gpr_timespec never = gpr_inf_future(GPR_CLOCK_MONOTONIC);

    grpc_completion_queue_shutdown(keeper->queue);
    while (grpc_completion_queue_next(keeper->queue, never, NULL).type != GRPC_QUEUE_SHUTDOWN) {
    }
    grpc_completion_queue_destroy(keeper->queue);
    pthread_cond_destroy(&keeper->wake);
    pthread_mutex_destroy(&keeper->mutex);
}

/* The lock orders it with the keeper's look at the flag before it waits. */
void weir_keeper_use(struct weir_keeper *keeper)
{
    if (!atomic_load_explicit(&keeper->is_used, memory_order_relaxed)) {
        pthread_mutex_lock(&keeper->mutex);
        atomic_store_explicit(&keeper->is_used, true, memory_order_relaxed);
        pthread_cond_signal(&keeper->wake);
        pthread_mutex_unlock(&keeper->mutex);
    }
}

void weir_keeper_wake(struct weir_keeper *keeper)
{
    pthread_mutex_lock(&keeper->mutex);
    pthread_cond_signal(&keeper->wake);
    pthread_mutex_unlock(&keeper->mutex);
}

/* ---- Taking calls ---- */

/* Into the list, from which the keeper takes it; it wakes when it may be between two looks. */
static enum weir_err admit(struct weir_keeper *keeper, struct weir_started *started,
                           size_t in_flight_max, struct weir_error *error)
{
    enum weir_err err = WEIR_OK;

    pthread_mutex_lock(&keeper->mutex);
    if (keeper->is_ending) {
        err = WEIR_ERR_CANCELLED;
    } else if (keeper->started_count >= in_flight_max) {
        err = WEIR_ERR_BUSY;
    } else {
        atomic_store_explicit(&keeper->is_used, true, memory_order_relaxed);
        list_add_locked(keeper, started);
        if (keeper->started_count == 1) {
            pthread_cond_signal(&keeper->wake);
        }
    }
    pthread_mutex_unlock(&keeper->mutex);
    if (err == WEIR_ERR_CANCELLED) {
        return weir_error_set(error, err, "the client is being destroyed");
    }
    if (err == WEIR_ERR_BUSY) {
        return weir_error_set(error, err,
                              "%zu checks are in flight, which is the bound: wait for one",
                              in_flight_max);
    }
    return WEIR_OK;
}

static void started_drop(struct weir_started *started)
{
    weir_exchange_fini(&started->exchange);
    free(started);
}

enum weir_err weir_keeper_take(struct weir_keeper *keeper, const struct weir_call *call,
                               weir_done_fn on_done, size_t in_flight_max, struct weir_error *error)
{
    struct weir_started *started = malloc(sizeof *started);
    struct weir_batch batch;

    if (started == NULL) {
        return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    started->on_done = on_done;
    weir_exchange_init(&started->exchange, keeper->route, call);
    weir_exchange_open(&started->exchange, keeper->queue);
    weir_exchange_batch(&started->exchange, &batch);

    const enum weir_err err = admit(keeper, started, in_flight_max, error);

    if (err != WEIR_OK) {
        started_drop(started);
        return err;
    }
    if (!weir_batch_start(&batch, started)) {
        pthread_mutex_lock(&keeper->mutex);
        list_remove_locked(keeper, started);
        pthread_mutex_unlock(&keeper->mutex);
        started_drop(started);
        return weir_error_set(error, WEIR_ERR_SERVER, "gRPC does not take the call");
    }
    return WEIR_OK;
}
