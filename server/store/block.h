/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory of one counter whose state has no fixed size. It grows when the state must, and goes with
 * the counter. It is measured in places, so that a bound on counters bounds memory, too: a place is
 * as much as the slot of a plain fixed window.
 *
 * Threads: the caller holds the lock that guards the counter.
 */
#ifndef WR_STORE_BLOCK_H
#define WR_STORE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WR_BLOCK_PLACE_BYTES 32

struct wr_block {
    uint64_t n_places;
    uint64_t state[];
};

/* Places that a block for a state of `n_words` takes. */
static inline uint64_t wr_block_places(uint32_t n_words)
{
    const size_t bytes = sizeof(struct wr_block) + n_words * sizeof(uint64_t);

    return (bytes + WR_BLOCK_PLACE_BYTES - 1) / WR_BLOCK_PLACE_BYTES;
}

/* Words of the state that it has room for. */
static inline uint64_t wr_block_words(const struct wr_block *block)
{
    return (block->n_places * WR_BLOCK_PLACE_BYTES - sizeof *block) / sizeof(uint64_t);
}

/* A block of `n_places` > 0, all zero, that begins with what `before` has. Frees `before`, which
 * may be NULL. NULL when memory is out; then `before` is as it was. */
struct wr_block *wr_block_grow(struct wr_block *before, uint64_t n_places);

/* NULL is fine. */
void wr_block_destroy(struct wr_block *block);

#endif
