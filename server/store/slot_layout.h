/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a table (store/slot_table.h) has its slots and tags in memory: tags first, if any, in whole
 * cache lines, and then the slots; and from where on a counter is looked for. For slot_table.c.
 *
 * Threads: the caller holds the lock that guards the table.
 */
#ifndef WR_STORE_SLOT_LAYOUT_H
#define WR_STORE_SLOT_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"
#include "store/slot_table.h"

#define WR_SLOT_HASH_WORDS (sizeof(struct wr_slot) / sizeof(uint64_t))

_Static_assert(sizeof(struct wr_slot) % sizeof(uint64_t) == 0, "slots are whole words");

/* Whole cache lines, so that the slots are, too. */
static inline size_t wr_slot_tag_bytes(const struct wr_slot_table *table)
{
    const size_t capacity = table->capacity;
    const size_t lines = (capacity + WR_CACHE_LINE_BYTES - 1) / WR_CACHE_LINE_BYTES;

    return table->has_tags ? lines * WR_CACHE_LINE_BYTES : 0;
}

static inline uint8_t *wr_slot_tag_at(const struct wr_slot_table *table, uint32_t i)
{
    return (uint8_t *) table->words + i;
}

/* Never that of a free slot, which is 0. */
static inline uint8_t wr_slot_tag_of(const struct wr_hash *hash)
{
    const uint8_t tag = (uint8_t) hash->low;

    return tag == 0 ? 1 : tag;
}

static inline uint64_t *wr_slot_first(const struct wr_slot_table *table)
{
    return table->words + wr_slot_tag_bytes(table) / sizeof(uint64_t);
}

static inline struct wr_slot *wr_slot_at(const struct wr_slot_table *table, uint32_t i)
{
    return (struct wr_slot *) (wr_slot_first(table) +
                               i * (WR_SLOT_HASH_WORDS + table->state_words));
}

static inline bool wr_slot_is_free(const struct wr_slot_table *table, uint32_t i)
{
    return table->has_tags ? *wr_slot_tag_at(table, i) == 0 : wr_slot_at(table, i)->state[0] == 0;
}

static inline void wr_slot_set_free(struct wr_slot_table *table, uint32_t i)
{
    if (table->has_tags) {
        *wr_slot_tag_at(table, i) = 0;
    } else {
        wr_slot_at(table, i)->state[0] = 0;
    }
}

static inline void wr_slot_fill(struct wr_slot_table *table, uint32_t i, const struct wr_hash *hash,
                                const uint64_t *state)
{
    struct wr_slot *const slot = wr_slot_at(table, i);

    if (table->has_tags) {
        *wr_slot_tag_at(table, i) = wr_slot_tag_of(hash);
    }
    slot->hash = *hash;
    for (uint32_t k = 0; k < table->state_words; k++) {
        slot->state[k] = state[k];
    }
}

/* Any capacity will do: the upper half of `low` is scaled to it (Lemire's multiply and shift). */
static inline uint32_t wr_slot_home_of(const struct wr_hash *hash, uint32_t capacity)
{
    return (uint32_t) (((hash->low >> 32) * capacity) >> 32);
}

static inline uint32_t wr_slot_next_of(uint32_t i, uint32_t capacity)
{
    return i + 1 == capacity ? 0 : i + 1;
}

#endif
