/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/bench/kind_subject.h"

#include <inttypes.h>
#include <stdlib.h>

#include "limit/calendar.h"
#include "store/local_store.h"
#include "tests/bench/report.h"
#include "tests/stress/crew.h"
#include "tests/support/taker.h"

#define LENGTH_US (INT64_C(3600) * 1000000 * 1000)
#define BEGIN_US (300 * LENGTH_US)
#define HALF_YEAR_US (INT64_C(365) * 86400 * 500000)

/* As many as weir has by default; and room for a million of those that grow. */
#define MAX_COUNTERS 4000000
#define MAX_COUNTERS_OF_GROWING 8000000

enum {
    KEYS = 1000000,
    TIMES_ONE_KEY = 4, /* as many takes on it, which are quicker, so that threads meet */
    BUCKETS = 60,
    CLOCK_CHANGES = 400, /* two a year, to the middle of the 22nd century */
};

struct wr_bench_subject {
    struct wr_taker takers[2];
    double bytes_before;
    uint64_t n_keys;
    uint64_t takes; /* of a thread, on many keys */
    int64_t step_us;
    int64_t million_step_us;
    double cpu_ns[2]; /* written by its thread */
};

/* Of a thread in a turn. */
static uint64_t takes_of(const struct wr_bench_subject *subject)
{
    return subject->takes * (subject->n_keys == 1 ? TIMES_ONE_KEY : 1);
}

static void run(size_t number, void *context)
{
    struct wr_bench_subject *const subject = context;
    struct wr_taker *const taker = &subject->takers[number];
    uint64_t random = ((uint64_t) taker->now.mono_us + number + 1) * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t takes = takes_of(subject);
    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t i = 0; i < takes; i++) {
        taker->now.wall_us += subject->step_us;
        taker->now.mono_us += subject->step_us;
        (void) wr_taker_take_number(taker, wr_crew_random(&random) % subject->n_keys);
    }
    subject->cpu_ns[number] = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
}

/* Of a take by each of `n_threads`. */
static double takes_ns(struct wr_bench_subject *subject, size_t n_threads)
{
    double cpu_ns = 0;

    subject->takers[1].now = subject->takers[0].now;
    wr_crew_run(n_threads, run, subject);
    for (size_t i = 0; i < n_threads; i++) {
        cpu_ns += subject->cpu_ns[i];
    }
    return cpu_ns / (double) (takes_of(subject) * n_threads);
}

/* Years of a zone whose clocks are put forward and back. */
static const struct wr_calendar *calendar(void)
{
    static struct wr_zone_transition transitions[CLOCK_CHANGES];
    static const struct wr_zone zone = {.n = CLOCK_CHANGES, .transitions = transitions};
    static const struct wr_calendar years = {
        .unit = WR_UNIT_YEAR, .zone = &zone, .zone_name = {.ptr = "Two/Clocks", .len = 10}};

    for (int i = 0; i < CLOCK_CHANGES; i++) {
        transitions[i].from_us = HALF_YEAR_US * i;
        transitions[i].offset_s = 3600 * (1 + i % 2);
    }
    return &years;
}

static int64_t length_us_of(const struct wr_bench_kind *kind)
{
    return kind->alignment == WR_ALIGN_CALENDAR ? 2 * HALF_YEAR_US : LENGTH_US;
}

static struct wr_limit limit_of(const struct wr_bench_kind *kind)
{
    const bool is_log = kind->algorithm == WR_ALGORITHM_SLIDING_LOG;

    return (struct wr_limit){
        .requests = is_log ? WR_SLIDING_LOG_MAX : 10000,
        .length_us = length_us_of(kind),
        .count = WR_COUNT_ADMITTED,
        .algorithm = kind->algorithm,
        .alignment = kind->alignment,
        .n_buckets = BUCKETS,
        .burst = 1000,
        .warm_up_us = kind->has_warm_up ? LENGTH_US : 0,
        .warm_up_start = 3000,
        .calendar = kind->alignment == WR_ALIGN_CALENDAR ? calendar() : NULL,
    };
}

