/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str_set.h"

#include <stdint.h>

#include "base/assert.h"

/* FNV-1a, 64 bits. */
static uint64_t hash_of(struct wr_str text)
{
    uint64_t hash = UINT64_C(14695981039346656037);

    for (size_t i = 0; i < text.len; i++) {
        hash = (hash ^ (unsigned char) text.ptr[i]) * UINT64_C(1099511628211);
    }
    return hash ^ (hash >> 32);
}

bool wr_str_set_init(struct wr_str_set *set, struct wr_arena *arena, size_t max)
{
    size_t size = 2;

    while (size / 2 < max) {
        size *= 2;
    }
    *set = (struct wr_str_set){
        .slots = wr_arena_calloc(arena, size, sizeof *set->slots), .mask = size - 1, .max = max};
    return set->slots != NULL;
}

/* The slot that holds `text`, or the free one where it belongs. */
static size_t slot_of(const struct wr_str_set *set, struct wr_str text)
{
    size_t slot = (size_t) hash_of(text) & set->mask;

    while (set->slots[slot] != NULL && !wr_str_equal(*set->slots[slot], text)) {
        slot = (slot + 1) & set->mask;
    }
    return slot;
}

bool wr_str_set_add(struct wr_str_set *set, const struct wr_str *text)
{
    const size_t slot = slot_of(set, *text);

    if (set->slots[slot] != NULL) {
        return false;
    }
    WR_ASSERT(set->n < set->max);
    set->slots[slot] = text;
    set->n++;
    return true;
}

bool wr_str_set_has(const struct wr_str_set *set, struct wr_str text)
{
    return set->slots[slot_of(set, text)] != NULL;
}
