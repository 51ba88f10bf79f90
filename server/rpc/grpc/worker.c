/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/worker.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/assert.h"
#include "rpc/grpc/unserved.h"

/* C core has no other way to wake a queue that takes part in a server. */
static void hang_bell(struct wr_grpc_worker *worker)
{
    worker->nowhere = grpc_lame_client_channel_create("", GRPC_STATUS_UNAVAILABLE, "");
    worker->bell = grpc_channel_create_call(worker->nowhere, NULL, GRPC_PROPAGATE_DEFAULTS,
                                            worker->queue, grpc_slice_from_static_string("/"), NULL,
                                            gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
    worker->n_live++;
}

enum wr_err wr_grpc_worker_open(struct wr_grpc_worker *worker,
                                const struct wr_grpc_options *options, void *const *registered)
{
    const struct wr_method_table *const table = &options->table;

    hang_bell(worker);
    worker->max_message_bytes = options->max_message_bytes;
    worker->metrics = wr_metrics_block_new(options->metrics);
    worker->lanes = calloc(table->n_methods + 1, sizeof *worker->lanes);
    if (worker->lanes == NULL || worker->metrics == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    for (size_t i = 0; i <= table->n_methods; i++) {
        const bool is_served = i < table->n_methods;

        worker->lanes[i] = (struct wr_grpc_lane){
            .method = is_served ? &table->methods[i] : &wr_grpc_unserved,
            .registered = is_served ? registered[i] : NULL,
            .worker = worker,
            .arena_size = options->arena_size,
            .max_slots = i == 0 ? options->slots_per_worker : options->rare_slots,
        };
        worker->n_lanes++;

        const enum wr_err err = wr_grpc_lane_open(&worker->lanes[i]);

        if (err != WR_OK) {
            return err;
        }
    }
    return WR_OK;
}

void wr_grpc_worker_hold(struct wr_grpc_worker *worker)
{
    worker->n_live++;
}

void wr_grpc_worker_give_up(struct wr_grpc_worker *worker)
{
    WR_ASSERT(worker->n_live > 0);
    worker->n_live--;
    if (worker->n_live == 0) {
        grpc_completion_queue_shutdown(worker->queue);
    }
}

static void pass_notice_on(struct wr_grpc_worker *worker)
{
    const uint64_t one = 1;

    WR_ASSERT(write(worker->stopped_fd, &one, sizeof one) == (ssize_t) sizeof one);
    wr_grpc_worker_give_up(worker);
}

static void begin_draining(struct wr_grpc_worker *worker)
{
    worker->is_draining = true;
    for (size_t i = 0; i < worker->n_lanes; i++) {
        wr_grpc_lane_drain(&worker->lanes[i]);
    }
    wr_grpc_worker_give_up(worker);
}

/* A batch on the bell comes out of the worker's queue as an event. */
static void ring(struct wr_grpc_worker *worker, struct wr_grpc_tag *tag)
{
    WR_ASSERT(grpc_call_start_batch(worker->bell, NULL, 0, tag, NULL) == GRPC_CALL_OK);
}

/* While the worker is at work many are woken by one ring: an event, and perhaps a system call, for
 * each would cost more than all else of a wake. */
void wr_grpc_worker_wake(struct wr_grpc_worker *worker, struct wr_grpc_slot *slot)
{
    struct wr_grpc_slot *before = atomic_load_explicit(&worker->woken, memory_order_relaxed);

    do {
        slot->next_woken = before;
    } while (!atomic_compare_exchange_weak_explicit(&worker->woken, &before, slot,
                                                    memory_order_acq_rel, memory_order_relaxed));
    if (before == NULL) {
        ring(worker, &worker->rung);
    }
}

/* In the order in which they were woken. */
static void run_woken(struct wr_grpc_worker *worker)
{
    struct wr_grpc_slot *last =
        atomic_exchange_explicit(&worker->woken, NULL, memory_order_acq_rel);
    struct wr_grpc_slot *first = NULL;

    while (last != NULL) {
        struct wr_grpc_slot *const earlier = last->next_woken;

        last->next_woken = first;
        first = last;
        last = earlier;
    }
    while (first != NULL) {
        struct wr_grpc_slot *const next = first->next_woken;

        wr_grpc_slot_run(first, WR_GRPC_WOKEN, true);
        first = next;
    }
}

static void run(void *context)
{
    struct wr_grpc_worker *const worker = context;

    for (;;) {
        const grpc_event event =
            grpc_completion_queue_next(worker->queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

        if (event.type == GRPC_QUEUE_SHUTDOWN) {
            return;
        }

        const struct wr_grpc_tag *const tag = event.tag;

        if (tag == &worker->stopped) {
            pass_notice_on(worker);
        } else if (tag == &worker->rung) {
            run_woken(worker);
        } else if (tag == &worker->draining) {
            begin_draining(worker);
        } else {
            wr_grpc_slot_run(tag->slot, tag->event, event.success != 0);
        }
    }
}

void wr_grpc_worker_post(struct wr_grpc_worker *worker)
{
    for (size_t i = 0; i < worker->n_lanes; i++) {
        wr_grpc_lane_fill(&worker->lanes[i]);
    }
    worker->is_posted = true;
}

enum wr_err wr_grpc_worker_start(struct wr_grpc_worker *worker)
{
    char name[16];

    (void) snprintf(name, sizeof name, "worker-%zu", worker->index);

    const enum wr_err err = wr_thread_start(&worker->thread, name, run, worker);

    worker->is_started = err == WR_OK;
    return err;
}

void wr_grpc_worker_drain(struct wr_grpc_worker *worker)
{
    ring(worker, &worker->draining);
}

void wr_grpc_worker_join(struct wr_grpc_worker *worker)
{
    if (worker->is_started) {
        wr_thread_join(&worker->thread);
    } else {
        run(worker);
    }
}

void wr_grpc_worker_close(struct wr_grpc_worker *worker)
{
    for (size_t i = 0; i < worker->n_lanes; i++) {
        wr_grpc_lane_close(&worker->lanes[i]);
    }
    free(worker->lanes);
    if (!worker->is_posted) {
        grpc_completion_queue_shutdown(worker->queue);
        run(worker);
    }
    grpc_call_unref(worker->bell);
    grpc_channel_destroy(worker->nowhere);
    grpc_completion_queue_destroy(worker->queue);
}

void wr_grpc_worker_count_use(struct wr_grpc_worker *worker, bool is_taken)
{
    const size_t before = atomic_load_explicit(&worker->n_in_use, memory_order_relaxed);

    atomic_store_explicit(&worker->n_in_use, is_taken ? before + 1 : before - 1,
                          memory_order_relaxed);
}

void wr_grpc_worker_count_arena(struct wr_grpc_worker *worker, struct wr_grpc_slot *slot)
{
    const size_t before = atomic_load_explicit(&worker->arena_bytes, memory_order_relaxed);

    atomic_store_explicit(&worker->arena_bytes, before - slot->arena_bytes + slot->arena.total_size,
                          memory_order_relaxed);
    slot->arena_bytes = slot->arena.total_size;
}