static struct wr_backend *store_for(const struct wr_bench_kind *kind)
{
    const bool is_growing = kind->algorithm == WR_ALGORITHM_SLIDING_BUCKETS ||
                            kind->algorithm == WR_ALGORITHM_SLIDING_LOG;
    const struct wr_local_store_options options = {
        .max_counters = is_growing ? MAX_COUNTERS_OF_GROWING : MAX_COUNTERS};
    struct wr_backend *backend = NULL;

    wr_check(wr_local_store_new(&options, &backend) == WR_OK, "no store");
    return backend;
}

/* On one key half of what is allowed comes in a window. On many, half a window passes in all, so
 * that nothing is forgotten; but what a token bucket has is forgotten soon, so there hardly any
 * time passes. */
struct wr_bench_subject *wr_bench_subject_new(const struct wr_bench_kind *kind, uint64_t takes,
                                              uint64_t n_rounds)
{
    const double before = wr_bench_resident_bytes();
    struct wr_bench_subject *const subject = calloc(1, sizeof *subject);
    struct wr_metrics *const metrics = wr_metrics_new();

    wr_check(subject != NULL && metrics != NULL, "no memory");

    struct wr_backend *const backend = store_for(kind);

    for (size_t i = 0; i < 2; i++) {
        subject->takers[i] = (struct wr_taker){
            .backend = backend,
            .metrics = wr_metrics_block_new(metrics),
            .limit = limit_of(kind),
            .now = {.wall_us = BEGIN_US, .mono_us = BEGIN_US},
        };
        wr_check(subject->takers[i].metrics != NULL, "no memory");
    }
    subject->bytes_before = before;
    subject->takes = takes;
    subject->n_keys = 1;
    subject->step_us = 2 * length_us_of(kind) / (int64_t) subject->takers[0].limit.requests;
    subject->million_step_us =
        kind->algorithm == WR_ALGORITHM_TOKEN_BUCKET
            ? 1
            : length_us_of(kind) / 2 / (int64_t) (KEYS + n_rounds * 2 * takes);
    return subject;
}

static int64_t window_left_us(const struct wr_limit *limit, const struct wr_now *now)
{
    if (limit->calendar != NULL) {
        return wr_calendar_window_of(limit->calendar, now->wall_us).end_us - now->wall_us;
    }
    return limit->length_us - now->mono_us % limit->length_us;
}

/* Of the first hit of each key, from the beginning of a window on. */
static double fill(struct wr_bench_subject *subject)
{
    struct wr_taker *const taker = &subject->takers[0];
    const int64_t left_us = window_left_us(&taker->limit, &taker->now);

    subject->n_keys = KEYS;
    subject->step_us = subject->million_step_us;
    taker->now.wall_us += left_us;
    taker->now.mono_us += left_us;

    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (uint64_t key = 0; key < KEYS; key++) {
        taker->now.wall_us += subject->step_us;
        taker->now.mono_us += subject->step_us;

        const enum wr_take_answer answer = wr_taker_take_number(taker, key).answer;

        wr_check(answer == WR_TAKE_DECIDED, "answer %d to key %" PRIu64, (int) answer, key);
    }
    return (wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / KEYS;
}

double wr_bench_subject_measure(struct wr_bench_subject *subject, enum wr_bench_figure figure)
{
    switch (figure) {
    case WR_BENCH_NEW:
        return fill(subject);
    case WR_BENCH_BYTES:
        return (wr_bench_resident_bytes() - subject->bytes_before) / KEYS;
    case WR_BENCH_ONE_KEY:
    case WR_BENCH_MILLION:
        return takes_ns(subject, 1);
    case WR_BENCH_ONE_KEY_THREADS_2:
    case WR_BENCH_MILLION_THREADS_2:
        return takes_ns(subject, 2);
    }
    return 0;
}
