/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small open-addressing table of counters whose states have one size: linear probing, no
 * tombstones. A stripe has many of them, none much larger than WR_SLOT_TABLE_TARGET, so that
 * growing, shrinking or sweeping one is a small step: it grows by a fifth when four fifths are used
 * and shrinks when three fifths are free. Of a state it knows the size and that the first word is
 * the expiry (limit/algorithm.h), by one clock for all counters of a table. A table of blocks has
 * the expiry in its slots, and owns the blocks.
 *
 * A table of large states has tags: a byte a slot, made of the hash, which lie together, so that a
 * search reads hardly any slot but the one it is for. So the table can be fuller, and grows when
 * nine tenths are used. Its slots begin with a cache line.
 *
 * Invariant: every counter is reached from its home slot without crossing a free one, and no
 * counter expires before `earliest_us`.
 * Threads: the caller holds the lock that guards the table.
 */
#ifndef WR_STORE_SLOT_TABLE_H
#define WR_STORE_SLOT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "store/block.h"

/* Counters in a table that are aimed at when a stripe is as full as it may be. */
#define WR_SLOT_TABLE_TARGET 256

/* One counter; that of a fixed window is half a cache line. */
struct wr_slot {
    struct wr_hash hash;
    uint64_t state[]; /* as many words as the table says; the first is not 0, but in a slot that is
                         free and has no tag to tell so */
};

#define WR_SLOT_TABLE_MAX ((UINT32_C(1) << 25) - 1)

#define WR_CACHE_LINE_BYTES 64

/* In a table of blocks a slot's words are the expiry, and the block's address. */
#define WR_SLOT_BLOCK_WORDS 2

/* As small as can be, since a stripe has many and every take looks at one more. */
struct wr_slot_table {
    uint64_t *words;          /* owned; tags, if any, and slots; NULL while there is no counter */
    uint32_t n_used;          /* live, expired and not yet swept, or kept */
    uint32_t capacity : 25;   /* in slots, at most WR_SLOT_TABLE_MAX */
    uint32_t state_words : 5; /* immutable, as all below */
    uint32_t has_tags : 1;
    uint32_t has_blocks : 1;
    int64_t earliest_us; /* no counter expires earlier; INT64_MAX when there is none */
};

static inline int64_t wr_slot_expiry(const struct wr_slot *slot)
{
    return (int64_t) slot->state[0];
}

static inline size_t wr_slot_bytes(uint32_t state_words)
{
    return sizeof(struct wr_slot) + state_words * sizeof(uint64_t);
}

static inline struct wr_block *wr_slot_block(const struct wr_slot *slot)
{
    return (struct wr_block *) (uintptr_t) slot->state[1];
}

static inline void wr_slot_set_block(struct wr_slot *slot, struct wr_block *block)
{
    slot->state[1] = (uint64_t) (uintptr_t) block;
}

/* With tags when a slot for so many words is two cache lines, three, and so on. */
void wr_slot_table_init(struct wr_slot_table *table, uint32_t state_words, bool has_blocks);

void wr_slot_table_fini(struct wr_slot_table *table);

/* Of its tags and slots. */
size_t wr_slot_table_bytes(const struct wr_slot_table *table);

/* The counter of `hash`, expired or not; NULL when there is none. Holds until the next change. */
struct wr_slot *wr_slot_table_find(const struct wr_slot_table *table, const struct wr_hash *hash);

/* Of a table with tags: has the processor fetch what a search for `hash` is likely to read. */
void wr_slot_table_fetch(const struct wr_slot_table *table, const struct wr_hash *hash);

/* Adds a counter that is not there yet, with a copy of `state`. False when memory is out; then
 * nothing changed. */
WR_MUST_USE bool wr_slot_table_add(struct wr_slot_table *table, const struct wr_hash *hash,
                                   const uint64_t *state);

/* Removes the counter in `slot`. Its memory stays, so that one more can be added for certain. */
void wr_slot_table_remove(struct wr_slot_table *table, struct wr_slot *slot);

/* Says that a counter of the table now expires at `expiry_us`. */
static inline void wr_slot_table_note_expiry(struct wr_slot_table *table, int64_t expiry_us)
{
    if (expiry_us < table->earliest_us) {
        table->earliest_us = expiry_us;
    }
}

struct wr_slot_sweep {
    uint32_t n_counters; /* that were removed */
    uint64_t n_places;   /* of their blocks */
};

/* Removes every counter that has expired by `now_us`, and gives memory back. */
struct wr_slot_sweep wr_slot_table_sweep(struct wr_slot_table *table, int64_t now_us);

#endif
