/* SPDX-License-Identifier: Apache-2.0 */
#include "base/value.h"

#include <stdlib.h>

const struct wr_value *wr_value_get(const struct wr_value *map, struct wr_str key)
{
    if (map->kind != WR_VALUE_MAP) {
        return NULL;
    }
    for (size_t i = 0; i < map->as.map.n; i++) {
        if (wr_str_equal(map->as.map.members[i].key, key)) {
            return &map->as.map.members[i].value;
        }
    }
    return NULL;
}

/* A member of one of the maps, and which map it is of. */
struct sourced {
    const struct wr_value_member *member;
    size_t map;
};

static int compare(const void *a, const void *b)
{
    const struct sourced *const x = a, *const y = b;
    const int keys = wr_str_compare(x->member->key, y->member->key);

    return keys != 0 ? keys : (x->map > y->map) - (x->map < y->map);
}

/* All members of all maps, by key and then by map. */
static struct sourced *sort_members(struct wr_arena *arena, const struct wr_value *const *maps,
                                    size_t n, size_t *out_n)
{
    size_t total = 0;

    for (size_t i = 0; i < n; i++) {
        total += maps[i]->as.map.n;
    }

    struct sourced *const sorted = wr_arena_calloc(arena, total, sizeof *sorted);

    if (sorted == NULL) {
        return NULL;
    }
    *out_n = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < maps[i]->as.map.n; k++) {
            sorted[(*out_n)++] = (struct sourced){&maps[i]->as.map.members[k], i};
        }
    }
    qsort(sorted, total, sizeof *sorted, compare);
    return sorted;
}

/* What the `n` values of one key come to. */
static bool merge_key(struct wr_arena *arena, const struct sourced *same, size_t n,
                      struct wr_value *out_value)
{
    const struct wr_value **const maps = wr_arena_calloc(arena, n, sizeof *maps);
    size_t n_maps = 0;

    if (maps == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (same[i].member->value.kind == WR_VALUE_MAP) {
            maps[n_maps++] = &same[i].member->value;
        }
    }
    if (same[0].member->value.kind != WR_VALUE_MAP || n_maps == 1) {
        *out_value = same[0].member->value;
        return true;
    }
    return wr_value_merge(arena, maps, n_maps, out_value);
}

/* Depth is bounded by the rules' own bound on nesting. */
bool wr_value_merge(struct wr_arena *arena, const struct wr_value *const *maps, size_t n,
                    struct wr_value *out_merged)
{
    size_t n_sorted = 0, n_members = 0;
    const struct sourced *const sorted = sort_members(arena, maps, n, &n_sorted);
    struct wr_value_member *const members = wr_arena_calloc(arena, n_sorted, sizeof *members);

    if (sorted == NULL || members == NULL) {
        return false;
    }
    for (size_t first = 0, next = 0; first < n_sorted; first = next) {
        const struct wr_str key = sorted[first].member->key;

        while (next < n_sorted && wr_str_equal(sorted[next].member->key, key)) {
            next++;
        }
        members[n_members].key = key;
        if (!merge_key(arena, sorted + first, next - first, &members[n_members].value)) {
            return false;
        }
        n_members++;
    }
    *out_merged = (struct wr_value){.kind = WR_VALUE_MAP, .as.map = {members, n_members}};
    return true;
}

static bool copy_list(struct wr_arena *arena, const struct wr_value *list, struct wr_value *out)
{
    struct wr_value *const items = wr_arena_calloc(arena, list->as.list.n, sizeof *items);

    if (items == NULL) {
        return false;
    }
    for (size_t i = 0; i < list->as.list.n; i++) {
        if (!wr_value_copy(arena, &list->as.list.items[i], &items[i])) {
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
            !wr_value_copy(arena, &map->as.map.members[i].value, &members[i].value)) {
            return false;
        }
    }
    *out = (struct wr_value){.kind = WR_VALUE_MAP, .as.map = {members, map->as.map.n}};
    return true;
}

bool wr_value_copy(struct wr_arena *arena, const struct wr_value *value, struct wr_value *out_copy)
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
