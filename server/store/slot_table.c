/* SPDX-License-Identifier: Apache-2.0 */
#include "store/slot_table.h"

#include <stdlib.h>
#include <string.h>

#include "store/slot_layout.h"

#define MIN_CAPACITY 4

void wr_slot_table_init(struct wr_slot_table *table, uint32_t state_words, bool has_blocks)
{
    const size_t bytes = wr_slot_bytes(state_words);

    *table = (struct wr_slot_table){
        .state_words = state_words & 31,
        .has_tags = bytes % WR_CACHE_LINE_BYTES == 0 && bytes > WR_CACHE_LINE_BYTES,
        .has_blocks = has_blocks,
        .earliest_us = INT64_MAX,
    };
}

size_t wr_slot_table_bytes(const struct wr_slot_table *table)
{
    return wr_slot_tag_bytes(table) + table->capacity * wr_slot_bytes(table->state_words);
}

void wr_slot_table_fini(struct wr_slot_table *table)
{
    for (uint32_t i = 0; table->has_blocks && i < table->capacity; i++) {
        if (!wr_slot_is_free(table, i)) {
            wr_block_destroy(wr_slot_block(wr_slot_at(table, i)));
        }
    }
    free(table->words);
    wr_slot_table_init(table, table->state_words, table->has_blocks);
}

static inline struct wr_slot *find(const struct wr_slot_table *table, const struct wr_hash *hash,
                                   size_t slot_words)
{
    const uint32_t capacity = table->capacity;

    for (uint32_t i = wr_slot_home_of(hash, capacity);; i = wr_slot_next_of(i, capacity)) {
        struct wr_slot *const slot = (struct wr_slot *) (table->words + i * slot_words);

        if (slot->state[0] == 0) {
            return NULL;
        }
        if (wr_hash_equal(slot->hash, *hash)) {
            return slot;
        }
    }
}

/* The home slot and the next, one of which is the right one most of the time, along with the tags.
 * Their first lines only: to fetch more was not seen to be cheaper. */
static inline void fetch(const struct wr_slot_table *table, uint32_t home)
{
    __builtin_prefetch(wr_slot_tag_at(table, home));
    __builtin_prefetch(wr_slot_at(table, home), 1);
    __builtin_prefetch(wr_slot_at(table, wr_slot_next_of(home, table->capacity)), 1);
}

void wr_slot_table_fetch(const struct wr_slot_table *table, const struct wr_hash *hash)
{
    if (table->n_used > 0 && table->has_tags) {
        fetch(table, wr_slot_home_of(hash, table->capacity));
    }
}

static struct wr_slot *find_by_tag(const struct wr_slot_table *table, const struct wr_hash *hash)
{
    const uint32_t capacity = table->capacity, home = wr_slot_home_of(hash, capacity);
    const uint8_t tag = wr_slot_tag_of(hash);

    fetch(table, home);
    for (uint32_t i = home; *wr_slot_tag_at(table, i) != 0; i = wr_slot_next_of(i, capacity)) {
        struct wr_slot *const slot = wr_slot_at(table, i);

        if (*wr_slot_tag_at(table, i) == tag && wr_hash_equal(slot->hash, *hash)) {
            return slot;
        }
    }
    return NULL;
}

/* Once more for the smallest states, which are the most frequent. */
struct wr_slot *wr_slot_table_find(const struct wr_slot_table *table, const struct wr_hash *hash)
{
    if (table->n_used == 0) {
        return NULL;
    }
    if (table->state_words == 2) {
        return find(table, hash, WR_SLOT_HASH_WORDS + 2);
    }
    return table->has_tags ? find_by_tag(table, hash)
                           : find(table, hash, WR_SLOT_HASH_WORDS + table->state_words);
}

static void place(struct wr_slot_table *table, const struct wr_hash *hash, const uint64_t *state)
{
    uint32_t i = wr_slot_home_of(hash, table->capacity);

    while (!wr_slot_is_free(table, i)) {
        i = wr_slot_next_of(i, table->capacity);
    }
    wr_slot_fill(table, i, hash, state);
}

/* Two thirds of it are used by `n` counters; with tags three quarters. */
static uint32_t capacity_for(const struct wr_slot_table *table, uint32_t n)
{
    const uint32_t capacity = n + n / (table->has_tags ? 3 : 2) + 1;

    return capacity < MIN_CAPACITY ? MIN_CAPACITY : capacity;
}

/* What is needed of it to be empty is zero: tags, or slots. */
static uint64_t *new_words(const struct wr_slot_table *table)
{
    if (!table->has_tags) {
        return calloc(table->capacity, wr_slot_bytes(table->state_words));
    }

    uint64_t *const words = aligned_alloc(WR_CACHE_LINE_BYTES, wr_slot_table_bytes(table));

    if (words != NULL) {
        memset(words, 0, wr_slot_tag_bytes(table));
    }
    return words;
}

static bool rebuild(struct wr_slot_table *table, uint32_t capacity)
{
    struct wr_slot_table after = *table;

    if (capacity > WR_SLOT_TABLE_MAX) {
        return false;
    }
    after.capacity = capacity & WR_SLOT_TABLE_MAX;
    after.words = new_words(&after);
    if (after.words == NULL) {
        return false;
    }

    const struct wr_slot_table before = *table;

    *table = after;
    for (uint32_t i = 0; i < before.capacity; i++) {
        if (!wr_slot_is_free(&before, i)) {
            place(table, &wr_slot_at(&before, i)->hash, wr_slot_at(&before, i)->state);
        }
    }
    free(before.words);
    return true;
}

/* More than four fifths of it are used by `n` counters; with tags nine tenths. */
static bool is_filled(const struct wr_slot_table *table, uint32_t n)
{
    return table->has_tags ? n * 10 > table->capacity * 9 : n * 5 > table->capacity * 4;
}

bool wr_slot_table_add(struct wr_slot_table *table, const struct wr_hash *hash,
                       const uint64_t *state)
{
    const uint32_t n = table->n_used + 1;

    /* Without memory to grow it goes on, slower, while one slot stays free to end a search. */
    if (is_filled(table, n) && !rebuild(table, capacity_for(table, n)) && n >= table->capacity) {
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
        const struct wr_slot *const slot = wr_slot_at(table, i);

        if (wr_slot_is_free(table, i)) {
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
        wr_block_destroy(wr_slot_block(wr_slot_at(table, hole)));
    }
    for (uint32_t i = wr_slot_next_of(hole, table->capacity); !wr_slot_is_free(table, i);
         i = wr_slot_next_of(i, table->capacity)) {
        const struct wr_slot *const slot = wr_slot_at(table, i);

        if (is_between(wr_slot_home_of(&slot->hash, table->capacity), hole, i)) {
            wr_slot_fill(table, hole, &slot->hash, slot->state);
            hole = i;
        }
    }
    wr_slot_set_free(table, hole);
}

void wr_slot_table_remove(struct wr_slot_table *table, struct wr_slot *slot)
{
    const size_t words = (size_t) ((uint64_t *) slot - wr_slot_first(table));

    erase(table, (uint32_t) (words / (WR_SLOT_HASH_WORDS + table->state_words)));
    table->n_used--;
}

/* What moves into a hole is looked at next; what wraps around from the front was seen before. */
static void erase_expired(struct wr_slot_table *table, int64_t now_us)
{
    for (uint32_t i = 0; i < table->capacity;) {
        if (!wr_slot_is_free(table, i) && is_expired(wr_slot_at(table, i), now_us)) {
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
        (void) rebuild(table, capacity_for(table, n_live)); /* without memory it stays large */
    }
    return expired;
}
