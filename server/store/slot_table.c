/* SPDX-License-Identifier: Apache-2.0 */
#include "store/slot_table.h"

#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(struct wr_slot) % sizeof(uint64_t) == 0, "slots are whole words");

#define MIN_CAPACITY 4

#define HASH_WORDS (sizeof(struct wr_slot) / sizeof(uint64_t))

void wr_slot_table_init(struct wr_slot_table *table, uint32_t state_words, bool has_blocks)
{
    *table = (struct wr_slot_table){
        .state_words = state_words & 31,
        .has_blocks = has_blocks,
        .earliest_us = INT64_MAX,
    };
}

static struct wr_slot *slot_at(const struct wr_slot_table *table, uint32_t i)
{
    return (struct wr_slot *) (table->words + i * (HASH_WORDS + table->state_words));
}

static bool is_free(const struct wr_slot *slot)
{
    return slot->state[0] == 0;
}

void wr_slot_table_fini(struct wr_slot_table *table)
{
    for (uint32_t i = 0; table->has_blocks && i < table->capacity; i++) {
        if (!is_free(slot_at(table, i))) {
            wr_block_destroy(wr_slot_block(slot_at(table, i)));
        }
    }
    free(table->words);
    wr_slot_table_init(table, table->state_words, table->has_blocks);
}

static void copy_state(const struct wr_slot_table *table, struct wr_slot *slot,
                       const uint64_t *state)
{
    for (uint32_t i = 0; i < table->state_words; i++) {
        slot->state[i] = state[i];
    }
}

/* Any capacity will do: the upper half of `low` is scaled to it (Lemire's multiply and shift). */
static uint32_t home_of(const struct wr_hash *hash, uint32_t capacity)
{
    return (uint32_t) (((hash->low >> 32) * capacity) >> 32);
}

static uint32_t next_of(uint32_t i, uint32_t capacity)
{
    return i + 1 == capacity ? 0 : i + 1;
}

static inline struct wr_slot *find(const struct wr_slot_table *table, const struct wr_hash *hash,
                                   size_t slot_words)
{
    const uint32_t capacity = table->capacity;

    for (uint32_t i = home_of(hash, capacity);; i = next_of(i, capacity)) {
        struct wr_slot *const slot = (struct wr_slot *) (table->words + i * slot_words);

        if (is_free(slot)) {
            return NULL;
        }
        if (wr_hash_equal(slot->hash, *hash)) {
            return slot;
        }
    }
}

/* Once more for the smallest states, which are the most frequent. */
struct wr_slot *wr_slot_table_find(const struct wr_slot_table *table, const struct wr_hash *hash)
{
    if (table->n_used == 0) {
        return NULL;
    }
    return table->state_words == 2 ? find(table, hash, HASH_WORDS + 2)
                                   : find(table, hash, HASH_WORDS + table->state_words);
}

static void place(struct wr_slot_table *table, const struct wr_hash *hash, const uint64_t *state)
{
    uint32_t i = home_of(hash, table->capacity);

    while (!is_free(slot_at(table, i))) {
        i = next_of(i, table->capacity);
    }

    struct wr_slot *const slot = slot_at(table, i);

    slot->hash = *hash;
    copy_state(table, slot, state);
}

/* Two thirds of it are used by `n` counters. */
static uint32_t capacity_for(uint32_t n)
{
    const uint32_t capacity = n + n / 2 + 1;

    return capacity < MIN_CAPACITY ? MIN_CAPACITY : capacity;
}

static bool rebuild(struct wr_slot_table *table, uint32_t capacity)
{
    if (capacity > WR_SLOT_TABLE_MAX) {
        return false;
    }

    const struct wr_slot_table before = *table;
    uint64_t *const words = calloc(capacity, wr_slot_bytes(table->state_words));

    if (words == NULL) {
        return false;
    }
    table->words = words;
    table->capacity = capacity & WR_SLOT_TABLE_MAX;
    for (uint32_t i = 0; i < before.capacity; i++) {
        const struct wr_slot *const slot = slot_at(&before, i);

        if (!is_free(slot)) {
            place(table, &slot->hash, slot->state);
        }
    }
    free(before.words);
    return true;
}

