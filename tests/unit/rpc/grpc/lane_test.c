/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/grpc/lane.h"

#include <criterion/criterion.h>
#include <grpc/grpc.h>

#include "rpc/grpc/core_args.h"
#include "rpc/grpc/slot.h"
#include "rpc/grpc/worker.h"

#define POSTED 32 /* of lane.c */
#define MAX 40

static const struct wr_method method = {.path = "/test.Test/Lane"};

static struct wr_grpc_worker worker;
static struct wr_grpc_lane lane;
static struct wr_metrics *metrics;

/* A worker without a thread: what C core has for it stays in its queue. */
static void open_lane(size_t max_slots)
{
    const struct wr_grpc_options options = {.max_message_bytes = 4096,
                                            .max_concurrent_streams = 1024};

    grpc_init();
    metrics = wr_metrics_new();
    cr_assert_not_null(metrics);
    worker = (struct wr_grpc_worker){
        .core = wr_grpc_core_new(&options),
        .queue = grpc_completion_queue_create_for_next(NULL),
        .metrics = wr_metrics_block_new(metrics),
        .n_live = 1, /* so that the queue lives until the test ends it */
    };
    grpc_server_register_completion_queue(worker.core, worker.queue, NULL);
    lane = (struct wr_grpc_lane){
        .method = &method,
        .registered = grpc_server_register_method(worker.core, method.path, NULL,
                                                  GRPC_SRM_PAYLOAD_READ_INITIAL_BYTE_BUFFER, 0),
        .worker = &worker,
        .arena_size = 4096,
        .max_slots = max_slots,
    };
    grpc_server_start(worker.core);
    cr_assert_eq(wr_grpc_lane_open(&lane), WR_OK);
}

/* The server stops: each posted slot comes back without a call. Returns how many did. */
static size_t stop_and_count(void)
{
    size_t n = 0;

    grpc_server_shutdown_and_notify(worker.core, worker.queue, &worker.stopped);
    grpc_completion_queue_shutdown(worker.queue);
    for (;;) {
        const grpc_event event =
            grpc_completion_queue_next(worker.queue, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);

        if (event.type == GRPC_QUEUE_SHUTDOWN) {
            return n;
        }
        if (event.tag != &worker.stopped) {
            cr_assert_eq(((const struct wr_grpc_tag *) event.tag)->event, WR_GRPC_ARRIVED);
            cr_assert_not(event.success);
            n++;
        }
    }
}

static void close_lane(void)
{
    wr_grpc_lane_close(&lane);
    grpc_server_destroy(worker.core);
    grpc_completion_queue_destroy(worker.queue);
    wr_metrics_destroy(metrics);
    grpc_shutdown();
}

/* As when a call has come for a posted slot. */
static void take(void)
{
    wr_grpc_lane_take(&lane);
    wr_grpc_lane_fill(&lane);
}

Test(lane, makes_what_it_posts_at_first)
{
    open_lane(1000);
    cr_assert_eq(lane.n_slots, POSTED);
    cr_assert_eq(lane.n_posted, 0);
    wr_grpc_lane_fill(&lane);
    cr_assert_eq(lane.n_slots, POSTED);
    cr_assert_eq(lane.n_posted, POSTED);
    cr_assert_null(lane.idle);
    wr_grpc_lane_fill(&lane);
    cr_assert_eq(lane.n_posted, POSTED, "enough is enough");
    cr_assert_eq(stop_and_count(), POSTED);
    close_lane();
}

Test(lane, has_no_more_than_its_bound)
{
    open_lane(3);
    wr_grpc_lane_fill(&lane);
    cr_assert_eq(lane.n_slots, 3);
    cr_assert_eq(lane.n_posted, 3);
    cr_assert_eq(stop_and_count(), 3);
    close_lane();
}

Test(lane, makes_more_as_calls_stay_up_to_its_bound)
{
    open_lane(MAX);
    wr_grpc_lane_fill(&lane);
    for (size_t n_taken = 1; n_taken <= MAX; n_taken++) {
        const size_t n_left = MAX - n_taken;

        take();
        cr_assert_eq(lane.n_posted, n_left < POSTED ? n_left : POSTED, "%zu taken", n_taken);
        cr_assert_leq(lane.n_slots, MAX);
    }
    cr_assert_eq(lane.n_slots, MAX);
    wr_grpc_lane_fill(&lane);
    cr_assert_eq(lane.n_posted, 0, "the next callers wait");
    cr_assert_eq(worker.n_live, MAX + 1, "each is known to the worker");
    cr_assert_eq(stop_and_count(), MAX, "each was posted once");
    close_lane();
}

Test(lane, posts_a_slot_again_where_too_few_are)
{
    open_lane(3);
    wr_grpc_lane_fill(&lane);
    take();
    cr_assert_eq(lane.n_posted, 2);
    wr_grpc_lane_put(&lane, lane.made);
    cr_assert_eq(lane.n_posted, 3);
    cr_assert_null(lane.idle);
    cr_assert_eq(worker.n_live, 4, "it was never given up");
    cr_assert_eq(stop_and_count(), 4);
    close_lane();
}

Test(lane, keeps_a_slot_that_is_one_too_many_and_uses_it_before_it_makes_another)
{
    open_lane(MAX);
    wr_grpc_lane_fill(&lane);
    take();
    cr_assert_eq(lane.n_slots, POSTED + 1);

    struct wr_grpc_slot *const kept = lane.made;

    wr_grpc_lane_put(&lane, kept);
    cr_assert_eq(lane.n_posted, POSTED);
    cr_assert_eq(lane.idle, kept);
    cr_assert_eq(worker.n_live, POSTED + 1, "the worker need not wait for it");
    take();
    cr_assert_null(lane.idle);
    cr_assert_eq(lane.n_slots, POSTED + 1);
    cr_assert_eq(worker.n_live, POSTED + 2);
    cr_assert_eq(stop_and_count(), POSTED + 2);
    close_lane();
}

Test(lane, that_never_opened_closes)
{
    struct wr_grpc_lane unopened = {.method = &method};

    wr_grpc_lane_close(&unopened);
    cr_assert_null(unopened.made);
}
