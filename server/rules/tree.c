/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/tree.h"

#include "rules/wildcard.h"

static bool copy_value(struct wr_arena *arena, const struct wr_value *value,
                       struct wr_value *out_copy);

static bool copy_list(struct wr_arena *arena, const struct wr_value *list, struct wr_value *out)
{
    struct wr_value *const items = wr_arena_calloc(arena, list->as.list.n, sizeof *items);

    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < list->as.list.n; i++) {
        if (!copy_value(arena, &list->as.list.items[i], &items[i])) {
            return false;
        }
    }
    *out = (struct wr_value){.kind = WR_VALUE_LIST, .as.list = {items, list->as.list.n}};
    return true;
}

static bool copy_map(struct wr_arena *arena, const struct wr_value *map, struct wr_value *out)
{
    struct wr_value_member *const members = wr_arena_calloc(arena, map->as.map.n, sizeof *members);

    if (members == NULL) {
        return false;
    }
    for (size_t i = 0; i < map->as.map.n; i++) {
        if (!wr_arena_copy(arena, map->as.map.members[i].key, &members[i].key) ||
            !copy_value(arena, &map->as.map.members[i].value, &members[i].value)) {
            return false;
        }
    }
    *out = (struct wr_value){.kind = WR_VALUE_MAP, .as.map = {members, map->as.map.n}};
    return true;
}

/* Recursion is as deep as metadata is nested, which whoever makes drafts bounds. */
static bool copy_value(struct wr_arena *arena, const struct wr_value *value,
                       struct wr_value *out_copy)
{
    switch (value->kind) {
    case WR_VALUE_LIST:
        return copy_list(arena, value, out_copy);
    case WR_VALUE_MAP:
        return copy_map(arena, value, out_copy);
    case WR_VALUE_STRING:
        out_copy->kind = WR_VALUE_STRING;
        return wr_arena_copy(arena, value->as.string, &out_copy->as.string);
    case WR_VALUE_NULL:
    case WR_VALUE_BOOL:
    case WR_VALUE_NUMBER:
    default:
        *out_copy = *value;
        return true;
    }
}

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
    return metadata != NULL && copy_value(arena, &draft->metadata, metadata);
}

/* The limit of `draft`, or NULL in `*out_rule` when it has none. */
static bool build_rule(struct wr_tree_builder *builder, const struct wr_rule_path *path,
                       const struct wr_draft_rule *draft, const struct wr_rule **out_rule)
{
    if (!draft->has_limit) {
        return true;
    }

    struct wr_arena *const arena = builder->arena;
    const struct wr_draft_limit *const limit = &draft->limit;
    const bool is_unlimited = limit->is_unlimited;
    const enum wr_unit unit = is_unlimited ? WR_UNIT_UNKNOWN : wr_unit_of_name(limit->unit);
    struct wr_rule *const rule = wr_arena_alloc(arena, sizeof *rule);

    if (rule == NULL) {
        return false;
    }
    *rule = (struct wr_rule){
        .limit = {.requests = limit->requests_per_unit,
                  .length_us = wr_unit_length_us(unit),
                  .count = WR_COUNT_ALL},
        .unit = unit,
        .is_unlimited = is_unlimited,
        .is_shadow = draft->is_shadow,
        .is_quota = draft->is_quota,
        .has_detailed_metric = draft->has_detailed_metric,
    };
    builder->n_limits++;
    *out_rule = rule;
    return wr_arena_copy(arena, limit->name, &rule->name) &&
           wr_rule_path_write(path, arena, &rule->path) && copy_replaces(arena, limit, rule) &&
           copy_metadata(arena, draft, rule);
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
           build_rule(builder, &path, draft, &node->node.rule) &&
           build_children(builder, &path, draft, node);
}

/* A wildcard is in the table as well: its own spelling finds it before the wildcards declared ahead
 * of it, as in the incumbent. */
static void add_node(struct wr_tree_builder *builder, struct wr_tree_level *level,
                     const struct wr_tree_node *node)
{
    const struct wr_str key = node->node.key, value = node->node.value;
    const uint64_t first_hash = wr_pair_hash_first(builder->hash_key, key);

    if (wr_wildcard_is(key) || wr_wildcard_is(value)) {
        level->wildcards[level->n_wildcards++] = node;
    }
    wr_pair_table_add(&level->pairs, wr_pair_hash(builder->hash_key, first_hash, value), key, value,
                      node);
}

static size_t count_wildcards(const struct wr_draft_rule *const *rules, size_t n)
{
    size_t n_wildcards = 0;

    for (size_t i = 0; i < n; i++) {
        n_wildcards += wr_wildcard_is(rules[i]->key) || wr_wildcard_is(rules[i]->value);
    }
    return n_wildcards;
}

bool wr_tree_build(struct wr_tree_builder *builder, const struct wr_rule_path *path,
                   const struct wr_node *parent, const struct wr_draft_rule *const *rules, size_t n,
                   struct wr_tree_level *out_level)
{
    struct wr_arena *const arena = builder->arena;
    struct wr_tree_node *const nodes = wr_arena_calloc(arena, n, sizeof *nodes);
    struct wr_tree_level level = {0};

    level.wildcards = wr_arena_calloc(arena, count_wildcards(rules, n), sizeof *level.wildcards);
    if (nodes == NULL || level.wildcards == NULL || !wr_pair_table_init(&level.pairs, arena, n)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (!build_node(builder, path, parent, rules[i], &nodes[i])) {
            return false;
        }
        add_node(builder, &level, &nodes[i]);
    }
    *out_level = level;
    return true;
}

/* A pattern in the key is tested against the key alone. An empty value in the rule stands for any,
 * which only a rule with a pattern in its key still has here. */
static bool fits(const struct wr_node *node, const struct wr_entry *entry)
{
    return wr_wildcard_match(node->key, entry->key) &&
           (node->value.len == 0 || wr_wildcard_match(node->value, entry->value));
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
    for (size_t i = 0; i < level->n_wildcards; i++) {
        if (fits(&level->wildcards[i]->node, entry)) {
            return level->wildcards[i];
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
