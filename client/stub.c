/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call takes a completion queue for itself, so that threads never wait for one another's
 * events; queues are kept for the next call, which saves about a tenth of a call's CPU time.
 *
 * C core makes progress only in threads that wait for events. A call waits for its own deadline at
 * the longest, and after a refusal not at all, so calls alone would leave a new connection half
 * made, and an idle client would let a server that stops wait for it (C core looks after such every
 * 5 s). Hence the keeper, a thread that watches the channel's state, and that ends the calls nobody
 * waits for, in the same queue:
 *
 *     unused -- first call --> no connection -- READY --> connected, no call of weir_stub_start
 *                              waits for an               looks every TICK_MS, since waiting would
 *                              event  <-- lost ---------  cost each other call a switch of threads
 *                                 |                              |  ^
 *                                 |               first started  v  |  last ended
 *                                 +--- lost ----------------  connected, such calls under way
 *                                                             waits for an event
 *
 * It ends when the stub is destroyed and each started call has ended; an event that means nothing
 * wakes it for that.
 */
#include "stub.h"

#include "error.h"
#include "exchange.h"
#include "target.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/time.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

/* Beyond this many calls at once a queue is made and thrown away. */
#define IDLE_QUEUES_MAX 64

/* How soon an idle client sees what a server does to its connection. */
#define TICK_MS 250

static const char *const paths[] = {
    [WEIR_METHOD_CHECK] = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
    [WEIR_METHOD_HEALTH_CHECK] = "/grpc.health.v1.Health/Check",
    [WEIR_METHOD_HEALTH_WATCH] = "/grpc.health.v1.Health/Watch",
};

#define UNLIKE_A_PEER "?to=weir"

#define PATH_COUNT (sizeof paths / sizeof paths[0])

/* A call of weir_stub_start, in the stub's list from its start to its end. */
struct started {
    struct weir_exchange exchange;
    weir_done_fn on_done;
    struct started *prev;
    struct started *next;
};

struct weir_stub {
    struct weir_route route;
    void *methods[PATH_COUNT]; /* paths, registered with the channel */
    pthread_t keeper;
    grpc_completion_queue *keeper_queue; /* the keeper's alone */
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* for the keeper: something has changed */
    /* the keeper's alone */
    bool is_watching;  /* an event of the watch is to come */
    bool is_connected; /* when the watch began */
    /* under mutex */
    bool is_used; /* there was a call */
    bool is_ending;
    size_t started_count;
    struct started *started; /* the last one first */
    size_t idle_count;
    grpc_completion_queue *idle[IDLE_QUEUES_MAX];
    char target[]; /* NUL-terminated; then the channel's spelling of it */
};

/* Before a call: the keeper has work from the first on. */
static void use_locked(struct weir_stub *stub)
{
    if (!stub->is_used) {
        stub->is_used = true;
        pthread_cond_signal(&stub->wake);
    }
}

/* ---- Queues ---- */

static void queue_destroy(grpc_completion_queue *queue)
{
    grpc_completion_queue_shutdown(queue);
    grpc_completion_queue_destroy(queue);
}

static grpc_completion_queue *queue_acquire(struct weir_stub *stub)
{
    grpc_completion_queue *queue = NULL;

    pthread_mutex_lock(&stub->mutex);
    use_locked(stub);
    if (stub->idle_count > 0) {
        queue = stub->idle[--stub->idle_count];
    }
    pthread_mutex_unlock(&stub->mutex);
    return queue != NULL ? queue : grpc_completion_queue_create_for_pluck(NULL);
}

/* The queue must have no event to come. */
static void queue_release(struct weir_stub *stub, grpc_completion_queue *queue)
{
    pthread_mutex_lock(&stub->mutex);
    if (stub->idle_count < IDLE_QUEUES_MAX) {
        stub->idle[stub->idle_count++] = queue;
        queue = NULL;
    }
    pthread_mutex_unlock(&stub->mutex);
    if (queue != NULL) {
        queue_destroy(queue);
    }
}

/* ---- Started calls ---- */

static void list_add_locked(struct weir_stub *stub, struct started *started)
{
    started->prev = NULL;
    started->next = stub->started;
    if (stub->started != NULL) {
        stub->started->prev = started;
    }
    stub->started = started;
    stub->started_count++;
}

static void list_remove_locked(struct weir_stub *stub, struct started *started)
{
    if (started->prev != NULL) {
        started->prev->next = started->next;
    } else {
        stub->started = started->next;
    }
    if (started->next != NULL) {
        started->next->prev = started->prev;
    }
    stub->started_count--;
}

/* After it nobody else adds to the list, and only the keeper takes from it. */
static void cancel_all(struct weir_stub *stub)
{
    for (struct started *started = stub->started; started != NULL; started = started->next) {
        grpc_call_cancel(started->exchange.rpc, NULL);
    }
}

