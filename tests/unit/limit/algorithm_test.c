/* SPDX-License-Identifier: Apache-2.0 */
/* What a store and a client rely on, of every algorithm. */
#include "limit/algorithm.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "limit/fixed_window.h"
#include "tests/unit/limit/counter.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum {
    BEGIN_S = 600,
    WORDS = 64, /* enough for all limits here */
};

static const struct {
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
} kinds[] = {
    {WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_EPOCH},   {WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_FIRST_HIT},
    {WR_ALGORITHM_SLIDING_WINDOW, WR_ALIGN_EPOCH}, {WR_ALGORITHM_SLIDING_BUCKETS, WR_ALIGN_EPOCH},
    {WR_ALGORITHM_SLIDING_LOG, WR_ALIGN_EPOCH},    {WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH},
};

#define N_KINDS (sizeof kinds / sizeof kinds[0])

static struct wr_limit limit_of(size_t i, enum wr_count count)
{
    return (struct wr_limit){
        .requests = 5,
        .length_us = S(60),
        .count = count,
        .algorithm = kinds[i].algorithm,
        .alignment = kinds[i].alignment,
        .n_buckets = 6,
        .burst = 5,
    };
}

static void assert_equal(struct wr_verdict a, struct wr_verdict b, int step)
{
    cr_assert_eq(a.over, b.over, "step %d", step);
    cr_assert_eq(a.remaining, b.remaining, "step %d", step);
    cr_assert_eq(a.reset_us, b.reset_us, "step %d", step);
}

Test(algorithm, a_peek_says_what_a_take_comes_to_and_changes_nothing)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const struct wr_limit limit = limit_of(i, WR_COUNT_ADMITTED);
        const struct wr_counter_kind *const kind = wr_counter_kind_of(&limit);
        uint64_t state[WORDS] = {0}, before[WORDS];

        for (int step = 0; step < 200; step++) {
            const int64_t now_us = S(BEGIN_S) + step * S(1);
            const uint64_t hits = (uint64_t) step * 7 % 4;

            memcpy(before, state, sizeof state);

            const struct wr_verdict peeked = kind->peek(state, &limit, hits, now_us);

            cr_assert_arr_eq(state, before, sizeof state);
            assert_equal(kind->take(state, &limit, hits, now_us), peeked, step);
        }
    }
}

Test(algorithm, what_charges_nothing_leaves_the_state_as_it_was)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const struct wr_limit limit = limit_of(i, WR_COUNT_ADMITTED);
        const struct wr_counter_kind *const kind = wr_counter_kind_of(&limit);
        uint64_t state[WORDS] = {0}, before[WORDS] = {0};

        (void) kind->refund(state, &limit, 3, S(BEGIN_S));
        (void) kind->take(state, &limit, 0, S(BEGIN_S));
        (void) kind->take(state, &limit, 6, S(BEGIN_S));
        cr_assert_arr_eq(state, before, sizeof state, "a counter was made of nothing");
        (void) kind->take(state, &limit, 5, S(BEGIN_S));
        cr_assert_neq(state[0], 0u);
        memcpy(before, state, sizeof state);
        (void) kind->take(state, &limit, 6, S(BEGIN_S) + 1);
        (void) kind->take(state, &limit, 0, S(BEGIN_S) + S(3600));
        (void) kind->refund(state, &limit, 3, S(BEGIN_S) + S(3600));
        cr_assert_arr_eq(state, before, sizeof state);
    }
}

Test(algorithm, the_first_word_is_when_the_counter_is_as_good_as_never_hit)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        const struct wr_limit limit = limit_of(i, WR_COUNT_ALL);
        const struct wr_counter_kind *const kind = wr_counter_kind_of(&limit);
        const uint64_t never_hit[WORDS] = {0};
        uint64_t state[WORDS] = {0};

        const uint32_t n_words = kind->state_words(state, &limit, 36);

        cr_assert(n_words >= 2 && n_words <= WORDS);
        for (uint64_t hits = 1; hits < 9; hits++) {
            (void) kind->take(state, &limit, hits, S(BEGIN_S + 7));

            const int64_t expiry_us = (int64_t) state[0];

            cr_assert_gt(expiry_us, S(BEGIN_S + 7));
            cr_assert_lt(kind->peek(state, &limit, 0, expiry_us - 1).remaining, limit.requests);
            assert_equal(kind->peek(state, &limit, 2, expiry_us),
                         kind->peek(never_hit, &limit, 2, expiry_us), (int) hits);
        }
    }
}

