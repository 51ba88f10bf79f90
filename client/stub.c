/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each call takes a completion queue for itself, so that threads never wait for one another's
 * events; queues are kept for the next call, which saves about a tenth of a call's CPU time.
 *
 * C core makes progress only in threads that wait for events. A call waits for its own deadline at
 * the longest, and after a refusal not at all, so calls alone would leave a new connection half
 * made, and an idle client would let a server that stops wait for it (C core looks after such every
 * 5 s). Hence the keeper, a thread that watches the channel's state:
 *
 *     unused -- first call --> no connection -- READY --> connected
 *                              waits for the              looks every TICK_MS, since waiting would
 *                              next state  <-- lost ----  cost each call a switch of threads
 *
 * It ends when weir_stub_destroy takes the channel away.
 */
#include "stub.h"

#include "error.h"
#include "explain.h"
#include "target.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
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

#define PATH_COUNT (sizeof paths / sizeof paths[0])

struct weir_stub {
    grpc_channel *channel;
    void *methods[PATH_COUNT]; /* paths, registered with the channel */
    pthread_t keeper;
    grpc_completion_queue *keeper_queue; /* the keeper's alone */
    pthread_mutex_t mutex;
    pthread_cond_t wake; /* for the keeper: something has changed */
    /* under mutex */
    bool is_used; /* there was a call */
    bool is_ending;
    size_t idle_count;
    grpc_completion_queue *idle[IDLE_QUEUES_MAX];
    char target[]; /* NUL-terminated */
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

