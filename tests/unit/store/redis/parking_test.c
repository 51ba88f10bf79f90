/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/parking.h"

#include <criterion/criterion.h>

#include "store/redis/loop.h"

#define TICK WR_REDIS_TICK_US
#define FAR INT64_C(10000000)

/* A loop that does not run: its clock stands still at `begin`, its timers are run by hand. */
struct bed {
    struct wr_redis_loop *loop;
    struct wr_redis_parking parking;
    int64_t begin;
    size_t n_due, n_away, n_timed_out;
};

static void parked(void *context, struct wr_redis_request *request)
{
    struct bed *const bed = context;

    (void) request;
    bed->n_due++;
}

static void ended(struct wr_redis_request *request, enum wr_redis_end end,
                  const struct redisReply *reply)
{
    struct bed *const bed = request->context;

    cr_assert_null(reply);
    bed->n_away += end == WR_REDIS_AWAY;
    bed->n_timed_out += end == WR_REDIS_TIMED_OUT;
}

static void open_bed(struct bed *bed)
{
    *bed = (struct bed){0};
    cr_assert_eq(wr_redis_loop_new("test", NULL, &bed->loop), WR_OK);
    bed->begin = wr_redis_loop_now(bed->loop);
    wr_redis_parking_init(&bed->parking, bed->loop, parked, bed);
}

static void start(struct bed *bed, struct wr_redis_request *request, int64_t for_us)
{
    *request = (struct wr_redis_request){
        .deadline_mono_us = bed->begin + for_us,
        .on_end = ended,
        .context = bed,
    };
    wr_redis_request_start(request, bed->loop);
}

static void run_to(struct bed *bed, int64_t after_us)
{
    wr_redis_timers_run(wr_redis_loop_timers(bed->loop), bed->begin + after_us);
}

Test(redis_parking, each_pause_is_twice_the_last)
{
    struct bed bed;
    struct wr_redis_request request;

    open_bed(&bed);
    start(&bed, &request, FAR);
    for (unsigned i = 0; i < 10; i++) {
        const int64_t pause = INT64_C(1000) << (i < 7 ? i : 6);
        struct wr_redis_timer *const timer = &bed.parking.levels[i < 7 ? i : 6].timer;

        cr_assert(wr_redis_parking_take(&bed.parking, &request));
        cr_assert(wr_redis_timer_is_set(timer), "pause %u", i);
        cr_assert_eq(timer->due_mono_us, bed.begin + pause, "pause %u", i);
        run_to(&bed, pause + (int64_t) (2 + 4 * i) * TICK);
        cr_assert_eq(bed.n_due, i + 1);
    }
    wr_redis_request_drop(&request);
    wr_redis_loop_destroy(bed.loop);
}

Test(redis_parking, one_that_cannot_wait_is_not_taken)
{
    struct bed bed;
    struct wr_redis_request request;

    open_bed(&bed);
    start(&bed, &request, 1000);
    cr_assert_not(wr_redis_parking_take(&bed.parking, &request));
    wr_redis_request_drop(&request);
    start(&bed, &request, 1001);
    cr_assert(wr_redis_parking_take(&bed.parking, &request));
    wr_redis_request_drop(&request);
    run_to(&bed, FAR);
    cr_assert_eq(bed.n_due, 0);
    wr_redis_loop_destroy(bed.loop);
}

/* Each leaves, whatever its place among the others. */
Test(redis_parking, a_deadline_takes_one_out)
{
    for (size_t gone = 0; gone < 3; gone++) {
        struct bed bed;
        struct wr_redis_request requests[3];

        open_bed(&bed);
        for (size_t i = 0; i < 3; i++) {
            start(&bed, &requests[i], FAR);
            requests[i].n_waits = 5;
            cr_assert(wr_redis_parking_take(&bed.parking, &requests[i]));
        }
        wr_redis_timer_set(wr_redis_loop_timers(bed.loop), &requests[gone].timer, bed.begin + 1000);
        run_to(&bed, 1000 + 2 * TICK);
        cr_assert_eq(bed.n_timed_out, 1);
        cr_assert_eq(bed.n_due, 0);
        run_to(&bed, 32000 + 2 * TICK);
        cr_assert_eq(bed.n_due, 2);
        for (size_t i = 0; i < 3; i++) {
            wr_redis_request_drop(&requests[i]);
        }
        wr_redis_loop_destroy(bed.loop);
    }
}

Test(redis_parking, cleared)
{
    struct bed bed;
    struct wr_redis_request requests[4];

    open_bed(&bed);
    for (size_t i = 0; i < 4; i++) {
        start(&bed, &requests[i], FAR);
        requests[i].n_waits = (uint16_t) (i / 2);
        cr_assert(wr_redis_parking_take(&bed.parking, &requests[i]));
    }
    wr_redis_parking_clear(&bed.parking);
    cr_assert_eq(bed.n_away, 4);
    run_to(&bed, FAR);
    cr_assert_eq(bed.n_due + bed.n_timed_out, 0);
    wr_redis_loop_destroy(bed.loop);
}
