/* SPDX-License-Identifier: Apache-2.0 */
#include "store/slot_table.h"

#include <stdlib.h>

_Static_assert(sizeof(struct wr_slot) == 32, "two slots a cache line");

#define MIN_CAPACITY 4

void wr_slot_table_init(struct wr_slot_table *table)
{
    *table = (struct wr_slot_table){.earliest_us = INT64_MAX};
}

void wr_slot_table_fini(struct wr_slot_table *table)
{
    free(table->slots);
    wr_slot_table_init(table);
}

static bool is_free(const struct wr_slot *slot)
{
    return slot->expiry_us == 0;
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

struct wr_slot *wr_slot_table_find(const struct wr_slot_table *table, const struct wr_hash *hash)
{
    if (table->n_used == 0) {
        return NULL;
    }
    for (uint32_t i = home_of(hash, table->capacity);; i = next_of(i, table->capacity)) {
        struct wr_slot *const slot = &table->slots[i];

        if (is_free(slot)) {
            return NULL;
        }
        if (wr_hash_equal(slot->hash, *hash)) {
            return slot;
        }
    }
}

static void place(struct wr_slot *slots, uint32_t capacity, const struct wr_slot *slot)
{
    uint32_t i = home_of(&slot->hash, capacity);

    while (!is_free(&slots[i])) {
        i = next_of(i, capacity);
    }
    slots[i] = *slot;
}

/* Two thirds of it are used by `n` counters. */
static uint32_t capacity_for(uint32_t n)
{
    const uint32_t capacity = n + n / 2 + 1;

    return capacity < MIN_CAPACITY ? MIN_CAPACITY : capacity;
}

static bool rebuild(struct wr_slot_table *table, uint32_t capacity)
{
    struct wr_slot *const slots = calloc(capacity, sizeof *slots);

    if (slots == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < table->capacity; i++) {
        if (!is_free(&table->slots[i])) {
            place(slots, capacity, &table->slots[i]);
        }
    }
    free(table->slots);
    table->slots = slots;
    table->capacity = capacity;
    return true;
}

void wr_slot_table_note_expiry(struct wr_slot_table *table, int64_t expiry_us)
{
    if (expiry_us < table->earliest_us) {
        table->earliest_us = expiry_us;
    }
}

bool wr_slot_table_add(struct wr_slot_table *table, const struct wr_slot *slot)
{
    const uint32_t n = table->n_used + 1;

    /* Without memory to grow it goes on, slower, while one slot stays free to end a search. */
    if (n * 5 > table->capacity * 4 && !rebuild(table, capacity_for(n)) && n >= table->capacity) {
        return false;
    }
    place(table->slots, table->capacity, slot);
    table->n_used = n;
    wr_slot_table_note_expiry(table, slot->expiry_us);
    return true;
}

static bool is_expired(const struct wr_slot *slot, int64_t now_us)
{
    return slot->expiry_us <= now_us;
}

static uint32_t count_live(struct wr_slot_table *table, int64_t now_us)
{
    uint32_t n = 0;

    table->earliest_us = INT64_MAX;
    for (uint32_t i = 0; i < table->capacity; i++) {
        const struct wr_slot *const slot = &table->slots[i];

        if (!is_free(slot) && !is_expired(slot, now_us)) {
            wr_slot_table_note_expiry(table, slot->expiry_us);
            n++;
        }
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
    for (uint32_t i = next_of(hole, table->capacity); !is_free(&table->slots[i]);
         i = next_of(i, table->capacity)) {
        if (is_between(home_of(&table->slots[i].hash, table->capacity), hole, i)) {
            table->slots[hole] = table->slots[i];
            hole = i;
        }
    }
    table->slots[hole] = (struct wr_slot){0};
}

/* What moves into a hole is looked at next; what wraps around from the front was seen before. */
static void erase_expired(struct wr_slot_table *table, int64_t now_us)
{
    for (uint32_t i = 0; i < table->capacity;) {
        if (!is_free(&table->slots[i]) && is_expired(&table->slots[i], now_us)) {
            erase(table, i);
        } else {
            i++;
        }
    }
}

uint32_t wr_slot_table_sweep(struct wr_slot_table *table, int64_t now_us)
{
    const uint32_t n_live = count_live(table, now_us);
    const uint32_t n_expired = table->n_used - n_live;

    if (n_live == 0) {
        wr_slot_table_fini(table);
        return n_expired;
    }
    if (n_expired > 0) {
        erase_expired(table, now_us);
        table->n_used = n_live;
    }
    if (n_live * 5 < table->capacity * 2 && table->capacity > MIN_CAPACITY) {
        (void) rebuild(table, capacity_for(n_live)); /* without memory it stays large */
    }
    return n_expired;
}
