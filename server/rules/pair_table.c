/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/pair_table.h"

bool wr_pair_table_init(struct wr_pair_table *table, struct wr_arena *arena, size_t n)
{
    *table = (struct wr_pair_table){0};
    if (n == 0) {
        return true;
    }
    if (n > SIZE_MAX / 4) {
        return false;
    }

    size_t n_slots = 2;

    while (n_slots < 2 * n) {
        n_slots *= 2;
    }
    table->slots = wr_arena_calloc(arena, n_slots, sizeof *table->slots);
    table->mask = n_slots - 1;
    return table->slots != NULL;
}

uint64_t wr_pair_hash_first(const struct wr_hash_key *key, struct wr_str first)
{
    return wr_hash_of(key, first).low;
}

/* Another half of the hash than for `first`, so that equal texts do not cancel out. */
uint64_t wr_pair_hash(const struct wr_hash_key *key, uint64_t first_hash, struct wr_str second)
{
    return second.len == 0 ? first_hash : first_hash ^ wr_hash_of(key, second).high;
}

void wr_pair_table_add(struct wr_pair_table *table, uint64_t hash, struct wr_str first,
                       struct wr_str second, const void *value)
{
    size_t i = hash & table->mask;

    while (table->slots[i].value != NULL) {
        i = (i + 1) & table->mask;
    }
    table->slots[i] =
        (struct wr_pair_slot){.hash = hash, .first = first, .second = second, .value = value};
}

const void *wr_pair_table_find(const struct wr_pair_table *table, uint64_t hash,
                               struct wr_str first, struct wr_str second)
{
    if (table->slots == NULL) {
        return NULL;
    }
    for (size_t i = hash & table->mask; table->slots[i].value != NULL; i = (i + 1) & table->mask) {
        const struct wr_pair_slot *const slot = &table->slots[i];

        if (slot->hash == hash && wr_str_equal(slot->first, first) &&
            wr_str_equal(slot->second, second)) {
            return slot->value;
        }
    }
    return NULL;
}
