/* SPDX-License-Identifier: Apache-2.0 */
#include "store/state_class.h"

#include <criterion/criterion.h>

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
