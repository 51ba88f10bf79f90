/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/redis/route_bed.h"

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"

void route_bed_init(struct route_bed *bed)
{
    *bed = (struct route_bed){.metrics = wr_metrics_new()};
    cr_assert_not_null(bed->metrics);

    struct wr_metrics_block *const block = wr_metrics_block_new(bed->metrics);

    cr_assert_not_null(block);
    cr_assert_eq(wr_redis_loop_new("test-loop", block, &bed->loop), WR_OK);
}

void route_bed_told_ready(void *context, bool is_ready)
{
    struct route_bed *const bed = context;

    atomic_store(&bed->is_ready, is_ready);
}

static void open_on_loop(struct wr_redis_job *job)
{
    const struct route_bed *const bed = job->context;

    bed->route->ops->open(bed->route);
}

static void close_on_loop(struct wr_redis_job *job)
{
    const struct route_bed *const bed = job->context;

    bed->route->ops->close(bed->route);
}

void route_bed_open(struct route_bed *bed)
{
    struct wr_redis_job job = {.run = open_on_loop, .context = bed};

    cr_assert_eq(wr_redis_loop_start(bed->loop), WR_OK);
    wr_redis_loop_call(bed->loop, &job);
}

void route_bed_close(struct route_bed *bed)
{
    struct wr_redis_job job = {.run = close_on_loop, .context = bed};

    wr_redis_loop_call(bed->loop, &job);
}

void route_bed_fini(struct route_bed *bed)
{
    wr_redis_loop_stop(bed->loop);
    wr_redis_route_destroy(bed->route);
    wr_redis_loop_destroy(bed->loop);
    wr_metrics_destroy(bed->metrics);
}

/* ---- charges ---- */

static void ended(struct wr_redis_request *request, enum wr_redis_end end,
                  const struct redisReply *reply)
{
    struct route_charge *const charge = request->context;

    charge->end = end;
    if (reply != NULL) {
        (void) snprintf(charge->reply, sizeof charge->reply, "%s",
                        reply->type == REDIS_REPLY_INTEGER ? "number" : reply->str);
    }
    cr_assert_eq(sem_post(&charge->is_over), 0);
}

static void send_on_loop(struct wr_redis_job *job)
{
    struct route_charge *const charge = job->context;

    wr_redis_request_start(&charge->request, charge->bed->loop);
    wr_redis_route_send(charge->bed->route, &charge->request);
}

void route_charge_begin(struct route_charge *charge, struct route_bed *bed, uint16_t slot,
                        int64_t for_us)
{
    *charge = (struct route_charge){
        .bed = bed,
        .job = {.run = send_on_loop, .context = charge},
        .request = {.bytes = WR_STR("*1\r\n$4\r\nINCR\r\n"),
                    .deadline_mono_us = wr_clock_mono_us() + for_us,
                    .slot = slot,
                    .on_end = ended,
                    .context = charge},
    };
    cr_assert_eq(sem_init(&charge->is_over, 0, 0), 0);
    wr_redis_loop_push(bed->loop, &charge->job);
}

enum wr_redis_end route_charge_finish(struct route_charge *charge)
{
    while (sem_wait(&charge->is_over) != 0) {
    }
    cr_assert_eq(sem_destroy(&charge->is_over), 0);
    return charge->end;
}

bool route_bed_is_charged(struct route_bed *bed, uint16_t slot)
{
    struct route_charge charge;

    route_charge_begin(&charge, bed, slot, PATIENCE_US);
    return route_charge_finish(&charge) == WR_REDIS_REPLIED && strcmp(charge.reply, "number") == 0;
}
