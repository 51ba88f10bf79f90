/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* epoll_pwait2 */
#include "store/redis/loop.h"

#include <errno.h>
#include <semaphore.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/random.h"
#include "base/thread.h"

#define EVENTS_PER_TURN 64
#define CACHE_LINE 64

struct wr_redis_loop {
    struct wr_thread thread;
    struct wr_metrics_block *metrics; /* borrowed */
    int epoll;                        /* owned; -1: none */
    int wake;                         /* owned; an eventfd */
    bool is_started;                  /* of the owner */
    /* of the loop's thread */
    bool is_stopping;
    bool has_no_pwait2; /* the kernel, or who guards it, does not know it */
    int n_events;       /* of the turn */
    int64_t now_us;
    uint64_t random;
    struct wr_redis_flush *flushes;
    struct epoll_event *events; /* of the turn, while they are gone through */
    struct wr_redis_timers timers;
    struct wr_redis_job stop;
    /* Shared with those who push. Whoever pushes looks at is_asleep after it has changed the inbox,
     * the loop looks at the inbox after it has changed is_asleep: one of both sees the other. */
    alignas(CACHE_LINE) _Atomic(struct wr_redis_job *) inbox; /* newest first */
    atomic_bool is_asleep;
};

enum wr_err wr_redis_loop_new(const char *name, struct wr_metrics_block *metrics,
                              struct wr_redis_loop **out_loop)
{
    struct wr_redis_loop *const loop = aligned_alloc(alignof(struct wr_redis_loop), sizeof *loop);

    if (loop == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    *loop = (struct wr_redis_loop){
        .metrics = metrics,
        .epoll = epoll_create1(EPOLL_CLOEXEC),
        .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
        .now_us = wr_clock_mono_us(),
    };
    (void) snprintf(loop->thread.name, sizeof loop->thread.name, "%s", name);
    loop->random =
        (uint64_t) loop->now_us ^ (uint64_t) (uintptr_t) loop ^ (uint64_t) getpid() << 32;
    loop->random |= 1;
    wr_redis_timers_init(&loop->timers, loop->now_us);

    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};

    if (loop->epoll < 0 || loop->wake < 0 ||
        epoll_ctl(loop->epoll, EPOLL_CTL_ADD, loop->wake, &event) != 0) {
        wr_redis_loop_destroy(loop);
        return WR_ERR_SYSTEM;
    }
    *out_loop = loop;
    return WR_OK;
}

