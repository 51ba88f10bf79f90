/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* pipe2 */
#include "store/redis/loop.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/assert.h"

static struct wr_redis_loop *new_loop(bool is_running)
{
    struct wr_redis_loop *loop = NULL;

    cr_assert_eq(wr_redis_loop_new("test-loop", NULL, &loop), WR_OK);
    if (is_running) {
        cr_assert_eq(wr_redis_loop_start(loop), WR_OK);
    }
    return loop;
}

static void end_loop(struct wr_redis_loop *loop)
{
    wr_redis_loop_stop(loop);
    wr_redis_loop_destroy(loop);
}

#define N_PUSHERS 4
#define N_JOBS 5000

struct pusher {
    struct wr_redis_loop *loop;
    pthread_t thread;
    struct wr_redis_job jobs[N_JOBS];
    size_t n_run; /* of the loop's thread */
    bool is_in_order;
};

static struct pusher pushers[N_PUSHERS];

static void run_in_order(struct wr_redis_job *job)
{
    struct pusher *const pusher = job->context;

    pusher->is_in_order = pusher->is_in_order && job == &pusher->jobs[pusher->n_run];
    pusher->n_run++;
}

static void *push_all(void *context)
{
    struct pusher *const pusher = context;

    for (size_t i = 0; i < N_JOBS; i++) {
        pusher->jobs[i] = (struct wr_redis_job){.run = run_in_order, .context = pusher};
        wr_redis_loop_push(pusher->loop, &pusher->jobs[i]);
    }
    return NULL;
}

Test(redis_loop, jobs_of_many_threads_run_once_and_in_order)
{
    struct wr_redis_loop *const loop = new_loop(true);

    for (size_t i = 0; i < N_PUSHERS; i++) {
        pushers[i].loop = loop;
        pushers[i].is_in_order = true;
        cr_assert_eq(pthread_create(&pushers[i].thread, NULL, push_all, &pushers[i]), 0);
    }
    for (size_t i = 0; i < N_PUSHERS; i++) {
        cr_assert_eq(pthread_join(pushers[i].thread, NULL), 0);
    }
    wr_redis_loop_stop(loop);
    for (size_t i = 0; i < N_PUSHERS; i++) {
        cr_assert_eq(pushers[i].n_run, N_JOBS);
        cr_assert(pushers[i].is_in_order);
    }
    wr_redis_loop_destroy(loop);
}

static void count_run(struct wr_redis_job *job)
{
    (*(int *) job->context)++;
}

Test(redis_loop, call_waits_until_the_job_has_run)
{
    int n = 0;
    struct wr_redis_job job = {.run = count_run, .context = &n};
    struct wr_redis_loop *const loop = new_loop(false);

    wr_redis_loop_call(loop, &job);
    cr_assert_eq(n, 1, "without a thread it runs at once");
    cr_assert_eq(wr_redis_loop_start(loop), WR_OK);
    for (int i = 2; i < 100; i++) {
        wr_redis_loop_call(loop, &job);
        cr_assert_eq(n, i);
    }
    end_loop(loop);
}

Test(redis_loop, what_is_pushed_to_a_stopped_one_runs_when_it_is_destroyed)
{
    int n = 0;
    struct wr_redis_job job = {.run = count_run, .context = &n};
    struct wr_redis_loop *const loop = new_loop(true);

    wr_redis_loop_stop(loop);
    wr_redis_loop_push(loop, &job);
    cr_assert_eq(n, 0);
    wr_redis_loop_destroy(loop);
    cr_assert_eq(n, 1);
}

struct desk {
    struct wr_redis_loop *loop;
    struct wr_redis_watch watch[2];
    struct wr_redis_timer timer;
    struct wr_redis_flush flush;
    sem_t happened;
    int n_ready, n_flushes;
    bool is_early;
};

static void lay_desk(struct desk *desk)
{
    *desk = (struct desk){.loop = new_loop(true)};
    cr_assert_eq(sem_init(&desk->happened, 0, 0), 0);
}

static void clear_desk(struct desk *desk)
{
    end_loop(desk->loop);
    cr_assert_eq(sem_destroy(&desk->happened), 0);
}

static void timer_due(struct wr_redis_timer *timer, int64_t mono_us)
{
    struct desk *const desk = timer->context;

    desk->is_early = mono_us < timer->due_mono_us;
    (void) sem_post(&desk->happened);
}