Test(algorithm, a_state_that_was_set_aside_is_never_hit)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        struct wr_limit limit = limit_of(i, WR_COUNT_ADMITTED);

        for (int is_warm = 0; is_warm < 2; is_warm++) {
            uint64_t never_hit[WORDS] = {0}, aside[WORDS] = {INT64_MAX};
            const struct wr_counter_kind *const kind = wr_counter_kind_of(&limit);

            cr_assert_eq(kind->state_words(aside, &limit, 2),
                         kind->state_words(never_hit, &limit, 2));
            assert_equal(kind->peek(aside, &limit, 2, S(BEGIN_S)),
                         kind->peek(never_hit, &limit, 2, S(BEGIN_S)), (int) i);
            (void) kind->refund(aside, &limit, 2, S(BEGIN_S));
            (void) kind->take(aside, &limit, 2, S(BEGIN_S));
            (void) kind->take(never_hit, &limit, 2, S(BEGIN_S));
            cr_assert_arr_eq(aside, never_hit, sizeof aside, "kind %zu", i);
            limit.warm_up_us = S(30);
            limit.warm_up_start = 3;
        }
    }
}

Test(algorithm, a_kind_goes_by_one_clock)
{
    const struct wr_now now = {.wall_us = 1, .mono_us = 2};
    struct wr_counter_kind kind = wr_fixed_window_kind;

    kind.clock = WR_COUNTER_WALL;
    cr_assert_eq(wr_counter_time(&kind, &now), 1);
    kind.clock = WR_COUNTER_MONO;
    cr_assert_eq(wr_counter_time(&kind, &now), 2);
}

/* Random counters, in the midst of their lives. */

enum {
    LIVES = 4000, /* of each algorithm */
    STEPS = 20,
};

static uint64_t draw(uint64_t *random, uint64_t least, uint64_t most)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (*random >> 33) % (most - least + 1);
}

static struct wr_limit random_limit(size_t i, uint64_t *random)
{
    return (struct wr_limit){
        .requests = draw(random, 1, 12),
        .length_us = (int64_t) draw(random, 50, draw(random, 0, 1) == 0 ? 500 : 1000000),
        .count = draw(random, 0, 2) == 0 ? WR_COUNT_ALL : WR_COUNT_ADMITTED,
        .algorithm = kinds[i].algorithm,
        .alignment = kinds[i].alignment,
        .n_buckets = (uint32_t) draw(random, 1, 12),
        .burst = draw(random, 1, 12),
    };
}

/* Takes, now and then a refund, and more time than they need. */
static struct wr_verdict random_step(struct wr_counter *counter, int64_t *now_us, uint64_t *hits,
                                     uint64_t *random)
{
    *now_us += (int64_t) draw(random, 0, (uint64_t) counter->limit.length_us / draw(random, 1, 20));
    *hits = draw(random, 0, 4) == 0 ? draw(random, 0, 14) : 1;
    if (draw(random, 0, 9) == 0) {
        return wr_counter_refund(counter, *hits, *now_us);
    }
    return wr_counter_take(counter, *hits, *now_us);
}

/* What is asked of a counter after a step; `hits` and `verdict` are the step's. */
typedef void (*property_fn)(struct wr_counter *counter, const struct wr_verdict *verdict,
                            uint64_t hits, int64_t now_us, uint64_t *random);

/* Numbers of a rule change, but for those that are part of a counter's identity. */
static void change_limit(struct wr_limit *limit, size_t kind, uint64_t *random)
{
    const struct wr_limit other = random_limit(kind, random);

    limit->requests = draw(random, 0, 1) == 0 ? other.requests : limit->requests;
    limit->burst = draw(random, 0, 1) == 0 ? other.burst : limit->burst;
    limit->n_buckets = draw(random, 0, 1) == 0 ? other.n_buckets : limit->n_buckets;
}

/* One in `n_steps` comes after a change. */
static void live_changing(property_fn property, uint64_t n_steps)
{
    for (size_t i = 0; i < N_KINDS; i++) {
        uint64_t random = 1;

        for (int life = 0; life < LIVES; life++) {
            const struct wr_limit limit = random_limit(i, &random);
            struct wr_counter counter;
            int64_t now_us = S(BEGIN_S) + (int64_t) draw(&random, 0, 1000000);

            wr_counter_init(&counter, &limit);
            for (int step = 0; step < STEPS; step++) {
                uint64_t hits;

                if (n_steps > 0 && draw(&random, 1, n_steps) == 1) {
                    change_limit(&counter.limit, i, &random);
                }

                const struct wr_verdict verdict = random_step(&counter, &now_us, &hits, &random);

                property(&counter, &verdict, hits, now_us, &random);
            }
            wr_counter_fini(&counter);
        }
    }
}

