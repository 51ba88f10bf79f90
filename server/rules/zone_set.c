/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/zone_set.h"

#include <stddef.h>

#include "rules/zone.h"

struct wr_zone_item {
    struct wr_str name;
    struct wr_zone zone;
    struct wr_zone_item *next;
};

const struct wr_zone *wr_zone_set_get(struct wr_zone_set *set, struct wr_str name)
{
    for (const struct wr_zone_item *item = set->first; item != NULL; item = item->next) {
        if (wr_str_equal(item->name, name)) {
            return &item->zone;
        }
    }

    struct wr_zone_item *const item = wr_arena_calloc(set->arena, 1, sizeof *item);

    if (item == NULL || !wr_arena_copy(set->arena, name, &item->name) ||
        wr_zone_load(set->arena, name, &item->zone) != WR_ZONE_GOOD) {
        return NULL;
    }
    item->next = set->first;
    set->first = item;
    return &item->zone;
}