static bool begin(struct weir_stub *stub, struct started *started)
{
    weir_exchange_open(&started->exchange, stub->keeper_queue);
    return weir_exchange_start_unary(&started->exchange, started);
}

/* In the keeper, at the event of an attempt, which is its own from the lock on. It is taken from
 * the list before its callback, which may start the next one. */
static void started_end(struct weir_stub *stub, struct started *started)
{
    struct weir_error error = {.code = WEIR_OK};

    pthread_mutex_lock(&stub->mutex);

    const bool is_ending = stub->is_ending;

    pthread_mutex_unlock(&stub->mutex);

    enum weir_err err = weir_exchange_finish(&started->exchange, &error);

    if (is_ending && started->exchange.status == GRPC_STATUS_CANCELLED) {
        err = weir_error_set(&error, WEIR_ERR_CANCELLED,
                             "the client was destroyed before an answer came");
    } else if (!is_ending && weir_exchange_is_retriable(&started->exchange, err) &&
               begin(stub, started)) {
        return;
    }
    pthread_mutex_lock(&stub->mutex);
    list_remove_locked(stub, started);
    pthread_mutex_unlock(&stub->mutex);
    started->on_done(started->exchange.call.arg, err, &error);
    weir_exchange_fini(&started->exchange);
    free(started);
}

/* ---- The keeper ---- */

static void tick_locked(struct weir_stub *stub)
{
    struct timespec until;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TICK_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    pthread_cond_timedwait(&stub->wake, &stub->mutex, &until);
}

/*
 * Begins to wait for the channel's next state. It asks for no connection by itself: a call does,
 * and C core goes on trying after a failure; an idle client that lost its server leaves it alone.
 */
static void watch_begin(struct weir_stub *stub)
{
    const grpc_connectivity_state state =
        grpc_channel_check_connectivity_state(stub->route.channel, 0);

    grpc_channel_watch_connectivity_state(
        stub->route.channel, state, gpr_inf_future(GPR_CLOCK_MONOTONIC), stub->keeper_queue, stub);
    stub->is_connected = state == GRPC_CHANNEL_READY;
    stub->is_watching = true;
}

/* Looks for an event, or waits for one, and does what is due; false when there was none. */
static bool handle(struct weir_stub *stub, bool wait)
{
    const gpr_timespec until =
        wait ? gpr_inf_future(GPR_CLOCK_MONOTONIC) : gpr_inf_past(GPR_CLOCK_MONOTONIC);
    const grpc_event event = grpc_completion_queue_next(stub->keeper_queue, until, NULL);

    if (event.type != GRPC_OP_COMPLETE) {
        return false;
    }
    if (event.tag == stub) {
        stub->is_watching = false;
    } else if (event.tag != &stub->wake) {
        started_end(stub, event.tag);
    }
    return true;
}

static void serve_locked(struct weir_stub *stub)
{
    const bool has_started = stub->started_count > 0;

    pthread_mutex_unlock(&stub->mutex);
    if (!stub->is_watching) {
        watch_begin(stub);
    }

    const bool wait = has_started || !stub->is_connected;
    const bool had_event = handle(stub, wait);

    pthread_mutex_lock(&stub->mutex);
    if (!had_event && !stub->is_ending && stub->started_count == 0) {
        tick_locked(stub);
    }
}

/* A callback that starts a call is refused from here on. */
static void finish_locked(struct weir_stub *stub)
{
    pthread_mutex_unlock(&stub->mutex);
    cancel_all(stub);
    pthread_mutex_lock(&stub->mutex);
    while (stub->started_count > 0) {
        pthread_mutex_unlock(&stub->mutex);
        handle(stub, true);
        pthread_mutex_lock(&stub->mutex);
    }
}

static void *keep(void *arg)
{
    struct weir_stub *stub = arg;

    pthread_mutex_lock(&stub->mutex);
    while (!stub->is_ending) {
        if (stub->is_used) {
            serve_locked(stub);
        } else {
            pthread_cond_wait(&stub->wake, &stub->mutex);
        }
    }
    finish_locked(stub);
    pthread_mutex_unlock(&stub->mutex);
    return NULL;
}

/* Signals are the program's: none is delivered to this thread. */
static bool keeper_start(struct weir_stub *stub)
{
    sigset_t all;
    sigset_t before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);

    const int err = pthread_create(&stub->keeper, NULL, keep, stub);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return err == 0;
}

/* Spares the keeper the rest of its tick. */
static void keeper_wake(struct weir_stub *stub)
{
    pthread_mutex_lock(&stub->mutex);
    pthread_cond_signal(&stub->wake);
    pthread_mutex_unlock(&stub->mutex);
}

