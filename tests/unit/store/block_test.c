/* SPDX-License-Identifier: Apache-2.0 */
#include "store/block.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"

Test(block, places_hold_the_state_and_little_more)
{
    for (uint32_t n_words = 1; n_words < 2000; n_words++) {
        const uint64_t bytes = wr_block_places(n_words) * WR_BLOCK_PLACE_BYTES;
        const uint64_t needed = sizeof(struct wr_block) + n_words * sizeof(uint64_t);

        cr_assert(bytes >= needed && bytes < needed + WR_BLOCK_PLACE_BYTES, "%u words", n_words);
    }
}

static size_t words_of(const struct wr_block *block)
{
    return (block->n_places * WR_BLOCK_PLACE_BYTES - sizeof *block) / sizeof(uint64_t);
}

Test(block, grows_by_zeros_and_keeps_what_it_has)
{
    struct wr_block *block = NULL;
    size_t n_words = 0;

    for (uint64_t n_places = 1; n_places < 100; n_places += n_places) {
        block = wr_block_grow(block, n_places);
        cr_assert_not_null(block);
        cr_assert_eq(block->n_places, n_places);
        for (size_t i = 0; i < words_of(block); i++) {
            cr_assert_eq(block->state[i], i < n_words ? i + 1 : 0);
            block->state[i] = i + 1;
        }
        n_words = words_of(block);
    }
    wr_block_destroy(block);
}

Test(block, without_memory_it_stays_as_it_was)
{
    struct wr_block *const block = wr_block_grow(NULL, 1);

    cr_assert_not_null(block);
    block->state[0] = 7;
    failing_malloc_start(0);
    cr_assert_null(wr_block_grow(block, 2));
    cr_assert_null(wr_block_grow(NULL, 1));
    failing_malloc_stop();
    cr_assert_eq(block->n_places, 1u);
    cr_assert_eq(block->state[0], 7u);
    wr_block_destroy(block);
}
