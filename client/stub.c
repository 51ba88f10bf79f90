/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call takes a completion queue for itself, so that threads never wait for one another's
 * events; queues are kept for the next call, which saves about a tenth of a call's CPU time.
 */
#include "stub.h"

#include "error.h"
#include "exchange.h"
#include "keeper.h"
#include "target.h"

#include <grpc/grpc.h>
#include <grpc/grpc_security.h>

#include <pthread.h>
#include <stdlib.h>

/* Beyond this many calls at once a queue is made and thrown away. */
#define IDLE_QUEUES_MAX 64

static const char *const paths[] = {
    [WEIR_METHOD_CHECK] = "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit",
    [WEIR_METHOD_HEALTH_CHECK] = "/grpc.health.v1.Health/Check",
    [WEIR_METHOD_HEALTH_WATCH] = "/grpc.health.v1.Health/Watch",
};

#define UNLIKE_A_PEER "?to=weir"

#define PATH_COUNT (sizeof paths / sizeof paths[0])

struct weir_stub {
    struct weir_route route;
    void *methods[PATH_COUNT]; /* paths, registered with the channel */
    struct weir_keeper keeper;
    pthread_mutex_t mutex;
    /* under mutex */
    size_t idle_count;
    grpc_completion_queue *idle[IDLE_QUEUES_MAX];
    char target[]; /* NUL-terminated; then the channel's spelling of it */
};

/* ---- Queues ---- */

static void queue_destroy(grpc_completion_queue *queue)
{
    grpc_completion_queue_shutdown(queue);
    grpc_completion_queue_destroy(queue);
}

static grpc_completion_queue *queue_acquire(struct weir_stub *stub)
{
    grpc_completion_queue *queue = NULL;

    weir_keeper_use(&stub->keeper);
    pthread_mutex_lock(&stub->mutex);
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
}

static void queues_destroy(struct weir_stub *stub)
{
    for (size_t i = 0; i < stub->idle_count; i++) {
        queue_destroy(stub->idle[i]);
    }
}

/*
 * A call's peer is its channel's target until the peer has said something, which helps an exchange
 * tell whether it was sent. A target spelled like a peer's address gets a query that means
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
    grpc_part_init(stub);
    if (!weir_keeper_start(&stub->keeper, &stub->route)) {
        goto destroy_channel;
    }
    *out_stub = stub;
    return WEIR_OK;

destroy_channel:
    grpc_channel_destroy(stub->route.channel);
    grpc_shutdown();
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
    weir_keeper_stop(&stub->keeper);
    grpc_channel_destroy(stub->route.channel);
    weir_keeper_fini(&stub->keeper);
    queues_destroy(stub);
    grpc_shutdown();
    pthread_mutex_destroy(&stub->mutex);
    free(stub);
}

/* ---- Calls that wait ---- */

/* Spares the keeper the rest of its tick when the connection is lost. */
static void keeper_tell(struct weir_stub *stub, const struct weir_exchange *exchange)
{
    if (!exchange->is_connected) {
        weir_keeper_wake(&stub->keeper);
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

enum weir_err weir_stub_start(struct weir_stub *stub, const struct weir_call *call,
                              weir_done_fn on_done, size_t in_flight_max, struct weir_error *error)
{
    return weir_keeper_take(&stub->keeper, call, on_done, in_flight_max, error);
}
