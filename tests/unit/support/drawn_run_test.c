/* SPDX-License-Identifier: Apache-2.0 */
/* What compares two stores by such runs is blind where these do not come to. */
#include "tests/support/drawn_run.h"

#include <criterion/criterion.h>
#include <stdbool.h>
#include <string.h>

#include "limit/sliding_buckets.h"
#include "limit/sliding_log.h"
#include "tests/support/take_model.h"

/* Half as many as there are among 10 000 sequences, as long as the longest. */
#define N_RUNS 250
#define N_CALLS 80
#define LEAST 10 /* times that it must be seen */
#define MINUTE INT64_C(60000000)

/* Times that something was seen in all runs. */
struct seen {
    size_t many, moved, joined, surplus, forgotten;   /* of logs */
    size_t spread, wider[3], rearranged, passed_over; /* of buckets */
};

/* The state before and after one take of `limit`. */
typedef void (*watch_fn)(const void *before, const void *after, const struct wr_limit *limit,
                         struct seen *seen);

static int64_t newest_stamp(const struct wr_sliding_log *log)
{
    const uint32_t place = log->first + log->n - 1U;

    return log->ring[place < log->capacity ? place : place - log->capacity].stamp_us;
}

static void watch_log(const void *before, const void *after, const struct wr_limit *limit,
                      struct seen *seen)
{
    const struct wr_sliding_log *const had = before, *const has = after;
    const bool is_full = had->n > 0 && had->n >= limit->requests;

    seen->many += has->n > 40;
    seen->moved += has->capacity > had->capacity && had->first > 0;
    seen->surplus += has->n > limit->requests;
    if (has->n > 1 && has->used > 0) {
        seen->forgotten += has->first != had->first && had->capacity == has->capacity;
        seen->joined += is_full && has->n == had->n && newest_stamp(has) != newest_stamp(had);
    }
}

static void watch_buckets(const void *before, const void *after, const struct wr_limit *limit,
                          struct seen *seen)
{
    const struct wr_sliding_buckets *const had = before, *const has = after;

    (void) limit;
    seen->spread += has->span > 60;
    for (int i = 0; i < 3; i++) {
        seen->wider[i] += had->width > 0 && had->width < has->width && has->width == 2 << i;
    }
    seen->rearranged += had->n > 0 && had->n != has->n && had->used > 0 && has->used >= had->used;
    seen->passed_over += had->used > 0 && has->expiry_us > had->expiry_us + MINUTE;
}

static void play_run(uint64_t *seed, const struct wr_limit *sort, watch_fn watch, struct seen *seen)
{
    struct wr_drawn_call calls[N_CALLS];
    struct wr_take_model model = {0};

    wr_draw_run(seed, sort, 0, MINUTE * 1000, calls, N_CALLS);
    for (size_t i = 0; i < N_CALLS; i++) {
        uint64_t before[WR_TAKE_MODEL_WORDS];
        struct wr_take take = calls[i].ones[0].take;

        take.key = wr_str_of("key");
        memcpy(before, model.counters[0].state, sizeof before);
        wr_take_model_batch(&model, &take, 1, calls[i].mode, calls[i].now_us);
        watch(before, model.counters[0].state, &take.limit, seen);
    }
}

static struct seen play(const struct wr_limit *sort, watch_fn watch)
{
    struct seen seen = {0};
    uint64_t seed = 1;

    for (int i = 0; i < N_RUNS; i++) {
        play_run(&seed, sort, watch, &seen);
    }
    return seen;
}

Test(drawn_run, fills_logs_and_empties_them)
{
    static const struct wr_limit sort = {.length_us = MINUTE,
                                         .algorithm = WR_ALGORITHM_SLIDING_LOG};
    const struct seen seen = play(&sort, watch_log);

    cr_assert_gt(seen.many, LEAST, "logs of over 40 entries");
    cr_assert_gt(seen.moved, LEAST, "rings that grow in their middle");
    cr_assert_gt(seen.joined, LEAST, "hits that join the newest entry");
    cr_assert_gt(seen.surplus, LEAST, "more entries than the limit allows");
    cr_assert_gt(seen.forgotten, LEAST, "entries that expire while others stay");
}

Test(drawn_run, widens_buckets_and_steps_over_them)
{
    static const struct wr_limit sort = {
        .length_us = MINUTE, .algorithm = WR_ALGORITHM_SLIDING_BUCKETS, .n_buckets = 60};
    const struct seen seen = play(&sort, watch_buckets);

    cr_assert_gt(seen.spread, LEAST, "hits in over 60 buckets");
    for (int i = 0; i < 3; i++) {
        cr_assert_gt(seen.wider[i], LEAST, "counts that become %d bytes wide", 2 << i);
    }
    cr_assert_gt(seen.rearranged, LEAST, "hits kept through another number of buckets");
    cr_assert_gt(seen.passed_over, LEAST, "steps over all buckets");
}
