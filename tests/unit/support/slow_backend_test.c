/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/slow_backend.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <time.h>

#include "store/local_store.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define N 50

/* What came back, in which order. */
struct answers {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    size_t n;
    size_t order[N];
    pthread_t thread; /* of the last */
};

struct call {
    struct wr_batch batch;
    struct wr_take take;
    size_t number;
    unsigned n_done;
};

static struct answers answers;
static struct call calls[N];
static struct wr_metrics *metrics;
static struct wr_backend *backend;

static void begin(const struct wr_slow_options *options)
{
    const struct wr_local_store_options local = {.max_counters = 100};
    struct wr_backend *inner = NULL;

    cr_assert_eq(pthread_mutex_init(&answers.mutex, NULL), 0);
    cr_assert_eq(pthread_cond_init(&answers.changed, NULL), 0);
    metrics = wr_metrics_new();
    cr_assert_not_null(metrics);
    cr_assert_eq(wr_local_store_new(&local, &inner), WR_OK);
    cr_assert_eq(wr_slow_backend_new(options, &inner, metrics, &backend), WR_OK);
    cr_assert_null(inner);
}

static void note(struct wr_batch *batch, void *context)
{
    struct call *const call = context;

    cr_assert_eq(batch, &call->batch);
    cr_assert_eq(pthread_mutex_lock(&answers.mutex), 0);
    call->n_done++;
    answers.order[answers.n++] = call->number;
    answers.thread = pthread_self();
    cr_assert_eq(pthread_cond_signal(&answers.changed), 0);
    cr_assert_eq(pthread_mutex_unlock(&answers.mutex), 0);
}

static void call_all(struct wr_metrics_block *block)
{
    for (size_t i = 0; i < N; i++) {
        struct call *const call = &calls[i];

        call->number = i;
        call->take = (struct wr_take){
            .key = WR_STR("key"),
            .limit = {.requests = N, .length_us = S(60)},
            .hits = 1,
        };
        call->batch = (struct wr_batch){
            .takes = &call->take,
            .n_takes = 1,
            .now = {.wall_us = S(60)},
            .deadline_mono_us = INT64_MAX,
            .metrics = block,
            .done = note,
            .context = call,
        };
        wr_backend_take(backend, &call->batch);
    }
}

static void wait_for_all(void)
{
    struct timespec deadline;

    cr_assert_eq(clock_gettime(CLOCK_REALTIME, &deadline), 0);
    deadline.tv_sec += 60;
    cr_assert_eq(pthread_mutex_lock(&answers.mutex), 0);
    while (answers.n < N) {
        cr_assert_eq(pthread_cond_timedwait(&answers.changed, &answers.mutex, &deadline), 0,
                     "%zu of %d answers in 20 s", answers.n, N);
    }
    cr_assert_eq(pthread_mutex_unlock(&answers.mutex), 0);
}

static void end(void)
{
    wr_backend_destroy(backend);
    wr_metrics_destroy(metrics);
    for (size_t i = 0; i < N; i++) {
        cr_assert_eq(calls[i].n_done, 1u, "batch %zu was done %u times", i, calls[i].n_done);
    }
}

static size_t count_answers(enum wr_take_answer answer)
{
    size_t n = 0;

    for (size_t i = 0; i < N; i++) {
        n += calls[i].take.answer == answer;
    }
    return n;
}

static size_t count_descents(void)
{
    size_t n = 0;

    for (size_t i = 1; i < N; i++) {
        n += answers.order[i] < answers.order[i - 1];
    }
    return n;
}

Test(slow_backend, answers_from_its_own_thread_in_order_after_the_delay)
{
    begin(&(struct wr_slow_options){.delay_us = 2000, .timeout_us = S(10)});
    call_all(wr_metrics_block_new(metrics));
    wait_for_all();
    cr_assert(!pthread_equal(answers.thread, pthread_self()));
    cr_assert_eq(count_descents(), 0u);
    cr_assert_eq(count_answers(WR_TAKE_DECIDED), (size_t) N);
    for (size_t i = 0; i < N; i++) {
        cr_assert_eq(calls[i].take.verdict.remaining, N - 1 - i, "decided in the order of take");
    }
    end();
}

Test(slow_backend, answers_the_newest_first)
{
    begin(&(struct wr_slow_options){
        .delay_us = 200000, .timeout_us = S(10), .order = WR_SLOW_REVERSED});
    call_all(wr_metrics_block_new(metrics));
    wait_for_all();
    cr_assert_gt(count_descents(), 0u);
    cr_assert_eq(count_answers(WR_TAKE_DECIDED), (size_t) N);
    end();
}

Test(slow_backend, answers_in_any_order)
{
    begin(&(struct wr_slow_options){
        .delay_us = 200000, .timeout_us = S(10), .order = WR_SLOW_SHUFFLED, .seed = 42});
    call_all(wr_metrics_block_new(metrics));
    wait_for_all();
    cr_assert_gt(count_descents(), 0u);
    cr_assert_lt(count_descents(), (size_t) N - 1);
    end();
}

Test(slow_backend, ends_what_it_never_answers_by_its_timeout)
{
    begin(&(struct wr_slow_options){.timeout_us = 5000, .never_every = 1});
    call_all(wr_metrics_block_new(metrics));
    wait_for_all();
    cr_assert_eq(count_answers(WR_TAKE_TIMEOUT), (size_t) N);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_STORE_TIMEOUT), (uint64_t) N);
    end();
}

Test(slow_backend, loses_every_nth_batch)
{
    begin(&(struct wr_slow_options){.delay_us = 100, .timeout_us = 20000, .never_every = 5});
    call_all(wr_metrics_block_new(metrics));
    wait_for_all();
    for (size_t i = 0; i < N; i++) {
        cr_assert_eq(calls[i].take.answer, i % 5 == 4 ? WR_TAKE_TIMEOUT : WR_TAKE_DECIDED);
    }
    end();
}

Test(slow_backend, a_delay_beyond_the_timeout_is_no_answer_but_a_charge)
{
    begin(&(struct wr_slow_options){.delay_us = S(100), .timeout_us = 1000});
    call_all(wr_metrics_block_new(metrics));
    wait_for_all();
    cr_assert_eq(count_answers(WR_TAKE_TIMEOUT), (size_t) N);
    cr_assert_eq(calls[N - 1].take.verdict.remaining, 0u);
    end();
}

Test(slow_backend, destroying_it_answers_what_waits)
{
    begin(&(struct wr_slow_options){.delay_us = S(1000), .timeout_us = S(10000)});
    call_all(wr_metrics_block_new(metrics));
    end();
    cr_assert_eq(count_answers(WR_TAKE_DECIDED), (size_t) N);
}