/* Ends its wait for an event: a batch of nothing is one, of a call that never begins. */
static void keeper_call(struct weir_stub *stub)
{
    grpc_call *call = grpc_channel_create_registered_call(
        stub->route.channel, NULL, GRPC_PROPAGATE_DEFAULTS, stub->keeper_queue,
        stub->methods[WEIR_METHOD_CHECK], gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

    grpc_call_start_batch(call, NULL, 0, &stub->wake, NULL);
    grpc_call_unref(call);
}

/* ---- Life ---- */

static grpc_arg int_arg(const char *key, int value)
{
    /* C core takes the key as char *, and does not write to it. */
    union {
        const char *in;
        char *out;
    } name = {.in = key};

    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = name.out, .value.integer = value};
}

/*
 * Tuned for a caller with 20 ms: a lost server is tried again every second, a connection that does
 * not acknowledge is given up after two, and nothing is asked of the name server but addresses. The
 * web's proxy variables are not for this traffic.
 */
static grpc_channel *channel_new(const char *target)
{
    grpc_arg args[] = {
        int_arg(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100),
        int_arg(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 2000),
        int_arg(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000),
        int_arg(GRPC_ARG_KEEPALIVE_TIME_MS, 10000),
        int_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 2000),
        int_arg(GRPC_ARG_SERVICE_CONFIG_DISABLE_RESOLUTION, 1),
        int_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
    };
    const grpc_channel_args channel_args = {.num_args = sizeof args / sizeof args[0], .args = args};
    grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
    grpc_channel *channel = grpc_channel_create(target, credentials, &channel_args);

    grpc_channel_credentials_release(credentials);
    return channel;
}

static void grpc_part_init(struct weir_stub *stub)
{
    struct weir_route *route = &stub->route;

    grpc_init();
    route->channel = channel_new(route->channel_target);
    for (size_t i = 0; i < PATH_COUNT; i++) {
        stub->methods[i] = grpc_channel_register_call(route->channel, paths[i], NULL, NULL);
    }
    route->methods = stub->methods;
    stub->keeper_queue = grpc_completion_queue_create_for_next(NULL);
}

/* The end of the channel ends the watch. */
static void grpc_part_fini(struct weir_stub *stub)
{
    const gpr_timespec never = gpr_inf_future(GPR_CLOCK_MONOTONIC);

    grpc_channel_destroy(stub->route.channel);
    for (size_t i = 0; i < stub->idle_count; i++) {
        queue_destroy(stub->idle[i]);
    }
    grpc_completion_queue_shutdown(stub->keeper_queue);
    while (grpc_completion_queue_next(stub->keeper_queue, never, NULL).type !=
           GRPC_QUEUE_SHUTDOWN) {
    }
    grpc_completion_queue_destroy(stub->keeper_queue);
    grpc_shutdown();
}

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

/*
 * A call's peer is its channel's target until a connection takes the call, which is how an exchange
 * tells whether it was sent. A target spelled like a peer's address gets a query that means
 * nothing.
 */
static void targets_init(struct weir_stub *stub, const char *target, size_t size)
{
    static const char *const like_peers[] = {"unix:", "ipv4:", "ipv6:"};
    char *channel_target = &stub->target[size];

    memcpy(stub->target, target, size);
    memcpy(channel_target, target, size);
    for (size_t i = 0; i < sizeof like_peers / sizeof like_peers[0]; i++) {
        if (strncmp(target, like_peers[i], strlen(like_peers[i])) == 0) {
            memcpy(&channel_target[size - 1], UNLIKE_A_PEER, sizeof UNLIKE_A_PEER);
        }
    }
    stub->route.target = stub->target;
    stub->route.channel_target = channel_target;
}

enum weir_err weir_stub_new(const char *target, struct weir_stub **out_stub,
                            struct weir_error *error)
{
    if (weir_target_check(target, error) != WEIR_OK) {
        return WEIR_ERR_INVALID;
    }

    const size_t target_size = strlen(target) + 1;
    struct weir_stub *stub = calloc(1, sizeof *stub + 2 * target_size + strlen(UNLIKE_A_PEER));

