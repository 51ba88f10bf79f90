/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The I/O thread: waits for sockets, for moments and for what other threads hand over, and lets
 * each link write once a turn.
 *
 * A turn: what is ready, what was handed over, what is due, then flushes. Everything but push runs
 * on the loop's thread, or before start and after stop on the owner's.
 * Threads: push and wr_redis_loop_call from any thread; new, start, stop and destroy by the owner;
 * all else on the loop's thread.
 */
#ifndef WR_STORE_REDIS_LOOP_H
#define WR_STORE_REDIS_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "store/redis/timers.h"

struct wr_metrics_block;
struct wr_redis_job;
struct wr_redis_loop;
struct wr_redis_watch;

typedef void (*wr_redis_job_fn)(struct wr_redis_job *job);

/* Something to be done on the loop's thread; a member of what it is about. */
struct wr_redis_job {
    wr_redis_job_fn run;
    void *context;
    struct wr_redis_job *next; /* of the loop */
};

/* `events` are epoll's. May unwatch anything, itself too. */
typedef void (*wr_redis_ready_fn)(struct wr_redis_watch *watch, uint32_t events);

/* A descriptor that is waited for; a member of what owns it. */
struct wr_redis_watch {
    int fd;
    uint32_t events; /* asked for */
    wr_redis_ready_fn on_ready;
    void *context;
};

/* Called once at the end of the turn in which it was asked for; a member of its owner. */
struct wr_redis_flush {
    void (*run)(struct wr_redis_flush *flush);
    void *context;
    struct wr_redis_flush *next, **from; /* of the loop; from NULL: not asked for */
};

/* WR_ERR_NO_MEMORY, WR_ERR_SYSTEM. `metrics` is borrowed, and of the loop's thread. */
WR_MUST_USE enum wr_err wr_redis_loop_new(const char *name, struct wr_metrics_block *metrics,
                                          struct wr_redis_loop **out_loop);

WR_MUST_USE enum wr_err wr_redis_loop_start(struct wr_redis_loop *loop);

/* Ends the turn in progress and joins. Jobs that were pushed before have been run. Fine when it was
 * not started. */
void wr_redis_loop_stop(struct wr_redis_loop *loop);

/* Nothing may be watched any more. NULL is fine. */
void wr_redis_loop_destroy(struct wr_redis_loop *loop);

/* Has `job` run soon, in the order of pushes of one thread. The job stays in place until then. */
void wr_redis_loop_push(struct wr_redis_loop *loop, struct wr_redis_job *job);

/* Runs `job` on the loop's thread and waits until it has; at once when the loop does not run. */
void wr_redis_loop_call(struct wr_redis_loop *loop, struct wr_redis_job *job);

/* Of this turn: read once after waiting, and again where that matters. */
int64_t wr_redis_loop_now(const struct wr_redis_loop *loop);

struct wr_redis_timers *wr_redis_loop_timers(struct wr_redis_loop *loop);

struct wr_metrics_block *wr_redis_loop_metrics(struct wr_redis_loop *loop);

/* Waits for `events` of the descriptor. WR_ERR_SYSTEM when the system refuses. */
WR_MUST_USE enum wr_err wr_redis_loop_watch(struct wr_redis_loop *loop,
                                            struct wr_redis_watch *watch, uint32_t events);

/* Changes what is waited for; costs nothing when nothing changes. */
void wr_redis_loop_rewatch(struct wr_redis_loop *loop, struct wr_redis_watch *watch,
                           uint32_t events);

/* Before the descriptor is closed. on_ready is not called any more, in this turn either. */
void wr_redis_loop_unwatch(struct wr_redis_loop *loop, struct wr_redis_watch *watch);

/* Once however often it is asked for in a turn. */
void wr_redis_loop_flush_later(struct wr_redis_loop *loop, struct wr_redis_flush *flush);

void wr_redis_loop_forget_flush(struct wr_redis_loop *loop, struct wr_redis_flush *flush);

/* A random number, for jitter: not for secrets. */
uint64_t wr_redis_loop_random(struct wr_redis_loop *loop);

#endif