    pthread_mutex_lock(&stub->mutex);
    if (!stub->is_used) {
        stub->is_used = true;
        pthread_cond_signal(&stub->wake);
    }
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

/* True when the watch under way has ended; looks once, or waits for it. Unlocks meanwhile. */
static bool poll_locked(struct weir_stub *stub, bool wait)
{
    const gpr_timespec until =
        wait ? gpr_inf_future(GPR_CLOCK_MONOTONIC) : gpr_inf_past(GPR_CLOCK_MONOTONIC);

    pthread_mutex_unlock(&stub->mutex);

    const grpc_event event = grpc_completion_queue_next(stub->keeper_queue, until, NULL);

    pthread_mutex_lock(&stub->mutex);
    return event.type == GRPC_OP_COMPLETE;
}

/*
 * Comes back when the channel's state is another. It asks for no connection by itself: a call does,
 * and C core goes on trying after a failure; an idle client that lost its server leaves it alone.
 */
static void watch_locked(struct weir_stub *stub)
{
    const grpc_connectivity_state state = grpc_channel_check_connectivity_state(stub->channel, 0);
    bool wait = state != GRPC_CHANNEL_READY;

    grpc_channel_watch_connectivity_state(stub->channel, state, gpr_inf_future(GPR_CLOCK_MONOTONIC),
                                          stub->keeper_queue, stub);
    while (!poll_locked(stub, wait)) {
        if (stub->is_ending) {
            wait = true;
        } else {
            tick_locked(stub);
        }
    }
}

static void *keep(void *arg)
{
    struct weir_stub *stub = arg;

    pthread_mutex_lock(&stub->mutex);
    while (!stub->is_ending) {
        if (stub->is_used) {
            watch_locked(stub);
        } else {
            pthread_cond_wait(&stub->wake, &stub->mutex);
        }
    }
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
    grpc_init();
    stub->channel = channel_new(stub->target);
    for (size_t i = 0; i < PATH_COUNT; i++) {
        stub->methods[i] = grpc_channel_register_call(stub->channel, paths[i], NULL, NULL);
    }
    stub->keeper_queue = grpc_completion_queue_create_for_next(NULL);
}

static void grpc_part_fini(struct weir_stub *stub)
{
    for (size_t i = 0; i < stub->idle_count; i++) {
        queue_destroy(stub->idle[i]);
    }
    queue_destroy(stub->keeper_queue);
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

enum weir_err weir_stub_new(const char *target, struct weir_stub **out_stub,
                            struct weir_error *error)
{
    if (weir_target_check(target, error) != WEIR_OK) {
        return WEIR_ERR_INVALID;
    }

    const size_t target_size = strlen(target) + 1;
    struct weir_stub *stub = calloc(1, sizeof *stub + target_size);

    if (stub == NULL) {
        return weir_error_set(error, WEIR_ERR_MEMORY, "out of memory");
    }
    memcpy(stub->target, target, target_size);
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
    grpc_channel_destroy(stub->channel);
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
    grpc_channel_destroy(stub->channel);
    pthread_join(stub->keeper, NULL);
    grpc_part_fini(stub);
    pthread_cond_destroy(&stub->wake);
    pthread_mutex_destroy(&stub->mutex);
    free(stub);
}

/* ---- One call ---- */

struct exchange {
    struct weir_stub *stub;
    const struct weir_call *call;
    grpc_completion_queue *queue;
    grpc_call *rpc;
    grpc_byte_buffer *request;
    grpc_metadata_array initial;
    grpc_metadata_array trailing;
    grpc_status_code status;
    grpc_slice status_text;
};

static gpr_timespec deadline_of(const struct weir_call *call)
{
    if (call->deadline_ms == WEIR_NO_DEADLINE) {
        return gpr_inf_future(GPR_CLOCK_MONOTONIC);
    }
    return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                        gpr_time_from_millis(call->deadline_ms, GPR_TIMESPAN));
}

/* The request is copied: after a deadline C core may still hold it when the caller has gone on. */
static void exchange_init(struct exchange *exchange, struct weir_stub *stub,
                          const struct weir_call *call)
{
    grpc_slice slice = grpc_slice_from_copied_buffer((const char *) call->bytes, call->len);

    exchange->stub = stub;
    exchange->call = call;
    exchange->queue = queue_acquire(stub);
    exchange->rpc = grpc_channel_create_registered_call(
        stub->channel, NULL, GRPC_PROPAGATE_DEFAULTS, exchange->queue, stub->methods[call->method],
        deadline_of(call), NULL);
    exchange->request = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    grpc_metadata_array_init(&exchange->initial);
    grpc_metadata_array_init(&exchange->trailing);
    exchange->status = GRPC_STATUS_UNKNOWN;
    exchange->status_text = grpc_empty_slice();
}

static void exchange_fini(struct exchange *exchange)
{
    if (exchange->call->out_status != NULL) {
        *exchange->call->out_status = (int) exchange->status;
    }
    grpc_slice_unref(exchange->status_text);
    grpc_metadata_array_destroy(&exchange->trailing);
    grpc_metadata_array_destroy(&exchange->initial);
    grpc_byte_buffer_destroy(exchange->request);
    grpc_call_unref(exchange->rpc);
    queue_release(exchange->stub, exchange->queue);
}

/* Runs a batch to its end; every one has an end, since the call's deadline or the server ends it.
 */
static bool run(struct exchange *exchange, const grpc_op *ops, size_t count)
{
    if (grpc_call_start_batch(exchange->rpc, ops, count, exchange, NULL) != GRPC_CALL_OK) {
        return false;
    }
    return grpc_completion_queue_pluck(exchange->queue, exchange,
                                       gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL)
               .success != 0;
}

static void send_ops(struct exchange *exchange, grpc_op ops[4])
{
    ops[0] = (grpc_op){.op = GRPC_OP_SEND_INITIAL_METADATA};
    ops[1] =
        (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = exchange->request};
    ops[2] = (grpc_op){.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT};
    ops[3] = (grpc_op){.op = GRPC_OP_RECV_INITIAL_METADATA,
                       .data.recv_initial_metadata.recv_initial_metadata = &exchange->initial};
}

static grpc_op message_op(grpc_byte_buffer **out_reply)
{
    return (grpc_op){.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = out_reply};
}

static grpc_op status_op(struct exchange *exchange)
{
    return (grpc_op){.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
                     .data.recv_status_on_client = {.trailing_metadata = &exchange->trailing,
                                                    .status = &exchange->status,
                                                    .status_details = &exchange->status_text}};
}

/* Hands a reply over in one piece and frees it; false when there is none or it makes no sense. */
static bool deliver(const struct exchange *exchange, grpc_byte_buffer *reply)
{
    grpc_byte_buffer_reader reader;
    bool ok = false;

    if (reply != NULL && grpc_byte_buffer_reader_init(&reader, reply) != 0) {
        grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);

        ok = exchange->call->on_reply(exchange->call->arg, GRPC_SLICE_START_PTR(slice),
                                      GRPC_SLICE_LENGTH(slice));
        grpc_slice_unref(slice);
        grpc_byte_buffer_reader_destroy(&reader);
    }
    grpc_byte_buffer_destroy(reply);
    return ok;
}

