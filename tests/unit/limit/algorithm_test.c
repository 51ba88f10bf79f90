/* SPDX-License-Identifier: Apache-2.0 */
/* What a store relies on, of every algorithm. */
#include "limit/algorithm.h"

#include <criterion/criterion.h>
#include <string.h>

#include "limit/fixed_window.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

enum {
    BEGIN_S = 600,
    WORDS = 64, /* enough for all limits here */
};

static const enum wr_algorithm algorithms[] = {
    WR_ALGORITHM_FIXED_WINDOW, WR_ALGORITHM_SLIDING_WINDOW, WR_ALGORITHM_SLIDING_BUCKETS,
    WR_ALGORITHM_SLIDING_LOG,  WR_ALGORITHM_TOKEN_BUCKET,
};

#define N_ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

static struct wr_limit limit_of(size_t i, enum wr_count count)
{
    return (struct wr_limit){
        .requests = 5,
        .length_us = S(60),
        .count = count,
        .algorithm = algorithms[i],
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
    for (size_t i = 0; i < N_ALGORITHMS; i++) {
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
    for (size_t i = 0; i < N_ALGORITHMS; i++) {
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
    for (size_t i = 0; i < N_ALGORITHMS; i++) {
        const struct wr_limit limit = limit_of(i, WR_COUNT_ALL);
        const struct wr_counter_kind *const kind = wr_counter_kind_of(&limit);
        const uint64_t never_hit[WORDS] = {0};
        uint64_t state[WORDS] = {0};

        const uint32_t n_words = kind->state_words(state, &limit);

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

Test(algorithm, a_kind_goes_by_one_clock)
{
    const struct wr_now now = {.wall_us = 1, .mono_us = 2};
    struct wr_counter_kind kind = wr_fixed_window_kind;

    kind.clock = WR_COUNTER_WALL;
    cr_assert_eq(wr_counter_time(&kind, &now), 1);
    kind.clock = WR_COUNTER_MONO;
    cr_assert_eq(wr_counter_time(&kind, &now), 2);
}
