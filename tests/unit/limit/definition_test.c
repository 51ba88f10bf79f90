/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every algorithm against its definition: all hits that were ever admitted are kept, and what
 * remains is reckoned from them anew each time. So nothing is refused that should pass, either.
 */
#include "limit/algorithm.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "tests/unit/limit/counter.h"

enum {
    LIVES = 2000, /* of each algorithm */
    STEPS = 60,
};

struct history {
    struct wr_limit limit;
    size_t n;
    int64_t times_us[STEPS];
    uint64_t hits[STEPS];
};

/* Hits that came at `from_us` or later. */
static uint64_t hits_from(const struct history *history, int64_t from_us)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < history->n; i++) {
        sum += history->times_us[i] >= from_us ? history->hits[i] : 0;
    }
    return sum;
}

static uint64_t used_of_window(const struct history *history, int64_t now_us)
{
    return hits_from(history, now_us - now_us % history->limit.length_us);
}

/* Windows begin with the first hit that is in none. */
static uint64_t used_of_first_hit(const struct history *history, int64_t now_us)
{
    int64_t start_us = INT64_MIN / 2;

    for (size_t i = 0; i < history->n; i++) {
        if (history->times_us[i] >= start_us + history->limit.length_us) {
            start_us = history->times_us[i];
        }
    }
    return now_us < start_us + history->limit.length_us ? hits_from(history, start_us) : 0;
}

static uint64_t used_of_sliding_window(const struct history *history, int64_t now_us)
{
    const uint64_t length = (uint64_t) history->limit.length_us;
    const int64_t start_us = now_us - now_us % history->limit.length_us;
    const uint64_t current = hits_from(history, start_us);
    const uint64_t previous = hits_from(history, start_us - history->limit.length_us) - current;
    const uint64_t left = length - (uint64_t) (now_us - start_us);

    return current + (previous * left + length - 1) / length;
}

static uint64_t used_of_buckets(const struct history *history, int64_t now_us)
{
    const int64_t n = history->limit.n_buckets;
    const int64_t bucket_us = (history->limit.length_us + n - 1) / n;

    return hits_from(history, now_us - now_us % bucket_us - n * bucket_us);
}

static uint64_t used_of_log(const struct history *history, int64_t now_us)
{
    return hits_from(history, now_us - history->limit.length_us + 1);
}

/* Tokens that lack, begun ones in full. */
static uint64_t used_of_token_bucket(const struct history *history, int64_t now_us)
{
    const int64_t requests = (int64_t) history->limit.requests;
    const int64_t interval_us = (history->limit.length_us + requests - 1) / requests;
    int64_t full_us = 0;

    for (size_t i = 0; i < history->n; i++) {
        const int64_t from_us = full_us > history->times_us[i] ? full_us : history->times_us[i];

        full_us = from_us + (int64_t) history->hits[i] * interval_us;
    }
    return full_us > now_us ? (uint64_t) ((full_us - now_us + interval_us - 1) / interval_us) : 0;
}

static const struct {
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
    uint64_t (*used)(const struct history *history, int64_t now_us);
} rows[] = {
    {WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_EPOCH, used_of_window},
    {WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_FIRST_HIT, used_of_first_hit},
    {WR_ALGORITHM_SLIDING_WINDOW, WR_ALIGN_EPOCH, used_of_sliding_window},
    {WR_ALGORITHM_SLIDING_BUCKETS, WR_ALIGN_EPOCH, used_of_buckets},
    {WR_ALGORITHM_SLIDING_LOG, WR_ALIGN_EPOCH, used_of_log},
    {WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, used_of_token_bucket},
};

static uint64_t draw(uint64_t *random, uint64_t least, uint64_t most)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (*random >> 33) % (most - least + 1);
}

/* Of a refused take: the next hit passes when it says, and not before; fixed windows go on to their
 * end where one could pass already. */
static void assert_wait(const struct history *history, size_t row, uint64_t most, int64_t reset_us,
                        int64_t now_us)
{
    const bool is_full = rows[row].used(history, now_us) == most;

    cr_assert_gt(reset_us, 0, "row %zu", row);
    cr_assert_lt(rows[row].used(history, now_us + reset_us), most, "row %zu", row);
    if (is_full) {
        cr_assert_eq(rows[row].used(history, now_us + reset_us - 1), most, "row %zu", row);
    } else if (rows[row].algorithm != WR_ALGORITHM_FIXED_WINDOW) {
        cr_assert_eq(reset_us, 1, "row %zu: one of %" PRIu64 " fits", row, most);
    }
}

/* Returns whether it was admitted. */
static bool step(struct history *history, struct wr_counter *counter, size_t row, uint64_t hits,
                 int64_t now_us)
{
    const bool is_bucket = history->limit.algorithm == WR_ALGORITHM_TOKEN_BUCKET;
    const uint64_t most = is_bucket ? history->limit.burst : history->limit.requests;
    const uint64_t used = rows[row].used(history, now_us);
    const struct wr_verdict got = wr_counter_take(counter, hits, now_us);

    cr_assert_leq(used, most, "row %zu", row);
    cr_assert_eq(got.over, hits > most - used, "row %zu: %" PRIu64 " of %" PRIu64 " used", row,
                 used, most);
    cr_assert_eq(got.remaining, got.over ? 0 : most - used - hits, "row %zu", row);
    if (got.over) {
        assert_wait(history, row, most, got.reset_us, now_us);
    } else if (hits > 0) {
        history->times_us[history->n] = now_us;
        history->hits[history->n++] = hits;
    }
    return !got.over;
}

static uint64_t live(size_t row, uint64_t *random)
{
    struct history history = {
        .limit =
            {
                .requests = draw(random, 1, 20),
                .length_us = (int64_t) draw(random, 40, draw(random, 0, 1) == 0 ? 500 : 1000000),
                .count = WR_COUNT_ADMITTED,
                .algorithm = rows[row].algorithm,
                .alignment = rows[row].alignment,
                .n_buckets = (uint32_t) draw(random, 1, 12),
                .burst = draw(random, 1, 20),
            },
    };
    const uint64_t pace = draw(random, 1, 40);
    struct wr_counter counter;
    int64_t now_us = (int64_t) draw(random, 1000000000, 1100000000);
    uint64_t admitted = 0;

    wr_counter_init(&counter, &history.limit);
    for (int i = 0; i < STEPS; i++) {
        now_us += (int64_t) draw(random, 0, 2 * (uint64_t) history.limit.length_us / pace);
        admitted += step(&history, &counter, row, draw(random, 0, 3), now_us) ? 1 : 0;
    }
    wr_counter_fini(&counter);
    return admitted;
}

Test(definition, every_algorithm_admits_what_its_definition_does)
{
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        uint64_t random = 1, admitted = 0;

        for (int i = 0; i < LIVES; i++) {
            admitted += live(row, &random);
        }
        cr_assert(admitted > LIVES * STEPS / 4 && admitted < LIVES * STEPS / 4 * 3,
                  "row %zu: %" PRIu64 " admitted show little", row, admitted);
    }
}
