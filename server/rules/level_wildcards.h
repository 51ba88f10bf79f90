/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of one level that have a '*': those with a key spelt out are found by it, and then by
 * what their value begins and ends with; those with a '*' in the key by that of the key.
 *
 * Threads: immutable once built.
 */
#ifndef WR_RULES_LEVEL_WILDCARDS_H
#define WR_RULES_LEVEL_WILDCARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "rules/entry.h"
#include "rules/rules.h"

struct wr_level_wildcards;

/* Builds it in `arena` from `n` nodes in order of declaration, which are borrowed; NULL in
 * `*out_wildcards` when none is given. False when memory is out. */
bool wr_level_wildcards_build(struct wr_arena *arena, const struct wr_hash_key *hash_key,
                              const struct wr_node *const *nodes, size_t n,
                              const struct wr_level_wildcards **out_wildcards);

/* The first node in order of declaration that fits; NULL when none does. `key_hash` is the entry's
 * key by wr_pair_hash_first. */
const struct wr_node *wr_level_wildcards_find(const struct wr_level_wildcards *wildcards,
                                              uint64_t key_hash, const struct wr_entry *entry);

#endif