static void set_timer(struct wr_redis_job *job)
{
    struct desk *const desk = job->context;

    desk->timer = (struct wr_redis_timer){.on_due = timer_due, .context = desk};
    wr_redis_timer_set(wr_redis_loop_timers(desk->loop), &desk->timer,
                       wr_redis_loop_now(desk->loop) + 20000);
}

Test(redis_loop, a_timer_wakes_a_sleeping_loop)
{
    struct desk desk;

    lay_desk(&desk);
    wr_redis_loop_call(desk.loop, &(struct wr_redis_job){.run = set_timer, .context = &desk});
    cr_assert_eq(sem_wait(&desk.happened), 0);
    cr_assert_not(desk.is_early);
    clear_desk(&desk);
}

static void flushed(struct wr_redis_flush *flush)
{
    struct desk *const desk = flush->context;

    desk->n_flushes++;
    (void) sem_post(&desk->happened);
}

static void ask_to_flush(struct wr_redis_job *job)
{
    struct desk *const desk = job->context;

    desk->flush.run = flushed;
    desk->flush.context = desk;
    for (int i = 0; i < 3; i++) {
        wr_redis_loop_flush_later(desk->loop, &desk->flush);
    }
    WR_ASSERT(desk->n_flushes == 0);
}

static void forget_to_flush(struct wr_redis_job *job)
{
    struct desk *const desk = job->context;

    ask_to_flush(job);
    wr_redis_loop_forget_flush(desk->loop, &desk->flush);
    wr_redis_loop_forget_flush(desk->loop, &desk->flush);
}

static void nothing(struct wr_redis_job *job)
{
    (void) job;
}

Test(redis_loop, a_flush_runs_once_at_the_end_of_the_turn)
{
    struct desk desk;

    lay_desk(&desk);
    wr_redis_loop_call(desk.loop, &(struct wr_redis_job){.run = ask_to_flush, .context = &desk});
    cr_assert_eq(sem_wait(&desk.happened), 0);
    wr_redis_loop_call(desk.loop, &(struct wr_redis_job){.run = nothing});
    cr_assert_eq(desk.n_flushes, 1);
    desk.n_flushes = 0;
    wr_redis_loop_call(desk.loop, &(struct wr_redis_job){.run = forget_to_flush, .context = &desk});
    wr_redis_loop_call(desk.loop, &(struct wr_redis_job){.run = nothing});
    cr_assert_eq(desk.n_flushes, 0);
    clear_desk(&desk);
}

/* Whichever is first takes both away. */
static void ready(struct wr_redis_watch *watch, uint32_t events)
{
    struct desk *const desk = watch->context;

    WR_ASSERT((events & EPOLLIN) != 0);
    desk->n_ready++;
    for (int i = 0; i < 2; i++) {
        wr_redis_loop_unwatch(desk->loop, &desk->watch[i]);
    }
    (void) sem_post(&desk->happened);
}

static void watch_both(struct wr_redis_job *job)
{
    struct desk *const desk = job->context;

    for (int i = 0; i < 2; i++) {
        desk->watch[i].on_ready = ready;
        desk->watch[i].context = desk;
        WR_ASSERT(wr_redis_loop_watch(desk->loop, &desk->watch[i], EPOLLIN) == WR_OK);
    }
}

Test(redis_loop, what_is_not_watched_any_more_is_not_told_in_the_same_turn_either)
{
    struct desk desk;
    int pipes[2][2];

    lay_desk(&desk);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(pipe2(pipes[i], O_CLOEXEC), 0);
        cr_assert_eq(write(pipes[i][1], "x", 1), 1);
        desk.watch[i].fd = pipes[i][0];
    }
    wr_redis_loop_call(desk.loop, &(struct wr_redis_job){.run = watch_both, .context = &desk});
    cr_assert_eq(sem_wait(&desk.happened), 0);
    for (int i = 0; i < 10; i++) {
        wr_redis_loop_call(desk.loop, &(struct wr_redis_job){.run = nothing});
    }
    cr_assert_eq(desk.n_ready, 1);
    clear_desk(&desk);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(close(pipes[i][0]) + close(pipes[i][1]), 0);
    }
}
