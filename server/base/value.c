/* SPDX-License-Identifier: Apache-2.0 */
#include "base/value.h"

#include <string.h>

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

/* Depth is bounded by the rules' own bound on nesting. */
bool wr_value_merge(struct wr_arena *arena, const struct wr_value *a, const struct wr_value *b,
                    struct wr_value *out_merged)
{
    struct wr_value_member *const members =
        wr_arena_calloc(arena, a->as.map.n + b->as.map.n, sizeof *members);
    size_t n = a->as.map.n;

    if (members == NULL) {
        return false;
    }
    if (n > 0) {
        memcpy(members, a->as.map.members, n * sizeof *members);
    }
    for (size_t i = 0; i < a->as.map.n; i++) {
        const struct wr_value *const other = wr_value_get(b, members[i].key);

        if (other == NULL || other->kind != WR_VALUE_MAP || members[i].value.kind != WR_VALUE_MAP) {
            continue;
        }
        if (!wr_value_merge(arena, &members[i].value, other, &members[i].value)) {
            return false;
        }
    }
    for (size_t i = 0; i < b->as.map.n; i++) {
        if (wr_value_get(a, b->as.map.members[i].key) == NULL) {
            members[n++] = b->as.map.members[i];
        }
    }
    *out_merged = (struct wr_value){.kind = WR_VALUE_MAP, .as.map = {members, n}};
    return true;
}