    if (stub == NULL) {
        return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    targets_init(stub, target, target_size);
    if (pthread_mutex_init(&stub->mutex, NULL) != 0) {
        goto free_stub;
    }
    if (!wake_init(&stub->wake)) {
        goto destroy_mutex;
    }
    grpc_part_init(stub);
    if (!keeper_start(stub)) {
        goto fini_grpc;
    }
    *out_stub = stub;
    return WEIR_OK;

fini_grpc:
    grpc_part_fini(stub);
    pthread_cond_destroy(&stub->wake);
destroy_mutex:
    pthread_mutex_destroy(&stub->mutex);
free_stub:
    free(stub);
    return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory or threads");
}

void weir_stub_destroy(struct weir_stub *stub)
{
    if (stub == NULL) {
        return;
    }
    pthread_mutex_lock(&stub->mutex);
    stub->is_ending = true;
    pthread_cond_signal(&stub->wake);
    pthread_mutex_unlock(&stub->mutex);
    keeper_call(stub);
    pthread_join(stub->keeper, NULL);
    grpc_part_fini(stub);
    pthread_cond_destroy(&stub->wake);
    pthread_mutex_destroy(&stub->mutex);
    free(stub);
}

/* ---- Calls that wait ---- */

/* Spares the keeper the rest of its tick when the connection is lost. */
static void keeper_tell(struct weir_stub *stub, const struct weir_exchange *exchange)
{
    if (!exchange->is_connected) {
        keeper_wake(stub);
    }
}

/* Waits for the event that a start has promised; false when there is none, or no success. */
static bool wait_for(struct weir_exchange *exchange, grpc_completion_queue *queue, bool is_promised)
{
    return is_promised &&
           grpc_completion_queue_pluck(queue, exchange, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL)
                   .success != 0;
}

enum weir_err weir_stub_unary(struct weir_stub *stub, const struct weir_call *call,
                              struct weir_error *error)
{
    grpc_completion_queue *queue = queue_acquire(stub);
    struct weir_exchange exchange;
    enum weir_err err;

    weir_exchange_init(&exchange, &stub->route, call);
    do {
        weir_exchange_open(&exchange, queue);
        wait_for(&exchange, queue, weir_exchange_start_unary(&exchange, &exchange));
        err = weir_exchange_finish(&exchange, error);
        keeper_tell(stub, &exchange);
    } while (weir_exchange_is_retriable(&exchange, err));
    weir_exchange_fini(&exchange);
    queue_release(stub, queue);
    return err;
}

/* True until the stream ends. */
static bool next_reply(struct weir_exchange *exchange, grpc_completion_queue *queue)
{
    return wait_for(exchange, queue, weir_exchange_start_reply(exchange, exchange)) &&
           exchange->reply != NULL;
}

enum weir_err weir_stub_stream(struct weir_stub *stub, const struct weir_call *call,
                               struct weir_error *error)
{
    grpc_completion_queue *queue = queue_acquire(stub);
    struct weir_exchange exchange;
    bool ok = true;

    weir_exchange_init(&exchange, &stub->route, call);
    weir_exchange_open(&exchange, queue);
    if (wait_for(&exchange, queue, weir_exchange_start_stream(&exchange, &exchange))) {
        while (ok && next_reply(&exchange, queue)) {
            ok = weir_exchange_deliver(&exchange);
        }
    }
    if (!ok) {
        grpc_call_cancel(exchange.rpc, NULL);
    }
    wait_for(&exchange, queue, weir_exchange_start_status(&exchange, &exchange));

    const enum weir_err err =
        ok ? weir_exchange_explain(&exchange, error) : weir_exchange_garbage(&exchange, error);

    keeper_tell(stub, &exchange);
    weir_exchange_fini(&exchange);
    queue_release(stub, queue);
    return err;
}

/* ---- Calls that do not ---- */

/* Into the list, from which the keeper takes it; it wakes when it may be between two looks. */
static enum weir_err admit(struct weir_stub *stub, struct started *started, size_t in_flight_max,
                           struct weir_error *error)
{
    enum weir_err err = WEIR_OK;

    pthread_mutex_lock(&stub->mutex);
    if (stub->is_ending) {
        err = WEIR_ERR_CANCELLED;
    } else if (stub->started_count >= in_flight_max) {
        err = WEIR_ERR_BUSY;
    } else {
        use_locked(stub);
        list_add_locked(stub, started);
        if (stub->started_count == 1) {
            pthread_cond_signal(&stub->wake);
        }
    }
    pthread_mutex_unlock(&stub->mutex);
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

static void started_drop(struct started *started)
{
    weir_exchange_fini(&started->exchange);
    free(started);
}

enum weir_err weir_stub_start(struct weir_stub *stub, const struct weir_call *call,
                              weir_done_fn on_done, size_t in_flight_max, struct weir_error *error)
{
    struct started *started = malloc(sizeof *started);
    struct weir_batch batch;

    if (started == NULL) {
        return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    started->on_done = on_done;
    weir_exchange_init(&started->exchange, &stub->route, call);
    weir_exchange_open(&started->exchange, stub->keeper_queue);
    weir_exchange_batch(&started->exchange, &batch);

    const enum weir_err err = admit(stub, started, in_flight_max, error);

    if (err != WEIR_OK) {
        started_drop(started);
        return err;
    }
    if (!weir_batch_start(&batch, started)) {
        pthread_mutex_lock(&stub->mutex);
        list_remove_locked(stub, started);
        pthread_mutex_unlock(&stub->mutex);
        started_drop(started);
        return weir_error_set(error, WEIR_ERR_SERVER, "gRPC does not take the call");
    }
    return WEIR_OK;
}
