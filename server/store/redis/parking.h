/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait for a better moment: each time a request comes here its pause is twice the
 * last one.
 *
 * Invariant: a request whose deadline comes leaves by itself; one that would wait beyond it is not
 * taken.
 * Threads: owner thread only (the I/O thread).
 */
#ifndef WR_STORE_REDIS_PARKING_H
#define WR_STORE_REDIS_PARKING_H

#include <stdbool.h>
#include <stddef.h>

#include "store/redis/request.h"
#include "store/redis/timers.h"

struct wr_redis_loop;
struct wr_redis_parking;

/* Pauses of 1, 2, 4 … 64 ms. */
#define WR_REDIS_PARKING_LEVELS 7
#define WR_REDIS_PARKING_FIRST_US 1000

/* The pause of `request` is over: it may be parked again, sent or ended. */
typedef void (*wr_redis_parked_fn)(void *context, struct wr_redis_request *request);

/* Those whose pauses are equally long. */
struct wr_redis_parking_level {
    struct wr_redis_parking *parking;
    struct wr_redis_timer timer;
    struct wr_redis_request *first;
};

struct wr_redis_parking {
    struct wr_redis_loop *loop; /* borrowed */
    struct wr_redis_parking_level levels[WR_REDIS_PARKING_LEVELS];
    wr_redis_parked_fn on_due;
    void *context;
};

/* It stays at its address until it is empty. */
void wr_redis_parking_init(struct wr_redis_parking *parking, struct wr_redis_loop *loop,
                           wr_redis_parked_fn on_due, void *context);

/* Takes a request that no link has, and counts its n_waits. False when its deadline is too near. */
bool wr_redis_parking_take(struct wr_redis_parking *parking, struct wr_redis_request *request);

/* Ends all of them as AWAY. */
void wr_redis_parking_clear(struct wr_redis_parking *parking);

#endif