static void live(property_fn property)
{
    live_changing(property, 0);
}

static uint64_t most_of(const struct wr_limit *limit)
{
    return limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET ? limit->burst : limit->requests;
}

#define ASSERT_OF(counter, condition)                                                              \
    cr_assert((condition),                                                                         \
              "algorithm %d, limit %" PRIu64 ", length %" PRId64 ", %u buckets, burst %" PRIu64    \
              ", count %d",                                                                        \
              (counter)->limit.algorithm, (counter)->limit.requests, (counter)->limit.length_us,   \
              (counter)->limit.n_buckets, (counter)->limit.burst, (counter)->limit.count)

/* Refunds are not over, whatever is left; so what a look says tells. */
static void wait_is_exact(struct wr_counter *counter, const struct wr_verdict *verdict,
                          uint64_t hits, int64_t now_us, uint64_t *random)
{
    const uint64_t most = most_of(&counter->limit);
    const bool is_fixed = counter->limit.algorithm == WR_ALGORITHM_FIXED_WINDOW;
    const struct wr_verdict look = wr_counter_peek(counter, 0, now_us);
    uint64_t wanted = look.over ? 1 : look.remaining + 1;
    int64_t reset_us = look.reset_us;

    (void) random;
    if (verdict->over) {
        wanted = 1;
        reset_us = verdict->reset_us;
    } else if (hits > 0 && !look.over) {
        ASSERT_OF(counter, verdict->reset_us == reset_us);
    }
    if (wanted > most || (is_fixed && !verdict->over)) {
        ASSERT_OF(counter, is_fixed || reset_us == 0 || verdict->over);
        return;
    }
    ASSERT_OF(counter, !wr_counter_peek(counter, wanted, now_us + reset_us).over);
    if (wr_counter_peek(counter, wanted, now_us).over) {
        ASSERT_OF(counter, reset_us > 0);
        ASSERT_OF(counter, wr_counter_peek(counter, wanted, now_us + reset_us - 1).over);
    } else {
        ASSERT_OF(counter, is_fixed || reset_us == 1);
    }
}

Test(algorithm, a_wait_is_long_enough_and_a_microsecond_less_is_not)
{
    live(wait_is_exact);
}

Test(algorithm, a_wait_is_exact_after_changes_of_the_limit)
{
    live_changing(wait_is_exact, 3);
}

static void late_is_no_better(struct wr_counter *counter, const struct wr_verdict *verdict,
                              uint64_t hits, int64_t now_us, uint64_t *random)
{
    const int64_t late_us = (int64_t) draw(random, 1, 20);

    (void) verdict;
    for (uint64_t n = 0; n < 13; n++) {
        ASSERT_OF(counter, !wr_counter_peek(counter, n, now_us).over ||
                               wr_counter_peek(counter, n, now_us - late_us).over);
    }

    struct wr_counter late;

    wr_counter_init(&late, &counter->limit);
    wr_counter_copy(&late, counter);
    (void) wr_counter_take(&late, hits, now_us - late_us);
    ASSERT_OF(counter, wr_counter_peek(&late, 0, now_us).remaining <=
                           wr_counter_peek(counter, 0, now_us).remaining);
    wr_counter_fini(&late);
}

Test(algorithm, a_late_take_gains_nothing)
{
    live(late_is_no_better);
}

static void refund_is_bounded(struct wr_counter *counter, const struct wr_verdict *verdict,
                              uint64_t hits, int64_t now_us, uint64_t *random)
{
    struct wr_counter refunded;
    const uint64_t before = wr_counter_peek(counter, 0, now_us).remaining;
    const uint64_t given = draw(random, 0, 20);

    (void) verdict;
    (void) hits;
    wr_counter_init(&refunded, &counter->limit);
    wr_counter_copy(&refunded, counter);

    const uint64_t after = wr_counter_refund(&refunded, given, now_us).remaining;

    ASSERT_OF(counter,
              after >= before && after <= before + given && after <= most_of(&counter->limit));
    ASSERT_OF(counter, wr_counter_refund(&refunded, UINT64_MAX, now_us).remaining ==
                           most_of(&counter->limit));
    ASSERT_OF(counter, wr_counter_peek(&refunded, 0, now_us).reset_us == 0 ||
                           counter->limit.algorithm == WR_ALGORITHM_FIXED_WINDOW);
    wr_counter_fini(&refunded);
}

