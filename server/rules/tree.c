/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/tree.h"

#include <stdlib.h>

#include "rules/level_wildcards.h"
#include "rules/wildcard.h"

static bool copy_replaces(struct wr_arena *arena, const struct wr_draft_limit *limit,
                          struct wr_rule *rule)
{
    struct wr_str *const names = wr_arena_calloc(arena, limit->n_replaces, sizeof *names);

    if (names == NULL) {
        return false;
    }
    for (size_t i = 0; i < limit->n_replaces; i++) {
        if (!wr_arena_copy(arena, limit->replaces[i].name, &names[i])) {
            return false;
        }
    }
    rule->replaces = names;
    rule->n_replaces = limit->n_replaces;
    return true;
}

static bool copy_metadata(struct wr_arena *arena, const struct wr_draft_rule *draft,
                          struct wr_rule *rule)
{
    if (!draft->has_metadata) {
        return true;
    }

    struct wr_value *const metadata = wr_arena_alloc(arena, sizeof *metadata);

    rule->metadata = metadata;
    return metadata != NULL && wr_value_copy(arena, &draft->metadata, metadata);
}

/* How many of `n` rules count as `limit` does. */
static uint32_t count_alike(const struct wr_rule *rules, size_t n, const struct wr_limit *limit)
{
    uint32_t n_alike = 0;

    for (size_t i = 0; i < n; i++) {
        n_alike += rules[i].limit.length_us == limit->length_us &&
                   rules[i].limit.algorithm == limit->algorithm;
    }
    return n_alike;
}

/* What a rule says of itself; what it shares with the other layers of its node comes on top. */
static bool build_rule(struct wr_tree_builder *builder, const struct wr_draft_rule *draft,
                       const struct wr_draft_limit *limit, struct wr_rule *rule)
{
    const bool is_unlimited = limit->is_unlimited;
    const enum wr_unit unit = is_unlimited ? WR_UNIT_UNKNOWN : wr_unit_of_name(limit->unit);

    *rule = (struct wr_rule){
        .limit = {.requests = limit->requests_per_unit,
                  .length_us = wr_unit_length_us(unit),
                  .count = limit->policy.has_count ? limit->policy.count : builder->count},
        .unit = unit,
        .policy = limit->policy,
        .is_unlimited = is_unlimited,
        .is_shadow = draft->is_shadow,
        .is_quota = draft->is_quota,
        .has_detailed_metric = draft->has_detailed_metric,
    };
    builder->n_limits++;
    builder->has_group |= rule->limit.count == WR_COUNT_ALL_OR_NOTHING;
    builder->has_bookings |= wr_policy_must_book(&rule->policy);
    return wr_arena_copy(builder->arena, limit->name, &rule->name) &&
           copy_replaces(builder->arena, limit, rule);
}

/* The limits of `draft`, of which there may be none. */
static bool build_rules(struct wr_tree_builder *builder, const struct wr_rule_path *path,
                        const struct wr_draft_rule *draft, struct wr_node *node)
{
    const struct wr_draft_limits limits = wr_draft_limits_of(draft);

    if (limits.n == 0) {
        return true;
    }

    struct wr_rule *const rules = wr_arena_calloc(builder->arena, limits.n, sizeof *rules);
    struct wr_rule shared = {0};

    if (rules == NULL || !wr_rule_path_write(path, builder->arena, &shared.path) ||
        !copy_metadata(builder->arena, draft, &shared)) {
        return false;
    }
    for (size_t i = 0; i < limits.n; i++) {
        if (!build_rule(builder, draft, &limits.all[i], &rules[i])) {
            return false;
        }
        rules[i].layer = count_alike(rules, i, &rules[i].limit);
        rules[i].path = shared.path;
        rules[i].metadata = shared.metadata;
    }
    node->rules = rules;
    node->n_rules = limits.n;
    return true;
}

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
    };
    return wr_arena_copy(builder->arena, draft->key, &node->node.key) &&
           wr_arena_copy(builder->arena, draft->value, &node->node.value) &&
           build_rules(builder, &path, draft, &node->node) &&
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

const struct wr_node *wr_tree_match(const struct wr_tree_level *level,
                                    const struct wr_hash_key *hash_key,
                                    const struct wr_entry *entries, size_t n)
{
    const struct wr_tree_node *node = NULL;

    for (size_t i = 0; i < n; i++) {
        node = find(level, hash_key, &entries[i]);
        if (node == NULL) {
            return NULL;
        }
        level = &node->children;
    }
    return node == NULL ? NULL : &node->node;
}