static enum weir_err explain(const struct exchange *exchange, struct weir_error *error)
{
    struct weir_stub *stub = exchange->stub;
    const grpc_slice *text = &exchange->status_text;
    const bool is_connected =
        grpc_channel_check_connectivity_state(stub->channel, 0) == GRPC_CHANNEL_READY;
    const struct weir_failure failure = {
        .status = (int) exchange->status,
        .message = {(const char *) GRPC_SLICE_START_PTR(*text), GRPC_SLICE_LENGTH(*text)},
        .target = stub->target,
        .deadline_ms = exchange->call->deadline_ms,
        .is_connected = is_connected,
    };

    if (!is_connected) {
        keeper_wake(stub);
    }
    return weir_explain(&failure, error);
}

static enum weir_err garbage(const struct exchange *exchange, struct weir_error *error)
{
    return weir_error_set(error, WEIR_ERR_PROTOCOL,
                          "the reply of %s makes no sense: is it a rate-limit service?",
                          exchange->stub->target);
}

enum weir_err weir_stub_unary(struct weir_stub *stub, const struct weir_call *call,
                              struct weir_error *error)
{
    struct exchange exchange;
    grpc_byte_buffer *reply = NULL;
    grpc_op ops[6];
    enum weir_err err = WEIR_OK;

    exchange_init(&exchange, stub, call);
    send_ops(&exchange, ops);
    ops[4] = message_op(&reply);
    ops[5] = status_op(&exchange);
    run(&exchange, ops, 6);
    if (exchange.status != GRPC_STATUS_OK) {
        err = explain(&exchange, error);
        grpc_byte_buffer_destroy(reply);
    } else if (!deliver(&exchange, reply)) {
        err = garbage(&exchange, error);
    }
    exchange_fini(&exchange);
    return err;
}

/* True until the stream ends. */
static bool next_reply(struct exchange *exchange, grpc_byte_buffer **out_reply)
{
    const grpc_op op = message_op(out_reply);

    *out_reply = NULL;
    return run(exchange, &op, 1) && *out_reply != NULL;
}

enum weir_err weir_stub_stream(struct weir_stub *stub, const struct weir_call *call,
                               struct weir_error *error)
{
    struct exchange exchange;
    grpc_byte_buffer *reply;
    grpc_op ops[4];
    bool ok = true;

    exchange_init(&exchange, stub, call);
    send_ops(&exchange, ops);
    if (run(&exchange, ops, 4)) {
        while (ok && next_reply(&exchange, &reply)) {
            ok = deliver(&exchange, reply);
        }
    }
    if (!ok) {
        grpc_call_cancel(exchange.rpc, NULL);
    }

    const grpc_op op = status_op(&exchange);
    enum weir_err err = WEIR_OK;

    run(&exchange, &op, 1);
    if (!ok) {
        err = garbage(&exchange, error);
    } else if (exchange.status != GRPC_STATUS_OK) {
        err = explain(&exchange, error);
    }
    exchange_fini(&exchange);
    return err;
}