Test(algorithm, a_refund_gives_no_more_than_was_used)
{
    live(refund_is_bounded);
}

/* At the moment of the change, hits that were counted are as many as before. */
static void change_keeps_what_was_used(struct wr_counter *counter, const struct wr_verdict *verdict,
                                       uint64_t hits, int64_t now_us, uint64_t *random)
{
    const struct wr_limit limit = counter->limit;
    const struct wr_verdict before = wr_counter_peek(counter, 0, now_us);
    const bool is_bucket = limit.algorithm == WR_ALGORITHM_TOKEN_BUCKET;
    const uint64_t more = draw(random, 1, 20);

    (void) verdict;
    (void) hits;
    if (before.over) {
        return;
    }
    counter->limit.requests += more;
    counter->limit.burst += more;
    ASSERT_OF(counter, wr_counter_peek(counter, 0, now_us).remaining == before.remaining + more);
    counter->limit = limit;

    const uint64_t fewer = draw(random, 0, (is_bucket ? limit.burst : limit.requests) - 1);
    const uint64_t left = before.remaining > fewer ? before.remaining - fewer : 0;

    counter->limit.requests -= is_bucket ? 0 : fewer;
    counter->limit.burst -= is_bucket ? fewer : 0;

    const struct wr_verdict lowered = wr_counter_peek(counter, 0, now_us);

    ASSERT_OF(counter, lowered.remaining == left);
    ASSERT_OF(counter, lowered.over == (before.remaining < fewer));
    counter->limit = limit;
}

Test(algorithm, a_changed_limit_keeps_what_was_used)
{
    live(change_keeps_what_was_used);
}

/* Numbers from one end of what is allowed to the other; sanitizers watch. */

static uint64_t draw_large(uint64_t *random, uint64_t most)
{
    const uint64_t number = draw(random, 0, UINT32_MAX) << 32 | draw(random, 0, UINT32_MAX);

    return draw(random, 0, 3) == 0 ? most - number % 3 : number >> draw(random, 0, 63) & most;
}

static struct wr_limit large_limit(size_t i, uint64_t *random)
{
    struct wr_limit limit = {
        .requests = draw_large(random, UINT32_MAX),
        .length_us = (int64_t) draw_large(random, S(31536000) - 1000) % S(31536000) + 1000,
        .count = draw(random, 0, 1) == 0 ? WR_COUNT_ALL : WR_COUNT_ADMITTED,
        .algorithm = kinds[i].algorithm,
        .alignment = kinds[i].alignment,
        .n_buckets = (uint32_t) draw(random, 1, WR_BUCKETS_MAX),
        .burst = draw_large(random, UINT32_MAX - 1) % UINT32_MAX + 1,
    };

    if (draw(random, 0, 2) == 0) {
        limit.warm_up_us = (int64_t) draw_large(random, S(31536000));
        limit.warm_up_start = limit.requests / draw(random, 1, 9);
        limit.warm_up_start += limit.warm_up_start == 0 && limit.requests > 0;
    }
    return limit;
}

static void live_large(size_t i, uint64_t *random)
{
    const struct wr_limit limit = large_limit(i, random);
    struct wr_counter counter;
    int64_t now_us = (int64_t) draw_large(random, UINT64_C(1) << 51) & ((INT64_C(1) << 51) - 1);

    wr_counter_init(&counter, &limit);
    for (int step = 0; step < STEPS; step++) {
        const uint64_t hits = draw_large(random, UINT64_MAX);
        const struct wr_verdict verdict = draw(random, 0, 4) == 0
                                              ? wr_counter_refund(&counter, hits, now_us)
                                              : wr_counter_take(&counter, hits, now_us);

        ASSERT_OF(&counter, verdict.remaining <= most_of(&limit));
        ASSERT_OF(&counter, verdict.enforced <= limit.requests);
        ASSERT_OF(&counter, (uint64_t) wr_counter_expiry(&counter) <= WR_COUNT_MAX);
        now_us += (int64_t) draw_large(random, (uint64_t) limit.length_us);
    }
    wr_counter_fini(&counter);
}

Test(algorithm, the_largest_numbers_stay_below_what_a_script_holds)
{
    uint64_t random = 1;

    for (size_t i = 0; i < N_KINDS; i++) {
        for (int life = 0; life < LIVES; life++) {
            live_large(i, &random);
        }
    }
}
