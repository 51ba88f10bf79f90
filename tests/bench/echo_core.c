/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The yardstick: what C core costs when a call does nothing. It answers each ShouldRateLimit with
 * the bytes that came, from one completion queue a worker and slots that are posted again.
 *
 * usage: echo_core WORKERS; prints `grpc 127.0.0.1:PORT` and serves until it is ended.
 */
#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/slice.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/thread.h"

#define METHOD "/envoy.service.ratelimit.v3.RateLimitService/ShouldRateLimit"

enum {
    MAX_WORKERS = 64,
    SLOTS = 256, /* of a worker */
};

struct worker;

/* The address of a slot is its tag: posted, it comes out with a call, else when that is answered.
 */
struct slot {
    struct worker *worker;
    bool is_answering;
    grpc_call *call;
    gpr_timespec deadline;
    grpc_metadata_array metadata;
    grpc_byte_buffer *message;
    int was_cancelled;
};

struct worker {
    grpc_server *server;
    void *method;
    grpc_completion_queue *queue;
    struct wr_thread thread;
    struct slot slots[SLOTS];
};

static void post(struct slot *slot)
{
    struct worker *const worker = slot->worker;

    slot->is_answering = false;
    WR_ASSERT(grpc_server_request_registered_call(
                  worker->server, worker->method, &slot->call, &slot->deadline, &slot->metadata,
                  &slot->message, worker->queue, worker->queue, slot) == GRPC_CALL_OK);
}

static void answer(struct slot *slot)
{
    const grpc_op ops[] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA},
        {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = slot->message},
        {.op = GRPC_OP_SEND_STATUS_FROM_SERVER,
         .data.send_status_from_server.status = GRPC_STATUS_OK},
        {.op = GRPC_OP_RECV_CLOSE_ON_SERVER,
         .data.recv_close_on_server.cancelled = &slot->was_cancelled},
    };

    slot->is_answering = true;
    WR_ASSERT(grpc_call_start_batch(slot->call, ops, sizeof ops / sizeof ops[0], slot, NULL) ==
              GRPC_CALL_OK);
}

static void end(struct slot *slot)
{
    grpc_byte_buffer_destroy(slot->message);
    slot->message = NULL;
    slot->metadata.count = 0;
    grpc_call_unref(slot->call);
}

static void run(void *context)
{
    struct worker *const worker = context;

    for (size_t i = 0; i < SLOTS; i++) {
        worker->slots[i].worker = worker;
        grpc_metadata_array_init(&worker->slots[i].metadata);
        post(&worker->slots[i]);
    }
    for (;;) {
        const grpc_event event =
            grpc_completion_queue_next(worker->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        struct slot *const slot = event.tag;

        WR_ASSERT(event.type == GRPC_OP_COMPLETE);
        if (slot->is_answering) {
            end(slot);
            post(slot);
        } else {
            answer(slot);
        }
    }
}

int main(int argc, char **argv)
{
    const long n = argc == 2 ? strtol(argv[1], NULL, 10) : 0;

    if (n < 1 || n > MAX_WORKERS) {
        (void) fprintf(stderr, "usage: echo_core WORKERS, from 1 to %d\n", MAX_WORKERS);
        return EXIT_FAILURE;
    }
    grpc_init();

    struct worker *const workers = calloc((size_t) n, sizeof *workers);
    grpc_server *const server = grpc_server_create(NULL, NULL);
    void *const method = grpc_server_register_method(server, METHOD, NULL,
                                                     GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0);
    const int port = grpc_server_add_http2_port(server, "127.0.0.1:0",
                                                grpc_insecure_server_credentials_create());

    WR_ASSERT(workers != NULL && method != NULL && port > 0);
    for (long i = 0; i < n; i++) {
        workers[i].server = server;
        workers[i].method = method;
        workers[i].queue = grpc_completion_queue_create_for_next(NULL);
        grpc_server_register_completion_queue(server, workers[i].queue, NULL);
    }
    grpc_server_start(server);
    for (long i = 0; i < n; i++) {
        WR_ASSERT(wr_thread_start(&workers[i].thread, "echo", run, &workers[i]) == WR_OK);
    }
    printf("grpc 127.0.0.1:%d\n", port);
    (void) fflush(stdout);
    for (long i = 0; i < n; i++) {
        wr_thread_join(&workers[i].thread);
    }
    return EXIT_SUCCESS;
}
