/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A route of the Redis store on a loop of its own, and charges that go by it.
 *
 * Threads: the test's thread, but for told_ready, which is the loop's.
 */
#ifndef WR_TESTS_UNIT_STORE_REDIS_ROUTE_BED_H
#define WR_TESTS_UNIT_STORE_REDIS_ROUTE_BED_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "metrics/metrics.h"
#include "store/redis/loop.h"
#include "store/redis/route.h"
#include "tests/support/wait_for.h"

#define PATIENCE_US WAIT_FOR_PATIENCE_US

struct route_bed {
    struct wr_metrics *metrics;
    struct wr_redis_loop *loop;
    struct wr_redis_route *route; /* the test's, made before open; owned from then on */
    atomic_bool is_ready;
};

/* Metrics, and a loop that does not run yet. */
void route_bed_init(struct route_bed *bed);

/* The on_ready of the route's frame, whose context is the bed. */
void route_bed_told_ready(void *context, bool is_ready);

/* Runs the loop, and has the route open on it. */
void route_bed_open(struct route_bed *bed);

/* Has the route close. */
void route_bed_close(struct route_bed *bed);

/* Behind a close. */
void route_bed_fini(struct route_bed *bed);

/* A charge on its way, as INCR. */
struct route_charge {
    struct route_bed *bed;
    struct wr_redis_job job;
    struct wr_redis_request request;
    enum wr_redis_end end;
    char reply[128]; /* "number", or the text of an error; empty: there is none */
    sem_t is_over;
};

void route_charge_begin(struct route_charge *charge, struct route_bed *bed, uint16_t slot,
                        int64_t for_us);

enum wr_redis_end route_charge_finish(struct route_charge *charge);

/* Whether a charge that may take long comes to a number. */
bool route_bed_is_charged(struct route_bed *bed, uint16_t slot);

#endif
