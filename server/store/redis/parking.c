/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/parking.h"

#include "store/redis/loop.h"

/* Those that wait now go into a list of their own, which they may leave, too. */
static void take_all(struct wr_redis_parking_level *level, struct wr_redis_request **out_first)
{
    *out_first = level->first;
    level->first = NULL;
    if (*out_first != NULL) {
        (*out_first)->link_from = out_first;
    }
}

static void level_due(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct wr_redis_parking_level *const level = timer->context;
    const struct wr_redis_parking *const parking = level->parking;
    struct wr_redis_request *first = NULL;

    (void) mono_us;
    take_all(level, &first);
    while (first != NULL) {
        struct wr_redis_request *const request = first;

        wr_redis_request_unpark(request);
        parking->on_due(parking->context, request);
    }
}

void wr_redis_parking_init(struct wr_redis_parking *parking, struct wr_redis_loop *loop,
                           wr_redis_parked_fn on_due, void *context)
{
    *parking = (struct wr_redis_parking){.loop = loop, .on_due = on_due, .context = context};
    for (size_t i = 0; i < WR_REDIS_PARKING_LEVELS; i++) {
        struct wr_redis_parking_level *const level = &parking->levels[i];

        level->parking = parking;
        level->timer = (struct wr_redis_timer){.on_due = level_due, .context = level};
    }
}

bool wr_redis_parking_take(struct wr_redis_parking *parking, struct wr_redis_request *request)
{
    const size_t i =
        request->n_waits < WR_REDIS_PARKING_LEVELS ? request->n_waits : WR_REDIS_PARKING_LEVELS - 1;
    struct wr_redis_parking_level *const level = &parking->levels[i];
    const int64_t due_us =
        wr_redis_loop_now(parking->loop) + ((int64_t) WR_REDIS_PARKING_FIRST_US << i);

    if (due_us >= request->deadline_mono_us) {
        return false;
    }
    if (request->n_waits < WR_REDIS_PARKING_LEVELS) {
        request->n_waits++;
    }
    wr_redis_request_park(request, &level->first);
    if (!wr_redis_timer_is_set(&level->timer)) {
        wr_redis_timer_set(wr_redis_loop_timers(parking->loop), &level->timer, due_us);
    }
    return true;
}

void wr_redis_parking_clear(struct wr_redis_parking *parking)
{
    for (size_t i = 0; i < WR_REDIS_PARKING_LEVELS; i++) {
        struct wr_redis_parking_level *const level = &parking->levels[i];
        struct wr_redis_request *first = NULL;

        wr_redis_timer_clear(&level->timer);
        take_all(level, &first);
        while (first != NULL) {
            struct wr_redis_request *const request = first;

            wr_redis_request_unpark(request);
            wr_redis_request_end(request, WR_REDIS_AWAY, NULL);
        }
    }
}