bool wr_slot_table_add(struct wr_slot_table *table, const struct wr_hash *hash,
                       const uint64_t *state)
{
    const uint32_t n = table->n_used + 1;

    /* Without memory to grow it goes on, slower, while one slot stays free to end a search. */
    if (n * 5 > table->capacity * 4 && !rebuild(table, capacity_for(n)) && n >= table->capacity) {
        return false;
    }
    place(table, hash, state);
    table->n_used = n;
    wr_slot_table_note_expiry(table, (int64_t) state[0]);
    return true;
}

static bool is_expired(const struct wr_slot *slot, int64_t now_us)
{
    return wr_slot_expiry(slot) <= now_us;
}

static struct wr_slot_sweep count_expired(struct wr_slot_table *table, int64_t now_us)
{
    struct wr_slot_sweep n = {0};

    table->earliest_us = INT64_MAX;
    for (uint32_t i = 0; i < table->capacity; i++) {
        const struct wr_slot *const slot = slot_at(table, i);

        if (is_free(slot)) {
            continue;
        }
        if (!is_expired(slot, now_us)) {
            wr_slot_table_note_expiry(table, wr_slot_expiry(slot));
            continue;
        }
        n.n_counters++;
        n.n_places += table->has_blocks ? wr_slot_block(slot)->n_places : 0;
    }
    return n;
}

/* True when a search that begins at `home` passes `hole` before it comes to `i`. */
static bool is_between(uint32_t home, uint32_t hole, uint32_t i)
{
    return hole <= i ? home <= hole || home > i : home <= hole && home > i;
}

/* Closes the gap: a later counter whose search would end at the hole moves into it (Knuth, TAOCP
 * vol. 3, algorithm 6.4R). */
static void erase(struct wr_slot_table *table, uint32_t hole)
{
    if (table->has_blocks) {
        wr_block_destroy(wr_slot_block(slot_at(table, hole)));
    }
    for (uint32_t i = next_of(hole, table->capacity); !is_free(slot_at(table, i));
         i = next_of(i, table->capacity)) {
        const struct wr_slot *const slot = slot_at(table, i);

        if (is_between(home_of(&slot->hash, table->capacity), hole, i)) {
            slot_at(table, hole)->hash = slot->hash;
            copy_state(table, slot_at(table, hole), slot->state);
            hole = i;
        }
    }
    memset(slot_at(table, hole), 0, wr_slot_bytes(table->state_words));
}

void wr_slot_table_remove(struct wr_slot_table *table, struct wr_slot *slot)
{
    const size_t words = (size_t) ((uint64_t *) slot - table->words);

    erase(table, (uint32_t) (words / (HASH_WORDS + table->state_words)));
    table->n_used--;
}

/* What moves into a hole is looked at next; what wraps around from the front was seen before. */
static void erase_expired(struct wr_slot_table *table, int64_t now_us)
{
    for (uint32_t i = 0; i < table->capacity;) {
        if (!is_free(slot_at(table, i)) && is_expired(slot_at(table, i), now_us)) {
            erase(table, i);
        } else {
            i++;
        }
    }
}

struct wr_slot_sweep wr_slot_table_sweep(struct wr_slot_table *table, int64_t now_us)
{
    const struct wr_slot_sweep expired = count_expired(table, now_us);
    const uint32_t n_live = table->n_used - expired.n_counters;

    if (n_live == 0) {
        wr_slot_table_fini(table);
        return expired;
    }
    if (expired.n_counters > 0) {
        erase_expired(table, now_us);
        table->n_used = n_live;
    }
    if (n_live * 5 < table->capacity * 2 && table->capacity > MIN_CAPACITY) {
        (void) rebuild(table, capacity_for(n_live)); /* without memory it stays large */
    }
    return expired;
}