static void wake(struct wr_redis_loop *loop)
{
    const uint64_t one = 1;

    while (write(loop->wake, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void wr_redis_loop_push(struct wr_redis_loop *loop, struct wr_redis_job *job)
{
    struct wr_redis_job *newest = atomic_load_explicit(&loop->inbox, memory_order_relaxed);

    do {
        job->next = newest;
    } while (!atomic_compare_exchange_weak_explicit(&loop->inbox, &newest, job,
                                                    memory_order_seq_cst, memory_order_relaxed));
    if (atomic_load_explicit(&loop->is_asleep, memory_order_seq_cst) &&
        atomic_exchange_explicit(&loop->is_asleep, false, memory_order_seq_cst)) {
        wake(loop);
    }
}

/* All that was pushed, oldest first. */
static struct wr_redis_job *take_inbox(struct wr_redis_loop *loop)
{
    struct wr_redis_job *job = atomic_exchange_explicit(&loop->inbox, NULL, memory_order_acquire);
    struct wr_redis_job *oldest = NULL;

    while (job != NULL) {
        struct wr_redis_job *const next = job->next;

        job->next = oldest;
        oldest = job;
        job = next;
    }
    return oldest;
}

static bool run_inbox(struct wr_redis_loop *loop)
{
    struct wr_redis_job *job = take_inbox(loop);
    const bool is_any = job != NULL;

    while (job != NULL) {
        struct wr_redis_job *const next = job->next; /* the job may be gone when it has run */

        job->run(job);
        job = next;
    }
    return is_any;
}

static void run_flushes(struct wr_redis_loop *loop)
{
    while (loop->flushes != NULL) {
        struct wr_redis_flush *const flush = loop->flushes;

        wr_redis_loop_forget_flush(loop, flush);
        flush->run(flush);
    }
}

static int wait_ms(struct wr_redis_loop *loop, struct epoll_event *events, int64_t wait_us)
{
    const int64_t ms = wait_us < 0 ? -1 : (wait_us + 999) / 1000;

    return epoll_wait(loop->epoll, events, EVENTS_PER_TURN, ms > INT32_MAX ? INT32_MAX : (int) ms);
}

/* `wait_us` < 0: however long it takes. */
static int wait_for_events(struct wr_redis_loop *loop, struct epoll_event *events, int64_t wait_us)
{
    const struct timespec timeout = {
        .tv_sec = (time_t) (wait_us / 1000000),
        .tv_nsec = (long) (wait_us % 1000000 * 1000),
    };

    if (wait_us <= 0 || loop->has_no_pwait2) {
        return wait_ms(loop, events, wait_us);
    }

    const int n = epoll_pwait2(loop->epoll, events, EVENTS_PER_TURN, &timeout, NULL);

    if (n < 0 && errno != EINTR) {
        loop->has_no_pwait2 = true;
        return 0;
    }
    return n;
}

/* How long the loop may wait, once it said that it is about to. */
static int64_t wait_us(struct wr_redis_loop *loop)
{
    if (atomic_load_explicit(&loop->inbox, memory_order_seq_cst) != NULL) {
        return 0;
    }

    const int64_t next_us = wr_redis_timers_next(&loop->timers);

    if (next_us == INT64_MAX) {
        return -1;
    }

    const int64_t left_us = next_us - wr_clock_mono_us();

    return left_us > 0 ? left_us : 0;
}

static void drain_wake(struct wr_redis_loop *loop)
{
    uint64_t count;

    while (read(loop->wake, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

static void run_events(struct wr_redis_loop *loop, struct epoll_event *events, int n)
{
    loop->events = events;
    loop->n_events = n;
    for (int i = 0; i < n; i++) {
        struct wr_redis_watch *const watch = events[i].data.ptr;

        if (watch == NULL) {
            if (events[i].events != 0) {
                drain_wake(loop);
            }
        } else {
            watch->on_ready(watch, events[i].events);
        }
    }
    loop->n_events = 0;
}

static void turn(struct wr_redis_loop *loop)
{
    struct epoll_event events[EVENTS_PER_TURN];

    atomic_store_explicit(&loop->is_asleep, true, memory_order_seq_cst);

    const int n = wait_for_events(loop, events, wait_us(loop));

    atomic_store_explicit(&loop->is_asleep, false, memory_order_relaxed);
    loop->now_us = wr_clock_mono_us();
    run_events(loop, events, n);
    (void) run_inbox(loop);
    wr_redis_timers_run(&loop->timers, loop->now_us);
    run_flushes(loop);
}

static void run(void *context)
{
    struct wr_redis_loop *const loop = context;

    while (!loop->is_stopping) {
        turn(loop);
    }
}

enum wr_err wr_redis_loop_start(struct wr_redis_loop *loop)
{
    char name[sizeof loop->thread.name];

    (void) snprintf(name, sizeof name, "%s", loop->thread.name);

    const enum wr_err err = wr_thread_start(&loop->thread, name, run, loop);

    loop->is_started = err == WR_OK;
    return err;
}

static void stop_running(struct wr_redis_job *job)
{
    struct wr_redis_loop *const loop = job->context;

    loop->is_stopping = true;
}

void wr_redis_loop_stop(struct wr_redis_loop *loop)
{
    if (!loop->is_started) {
        return;
    }
    loop->stop = (struct wr_redis_job){.run = stop_running, .context = loop};
    wr_redis_loop_push(loop, &loop->stop);
    wr_thread_join(&loop->thread);
    loop->is_started = false;
    loop->is_stopping = false;
}

void wr_redis_loop_destroy(struct wr_redis_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    WR_ASSERT(!loop->is_started);
    while (run_inbox(loop)) {
    }
    WR_ASSERT(loop->flushes == NULL);
    if (loop->epoll >= 0) {
        (void) close(loop->epoll);
    }
    if (loop->wake >= 0) {
        (void) close(loop->wake);
    }
    free(loop);
}

/* A job that somebody waits for. */
struct awaited {
    struct wr_redis_job job;
    struct wr_redis_job *inner;
    sem_t is_done;
};

static void run_awaited(struct wr_redis_job *job)
{
    struct awaited *const awaited = job->context;

    awaited->inner->run(awaited->inner);
    WR_ASSERT(sem_post(&awaited->is_done) == 0);
}

void wr_redis_loop_call(struct wr_redis_loop *loop, struct wr_redis_job *job)
{
    struct awaited awaited = {.job = {.run = run_awaited, .context = &awaited}, .inner = job};

    if (!loop->is_started) {
        job->run(job);
        return;
    }
    WR_ASSERT(sem_init(&awaited.is_done, 0, 0) == 0);
    wr_redis_loop_push(loop, &awaited.job);
    while (sem_wait(&awaited.is_done) != 0) {
    }
    WR_ASSERT(sem_destroy(&awaited.is_done) == 0);
}

int64_t wr_redis_loop_now(const struct wr_redis_loop *loop)
{
    return loop->now_us;
}

struct wr_redis_timers *wr_redis_loop_timers(struct wr_redis_loop *loop)
{
    return &loop->timers;
}

struct wr_metrics_block *wr_redis_loop_metrics(struct wr_redis_loop *loop)
{
    return loop->metrics;
}

enum wr_err wr_redis_loop_watch(struct wr_redis_loop *loop, struct wr_redis_watch *watch,
                                uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    watch->events = events;
    return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, watch->fd, &event) == 0 ? WR_OK : WR_ERR_SYSTEM;
}

void wr_redis_loop_rewatch(struct wr_redis_loop *loop, struct wr_redis_watch *watch,
                           uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};

    if (watch->events != events) {
        watch->events = events;
        WR_ASSERT(epoll_ctl(loop->epoll, EPOLL_CTL_MOD, watch->fd, &event) == 0);
    }
}

void wr_redis_loop_unwatch(struct wr_redis_loop *loop, struct wr_redis_watch *watch)
{
    (void) epoll_ctl(loop->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    for (int i = 0; i < loop->n_events; i++) {
        if (loop->events[i].data.ptr == watch) {
            loop->events[i] = (struct epoll_event){0};
        }
    }
}

void wr_redis_loop_flush_later(struct wr_redis_loop *loop, struct wr_redis_flush *flush)
{
    if (flush->from != NULL) {
        return;
    }
    flush->next = loop->flushes;
    if (flush->next != NULL) {
        flush->next->from = &flush->next;
    }
    flush->from = &loop->flushes;
    loop->flushes = flush;
}

void wr_redis_loop_forget_flush(struct wr_redis_loop *loop, struct wr_redis_flush *flush)
{
    (void) loop;
    if (flush->from == NULL) {
        return;
    }
    *flush->from = flush->next;
    if (flush->next != NULL) {
        flush->next->from = flush->from;
    }
    flush->from = NULL;
}

uint64_t wr_redis_loop_random(struct wr_redis_loop *loop)
{
    return wr_random_next(&loop->random);
}
