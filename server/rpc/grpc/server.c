/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/server.h"

#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <grpc/grpc.h>
#include <grpc/grpc_posix.h>
#include <grpc/grpc_security.h>

#include "base/clock.h"
#include "rpc/grpc/core_args.h"
#include "rpc/grpc/grpc_log.h"
#include "rpc/grpc/worker.h"

/* How often a stopping server looks for calls, and how long it waits for connections after that. */
#define TICK_US 20000
#define LINGER_US 1000000

struct wr_grpc_server {
    struct wr_grpc_options options;
    grpc_server *core;                 /* owned */
    grpc_server_credentials *insecure; /* owned */
    void **registered;                 /* owned; C core's names of the rows */
    struct wr_grpc_worker *workers;    /* owned */
    size_t n_opened;                   /* workers that close is due for */
    int stopped_fd;                    /* owned; readable once all connections are gone */
    bool is_posted;                    /* the workers have slots out: stop is due */
    bool is_started;
    atomic_bool is_stopping;
};

static size_t or_default(size_t value, size_t if_zero)
{
    return value == 0 ? if_zero : value;
}

static struct wr_grpc_options with_defaults(const struct wr_grpc_options *options)
{
    struct wr_grpc_options filled = *options;

    filled.n_workers = or_default(filled.n_workers, 1);
    filled.slots_per_worker = or_default(filled.slots_per_worker, 1024);
    filled.rare_slots = or_default(filled.rare_slots, 1024);
    filled.arena_size = or_default(filled.arena_size, 4096);
    filled.max_message_bytes = or_default(filled.max_message_bytes, (size_t) 4 << 20);
    filled.max_buffer_bytes = or_default(filled.max_buffer_bytes, (size_t) 256 << 20);
    if (filled.max_concurrent_streams < 1024) {
        filled.max_concurrent_streams = 1024;
    }
    return filled;
}

static enum wr_err register_methods(struct wr_grpc_server *server)
{
    const struct wr_method_table *const table = &server->options.table;

    for (size_t i = 0; i < table->n_methods; i++) {
        server->registered[i] = grpc_server_register_method(
            server->core, table->methods[i].path, NULL,
            table->methods[i].kind == WR_METHOD_UNARY ? GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER
                                                      : GRPC_SRM_PAYLOAD_NONE,
            0);
        if (server->registered[i] == NULL) {
            return WR_ERR_INVALID;
        }
    }
    return WR_OK;
}

static enum wr_err open_workers(struct wr_grpc_server *server)
{
    for (size_t i = 0; i < server->options.n_workers; i++) {
        struct wr_grpc_worker *const worker = &server->workers[i];

        worker->core = server->core;
        worker->index = i;
        worker->stopped_fd = server->stopped_fd;
        worker->queue = grpc_completion_queue_create_for_next(NULL);
        worker->n_live = i == 0 ? 1 : 0; /* the notice of the stop comes to the first */
        grpc_server_register_completion_queue(server->core, worker->queue, NULL);
        server->n_opened++;

        const enum wr_err err = wr_grpc_worker_open(worker, &server->options, server->registered);

        if (err != WR_OK) {
            return err;
        }
    }
    return WR_OK;
}

static enum wr_err open_server(struct wr_grpc_server *server)
{
    server->registered = calloc(server->options.table.n_methods, sizeof *server->registered);
    server->workers = calloc(server->options.n_workers, sizeof *server->workers);
    if (server->registered == NULL || server->workers == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    server->stopped_fd = eventfd(0, EFD_CLOEXEC);
    if (server->stopped_fd < 0) {
        return WR_ERR_SYSTEM;
    }
    server->core = wr_grpc_core_new(&server->options);
    server->insecure = grpc_insecure_server_credentials_create();

    const enum wr_err err = register_methods(server);

    return err == WR_OK ? open_workers(server) : err;
}

enum wr_err wr_grpc_server_new(const struct wr_grpc_options *options,
                               struct wr_grpc_server **out_server)
{
    struct wr_grpc_server *const server = calloc(1, sizeof *server);

