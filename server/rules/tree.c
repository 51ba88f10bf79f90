/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/tree.h"

#include <stdlib.h>

#include "rules/level_wildcards.h"
#include "rules/node_rules.h"
#include "rules/wildcard.h"

static bool build_children(struct wr_tree_builder *builder, const struct wr_rule_path *path,
                           const struct wr_draft_rule *draft, struct wr_tree_node *node)
{
    const struct wr_draft_rule **const rules =
        wr_arena_calloc(builder->arena, draft->n_children, sizeof *rules);

    if (rules == NULL) {
        return false;
    }
    for (size_t i = 0; i < draft->n_children; i++) {
        rules[i] = &draft->children[i];
    }
    return wr_tree_build(builder, path, &node->node, rules, draft->n_children, &node->children);
}

static bool build_node(struct wr_tree_builder *builder, const struct wr_rule_path *parent_path,
                       const struct wr_node *parent, const struct wr_draft_rule *draft,
                       struct wr_tree_node *node)
{
    const struct wr_rule_path path = {
        .parent = parent_path, .key = draft->key, .value = draft->value};

    node->node = (struct wr_node){
        .parent = parent,
        .has_share_threshold = draft->has_share_threshold,
        .has_value_to_metric = draft->has_value_to_metric,
        .has_group_ip = draft->has_group_ip,
        .ipv4_bits = (uint8_t) draft->ipv4_bits.number,
        .ipv6_bits = (uint8_t) draft->ipv6_bits.number,
    };
    return wr_arena_copy(builder->arena, draft->key, &node->node.key) &&
           wr_arena_copy(builder->arena, draft->value, &node->node.value) &&
           wr_node_rules_build(builder, &path, draft, &node->node) &&
           build_children(builder, &path, draft, node);
}

static void add_node(struct wr_tree_builder *builder, struct wr_tree_level *level,
                     const struct wr_tree_node *node)
{
    const struct wr_str key = node->node.key, value = node->node.value;
    const uint64_t first_hash = wr_pair_hash_first(builder->hash_key, key);

    wr_pair_table_add(&level->pairs, wr_pair_hash(builder->hash_key, first_hash, value), key, value,
                      node);
}

/* A wildcard is in the table as well: its own spelling finds it before the wildcards declared ahead
 * of it, as in the incumbent. */
static bool add_wildcards(struct wr_tree_builder *builder, struct wr_tree_level *level,
                          const struct wr_tree_node *nodes, size_t n)
{
    const struct wr_node **const wildcards = malloc((n + 1) * sizeof(const struct wr_node *));
    size_t n_wildcards = 0;

    if (wildcards == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct wr_node *const node = &nodes[i].node;

        if (wr_wildcard_is(node->key) || wr_wildcard_is(node->value)) {
            wildcards[n_wildcards++] = node;
        }
    }

    const bool is_built = wr_level_wildcards_build(builder->arena, builder->hash_key, wildcards,
                                                   n_wildcards, &level->wildcards);

    free(wildcards);
    return is_built;
}

bool wr_tree_build(struct wr_tree_builder *builder, const struct wr_rule_path *path,
                   const struct wr_node *parent, const struct wr_draft_rule *const *rules, size_t n,
                   struct wr_tree_level *out_level)
{
    struct wr_arena *const arena = builder->arena;
    struct wr_tree_node *const nodes = wr_arena_calloc(arena, n, sizeof *nodes);
    struct wr_tree_level level = {0};

    if (nodes == NULL || !wr_pair_table_init(&level.pairs, arena, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!build_node(builder, path, parent, rules[i], &nodes[i])) {
            return false;
        }
        add_node(builder, &level, &nodes[i]);
    }
    if (n > 0 && !add_wildcards(builder, &level, nodes, n)) {
        return false;
    }
    *out_level = level;
    return true;
}

static const struct wr_tree_node *find(const struct wr_tree_level *level,
                                       const struct wr_hash_key *hash_key,
                                       const struct wr_entry *entry)
{
    if (level->pairs.slots == NULL) {
        return NULL;
    }

    const uint64_t first_hash = wr_pair_hash_first(hash_key, entry->key);

    if (entry->value.len > 0) {
        const uint64_t hash = wr_pair_hash(hash_key, first_hash, entry->value);
        const void *const exact = wr_pair_table_find(&level->pairs, hash, entry->key, entry->value);

        if (exact != NULL) {
            return exact;
        }
    }
    if (level->wildcards != NULL) {
        const struct wr_node *const node =
            wr_level_wildcards_find(level->wildcards, first_hash, entry);

        if (node != NULL) {
            return (const struct wr_tree_node *) node; /* it is the first member */
        }
    }
    return wr_pair_table_find(&level->pairs, first_hash, entry->key, (struct wr_str){0});
}

const struct wr_node *wr_tree_reach(const struct wr_tree_level *level,
                                    const struct wr_hash_key *hash_key,
                                    const struct wr_entry *entries, size_t n, size_t *out_n_matched)
{
    const struct wr_tree_node *reached = NULL;
    size_t i = 0;

    for (; i < n; i++) {
        const struct wr_tree_node *const node = find(level, hash_key, &entries[i]);

        if (node == NULL) {
            break;
        }
        reached = node;
        level = &node->children;
    }
    *out_n_matched = i;
    return reached == NULL ? NULL : &reached->node;
}
