/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moments at which something is to be done: a hashed timing wheel. Setting and clearing cost the
 * same however many there are, and every request in flight has one.
 *
 * Invariant: a timer goes off once, after its moment, at most a tick late by this wheel.
 * Threads: owner thread only (the I/O thread).
 */
#ifndef WR_STORE_REDIS_TIMERS_H
#define WR_STORE_REDIS_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The resolution, and how many ticks the wheel has: what is farther away goes round with it. */
#define WR_REDIS_TICK_US 256
#define WR_REDIS_TICKS 512

struct wr_redis_timer;

/* May set and clear any timer, this one too; the timer is not set when it is called. */
typedef void (*wr_redis_timer_fn)(struct wr_redis_timer *timer, int64_t mono_us);

/* A member of what it belongs to. All zero but `on_due`: not set. */
struct wr_redis_timer {
    wr_redis_timer_fn on_due;
    void *context;
    /* of the wheel */
    int64_t due_mono_us;
    struct wr_redis_timer *next, *previous; /* a ring; NULL while not set */
};

struct wr_redis_timers {
    struct wr_redis_timer ticks[WR_REDIS_TICKS]; /* heads of rings */
    uint64_t is_used[WR_REDIS_TICKS / 64];       /* a bit a ring; an empty one may have its set */
    int64_t tick;                                /* all before it are done with */
};

void wr_redis_timers_init(struct wr_redis_timers *timers, int64_t mono_us);

/* Sets or moves it. A moment that is over comes at the next run. */
void wr_redis_timer_set(struct wr_redis_timers *timers, struct wr_redis_timer *timer,
                        int64_t due_mono_us);

/* Fine when it is not set. */
void wr_redis_timer_clear(struct wr_redis_timer *timer);

static inline bool wr_redis_timer_is_set(const struct wr_redis_timer *timer)
{
    return timer->next != NULL;
}

/* Calls what is due at `mono_us`. */
void wr_redis_timers_run(struct wr_redis_timers *timers, int64_t mono_us);

/* When to run next, at the latest; INT64_MAX: no timer is set. */
int64_t wr_redis_timers_next(struct wr_redis_timers *timers);

#endif