    if (server == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    server->options = with_defaults(options);
    server->stopped_fd = -1;
    wr_grpc_log_install();
    grpc_init();

    const enum wr_err err = open_server(server);

    if (err != WR_OK) {
        wr_grpc_server_destroy(server);
        return err;
    }
    *out_server = server;
    return WR_OK;
}

enum wr_err wr_grpc_server_start(struct wr_grpc_server *server)
{
    grpc_server_start(server->core);
    for (size_t i = 0; i < server->n_opened; i++) {
        wr_grpc_worker_post(&server->workers[i]);
    }
    server->is_posted = true;
    for (size_t i = 0; i < server->n_opened; i++) {
        const enum wr_err err = wr_grpc_worker_start(&server->workers[i]);

        if (err != WR_OK) {
            return err;
        }
    }
    server->is_started = true;
    return WR_OK;
}

void wr_grpc_server_adopt(struct wr_grpc_server *server, int fd)
{
    if (atomic_load_explicit(&server->is_stopping, memory_order_acquire)) {
        (void) close(fd);
        return;
    }
    grpc_server_add_channel_from_fd(server->core, fd, server->insecure);
}

static bool has_calls(const struct wr_grpc_server *server)
{
    for (size_t i = 0; i < server->n_opened; i++) {
        if (atomic_load_explicit(&server->workers[i].n_in_use, memory_order_relaxed) > 0) {
            return true;
        }
    }
    return false;
}

static bool has_notice(const struct wr_grpc_server *server, int64_t wait_us)
{
    struct pollfd poll_fd = {.fd = server->stopped_fd, .events = POLLIN};

    return poll(&poll_fd, 1, (int) ((wait_us + 999) / 1000)) > 0;
}

/* Waits until all connections are gone, or `grace_us` is over. One whose caller does not react is
 * not waited for longer than LINGER_US after the last call. */
static void wait_for_calls(const struct wr_grpc_server *server, int64_t grace_us)
{
    int64_t now_us = wr_clock_mono_us();
    int64_t last_call_us = now_us;
    const int64_t start_us = now_us;

    while (now_us - start_us < grace_us && now_us - last_call_us < LINGER_US) {
        const int64_t left_us = grace_us - (now_us - start_us);

        if (has_notice(server, left_us < TICK_US ? left_us : TICK_US)) {
            return;
        }
        now_us = wr_clock_mono_us();
        if (has_calls(server)) {
            last_call_us = now_us;
        }
    }
}

void wr_grpc_server_stop(struct wr_grpc_server *server, int64_t grace_us)
{
    if (!server->is_posted) {
        return;
    }
    /* Pairs with the load in adopt: a connection that comes later is closed there. */
    atomic_store_explicit(&server->is_stopping, true, memory_order_release);
    grpc_server_shutdown_and_notify(server->core, server->workers[0].queue,
                                    &server->workers[0].stopped);
    for (size_t i = 0; i < server->n_opened; i++) {
        wr_grpc_worker_drain(&server->workers[i]);
    }
    if (server->is_started) {
        wait_for_calls(server, grace_us);
    }
    grpc_server_cancel_all_calls(server->core);
    for (size_t i = 0; i < server->n_opened; i++) {
        wr_grpc_worker_join(&server->workers[i]);
    }
    server->is_posted = false;
}

void wr_grpc_server_destroy(struct wr_grpc_server *server)
{
    if (server == NULL) {
        return;
    }
    wr_grpc_server_stop(server, 0);
    if (server->core != NULL) {
        grpc_server_destroy(server->core);
    }
    for (size_t i = 0; i < server->n_opened; i++) {
        wr_grpc_worker_close(&server->workers[i]);
    }
    if (server->insecure != NULL) {
        grpc_server_credentials_release(server->insecure);
    }
    if (server->stopped_fd >= 0) {
        (void) close(server->stopped_fd);
    }
    free(server->workers);
    free(server->registered);
    free(server);
    grpc_shutdown();
}

void wr_grpc_server_read_stats(const struct wr_grpc_server *server, size_t worker,
                               struct wr_grpc_stats *out_stats)
{
    const struct wr_grpc_worker *const from = &server->workers[worker];

    *out_stats = (struct wr_grpc_stats){
        .n_in_use = atomic_load_explicit(&from->n_in_use, memory_order_relaxed),
        .arena_bytes = atomic_load_explicit(&from->arena_bytes, memory_order_relaxed),
    };
}
