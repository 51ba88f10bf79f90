/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_class.h"

#include <criterion/criterion.h>

#include "limit/algorithm.h"
#include "store/block.h"

static const uint64_t never_hit[WR_STATE_WORDS_MAX];

/* All that tell the class of a counter, with numbers that need the most memory. */
static struct wr_limit limit_of(unsigned algorithm, unsigned alignment, bool has_warm_up)
{
    return (struct wr_limit){
        .requests = UINT32_MAX,
        .length_us = 1000000,
        .count = WR_COUNT_ALL,
        .algorithm = (enum wr_algorithm) algorithm,
        .alignment = (enum wr_alignment) alignment,
        .n_buckets = 60,
        .burst = 10,
        .warm_up_us = has_warm_up ? 1000000 : 0,
        .warm_up_start = 1,
    };
}

Test(state_class, every_state_fits_its_class_and_goes_by_its_clock)
{
    for (unsigned i = 0; i < 5 * 3 * 2; i++) {
        const struct wr_limit limit = limit_of(i / 6, i / 2 % 3, i % 2 == 1);
        const struct wr_counter_kind *const kind = wr_counter_kind_of(&limit);
        const enum wr_state_class class = wr_state_class_of(&limit);

        cr_assert_eq(wr_state_class_is_wall(class), kind->clock == WR_COUNTER_WALL,
                     "algorithm %u, alignment %u, warm-up %u", i / 6, i / 2 % 3, i % 2);
        if (!wr_state_class_grows(class)) {
            cr_assert_leq(kind->state_words(never_hit, &limit, 1), wr_state_class_words[class],
                          "algorithm %u, alignment %u, warm-up %u", i / 6, i / 2 % 3, i % 2);
        }
    }
}

Test(state_class, only_buckets_and_logs_grow)
{
    for (unsigned i = 0; i < 5 * 3 * 2; i++) {
        const struct wr_limit limit = limit_of(i / 6, i / 2 % 3, i % 2 == 1);

        cr_assert_eq(wr_state_class_grows(wr_state_class_of(&limit)),
                     limit.algorithm == WR_ALGORITHM_SLIDING_BUCKETS ||
                         limit.algorithm == WR_ALGORITHM_SLIDING_LOG);
    }
}

static uint64_t places_for(uint32_t n_words)
{
    const enum wr_state_class class = wr_state_class_for(n_words);
    const uint64_t of_block = class == WR_STATE_MONO_BLOCK ? wr_block_places(n_words) : 0;

    return wr_state_class_places[class] + of_block;
}

/* docs/operations.md has this as a table. */
Test(state_class, buckets_take_places_by_the_hits_in_them)
{
    static const struct {
        uint64_t hits, n_places, n_warm_places;
    } rows[] = {
        {1, 4, 6},
        {255, 4, 6},
        {256, 6, 7},
        {65535, 6, 7},
        {65536, 10, 11},
        {UINT32_MAX, 10, 11},
        {UINT32_MAX + UINT64_C(1), 18, 19},
        {WR_COUNT_MAX, 18, 19},
    };

    for (size_t i = 0; i < 2 * sizeof rows / sizeof rows[0]; i++) {
        const struct wr_limit limit = limit_of(WR_ALGORITHM_SLIDING_BUCKETS, 0, i % 2 == 1);
        const uint32_t n_words =
            wr_counter_kind_of(&limit)->state_words(never_hit, &limit, rows[i / 2].hits);

        cr_assert_eq(places_for(n_words),
                     i % 2 == 1 ? rows[i / 2].n_warm_places : rows[i / 2].n_places, "row %zu, %zu",
                     i / 2, i % 2);
    }
}

Test(state_class, logs_take_places_by_their_entries)
{
    static const uint64_t n_places[2][4] = {{4, 6, 10, 14}, {4, 6, 11, 15}};
    static const size_t n_entries[] = {4, 8, 16, 24};

    for (unsigned warm = 0; warm < 2; warm++) {
        struct wr_limit limit = limit_of(WR_ALGORITHM_SLIDING_LOG, 0, warm == 1);
        uint64_t state[128] = {0};
        size_t step = 0;

        limit.requests = limit.warm_up_start = 100;
        for (size_t n = 1; n <= 24; n++) {
            const struct wr_counter_kind *const kind = wr_counter_kind_of(&limit);

            step += n > n_entries[step];
            cr_assert_eq(places_for(kind->state_words(state, &limit, 1)), n_places[warm][step],
                         "warm-up %u, entry %zu", warm, n);
            (void) kind->take(state, &limit, 1, 1000000 + (int64_t) n);
        }
    }
}
