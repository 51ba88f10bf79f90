/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_pairs.h"

struct walk {
    struct wr_config_reader *reader;
    const struct wr_rule_path *path;
    struct wr_config_pairs pairs; /* room for all was counted before */
};

static bool is_merge(const struct wr_config_node *key)
{
    static const struct wr_str tag = WR_STR("tag:yaml.org,2002:merge");
    static const struct wr_str text = WR_STR("<<");

    return key->kind == WR_CONFIG_SCALAR && wr_str_equal(key->text, text) &&
           (key->is_plain || wr_str_equal(key->tag, tag));
}

/* An upper bound: what is merged in has no more pairs than nodes. */
static size_t count_pairs(const struct wr_config_node *map)
{
    size_t n = map->n_items;

    for (const struct wr_config_item *item = map->first; item != NULL; item = item->next) {
        if (is_merge(item->key)) {
            n += item->value->n_nodes;
        }
    }
    return n;
}

static void walk_map(struct walk *walk, const struct wr_config_node *map, bool is_merged);

static void merge_map(struct walk *walk, const struct wr_config_node *value)
{
    if (value->kind == WR_CONFIG_MAP) {
        walk_map(walk, value, true);
        return;
    }
    wr_config_error(walk->reader, value, walk->path, "as in `<<: *defaults`",
                    "`<<` merges a map, or a list of maps, not %s",
                    wr_config_kind_name(value->kind));
}

/* Of a list the first map counts most, so they are taken from the last. */
static void merge_list(struct walk *walk, const struct wr_config_node *list)
{
    const struct wr_config_node **const maps =
        wr_arena_calloc(walk->reader->arena, list->n_items, sizeof *maps);
    size_t n = 0;

    if (maps == NULL) {
        wr_config_no_memory(walk->reader);
        return;
    }
    for (const struct wr_config_item *item = list->first; item != NULL; item = item->next) {
        maps[n++] = item->value;
    }
    while (n-- > 0) {
        merge_map(walk, maps[n]);
    }
}

/* Recursion follows merges of merges, as deep as the tree is high, which is bounded. */
static void walk_map(struct walk *walk, const struct wr_config_node *map, bool is_merged)
{
    for (const struct wr_config_item *item = map->first; item != NULL; item = item->next) {
        if (!is_merge(item->key)) {
            const size_t index = walk->pairs.n++;

            walk->pairs.all[index] = (struct wr_config_pair){
                .key = item->key, .value = item->value, .index = index, .is_merged = is_merged};
        } else if (item->value->kind == WR_CONFIG_LIST) {
            merge_list(walk, item->value);
        } else {
            merge_map(walk, item->value);
        }
    }
}

struct wr_config_pairs wr_config_pairs_of(struct wr_config_reader *reader,
                                          const struct wr_config_node *map,
                                          const struct wr_rule_path *path)
{
    struct walk walk = {.reader = reader, .path = path};

    walk.pairs.all = wr_arena_calloc(reader->arena, count_pairs(map), sizeof *walk.pairs.all);
    if (walk.pairs.all == NULL) {
        wr_config_no_memory(reader);
    } else {
        walk_map(&walk, map, false);
    }
    return walk.pairs;
}
