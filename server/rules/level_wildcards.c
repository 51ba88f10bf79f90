/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/level_wildcards.h"

#include <stdlib.h>

#include "rules/pair_table.h"
#include "rules/wildcard.h"
#include "rules/wildcard_index.h"

struct wr_level_wildcards {
    struct wr_pair_table by_key;   /* (key, "") → the index of its patterns for the value */
    struct wr_wildcard_index keys; /* patterns for the key */
};

static struct wr_str key_of(const struct wr_wildcard *wildcard)
{
    return ((const struct wr_node *) wildcard->value)->key;
}

/* Keys that are patterns first, then the others, equal ones side by side. */
static int compare_keys(const void *a, const void *b)
{
    const struct wr_str x = key_of(a), y = key_of(b);
    const int kinds = wr_wildcard_is(y) - wr_wildcard_is(x);

    return kinds != 0 ? kinds : wr_str_compare(x, y);
}

/* The patterns for the value of one key, `n` of them. */
static bool index_key(struct wr_level_wildcards *wildcards, struct wr_arena *arena,
                      const struct wr_hash_key *hash_key, struct wr_wildcard *patterns, size_t n)
{
    struct wr_wildcard_index *const index = wr_arena_alloc(arena, sizeof *index);
    const struct wr_str key = key_of(&patterns[0]);

    if (index == NULL || !wr_wildcard_index_build(index, arena, patterns, n)) {
        return false;
    }
    wr_pair_table_add(&wildcards->by_key, wr_pair_hash_first(hash_key, key), key,
                      (struct wr_str){0}, index);
    return true;
}

static bool index_all(struct wr_level_wildcards *wildcards, struct wr_arena *arena,
                      const struct wr_hash_key *hash_key, struct wr_wildcard *patterns, size_t n)
{
    size_t at = 0;

    qsort(patterns, n, sizeof *patterns, compare_keys);
    while (at < n && wr_wildcard_is(key_of(&patterns[at]))) {
        at++;
    }
    if (!wr_wildcard_index_build(&wildcards->keys, arena, patterns, at) ||
        !wr_pair_table_init(&wildcards->by_key, arena, n - at)) {
        return false;
    }
    while (at < n) {
        const struct wr_str key = key_of(&patterns[at]);
        size_t count = 1;

        while (at + count < n && wr_str_equal(key_of(&patterns[at + count]), key)) {
            count++;
        }
        if (!index_key(wildcards, arena, hash_key, &patterns[at], count)) {
            return false;
        }
        at += count;
    }
    return true;
}

bool wr_level_wildcards_build(struct wr_arena *arena, const struct wr_hash_key *hash_key,
                              const struct wr_node *const *nodes, size_t n,
                              const struct wr_level_wildcards **out_wildcards)
{
    *out_wildcards = NULL;
    if (n == 0) {
        return true;
    }

    struct wr_level_wildcards *const wildcards = wr_arena_calloc(arena, 1, sizeof *wildcards);
    struct wr_wildcard *const patterns = wr_arena_calloc(arena, n, sizeof *patterns);

    if (wildcards == NULL || patterns == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        patterns[i] = (struct wr_wildcard){
            .pattern = wr_wildcard_is(nodes[i]->key) ? nodes[i]->key : nodes[i]->value,
            .order = i,
            .value = nodes[i],
        };
    }
    *out_wildcards = wildcards;
    return index_all(wildcards, arena, hash_key, patterns, n);
}

/* A pattern in the key is tested against the key alone. An empty value in the rule stands for any,
 * which only a rule with a pattern in its key still has here. */
static bool fits(const void *value, const void *context)
{
    const struct wr_node *const node = value;
    const struct wr_entry *const entry = context;

    return wr_wildcard_match(node->key, entry->key) &&
           (node->value.len == 0 || wr_wildcard_match(node->value, entry->value));
}

const struct wr_node *wr_level_wildcards_find(const struct wr_level_wildcards *wildcards,
                                              uint64_t key_hash, const struct wr_entry *entry)
{
    const struct wr_wildcard_index *const of_key =
        wr_pair_table_find(&wildcards->by_key, key_hash, entry->key, (struct wr_str){0});
    const struct wr_wildcard *const by_value =
        of_key == NULL ? NULL : wr_wildcard_index_find(of_key, entry->value, SIZE_MAX, fits, entry);
    const struct wr_wildcard *const by_key = wr_wildcard_index_find(
        &wildcards->keys, entry->key, by_value == NULL ? SIZE_MAX : by_value->order, fits, entry);
    const struct wr_wildcard *const first = by_key != NULL ? by_key : by_value;

    return first == NULL ? NULL : first->value;
}
