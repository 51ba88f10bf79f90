/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table from pairs of texts to pointers, filled once, then only looked up in. Its hash is keyed,
 * so that who chooses the texts that are looked up cannot choose how long it takes.
 *
 * Invariant: at most half of the slots are taken, so that a search ends.
 * Threads: immutable once filled.
 */
#ifndef WR_RULES_PAIR_TABLE_H
#define WR_RULES_PAIR_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/str.h"

struct wr_pair_slot {
    uint64_t hash;
    struct wr_str first, second; /* borrowed */
    const void *value;           /* borrowed; NULL: the slot is free */
};

struct wr_pair_table {
    struct wr_pair_slot *slots; /* borrowed from the arena; NULL: nothing can be in it */
    size_t mask;                /* number of slots - 1, a power of two - 1 */
};

/* An empty table with room for `n` pairs; false when memory is out. */
bool wr_pair_table_init(struct wr_pair_table *table, struct wr_arena *arena, size_t n);

/* The hash of pair (first, "") is that of `first` alone; from it that of (first, second) is made.
 * So who looks for both hashes `first` once. */
uint64_t wr_pair_hash_first(const struct wr_hash_key *key, struct wr_str first);
uint64_t wr_pair_hash(const struct wr_hash_key *key, uint64_t first_hash, struct wr_str second);

/* Adds a pair that is not in it yet, borrowing the texts. No more than `n` of init. */
void wr_pair_table_add(struct wr_pair_table *table, uint64_t hash, struct wr_str first,
                       struct wr_str second, const void *value);

/* The pointer of that pair; NULL when it is not there. */
const void *wr_pair_table_find(const struct wr_pair_table *table, uint64_t hash,
                               struct wr_str first, struct wr_str second);

#endif
