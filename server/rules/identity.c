/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/identity.h"

#include "limit/identity.h"

/* Both passes, size and write, go over the entries from the last, since nodes know their parent. */
static const struct wr_node *shared(const struct wr_node *node)
{
    return node != NULL && node->has_share_threshold ? node : NULL;
}

static size_t entry_size(const struct wr_entry *entry, const struct wr_node *node)
{
    const struct wr_node *const pattern = shared(node);

    return WR_IDENTITY_ENTRY_SIZE + (pattern == NULL ? entry->key.len + entry->value.len
                                                     : pattern->key.len + pattern->value.len);
}

static void put_entry(char *at, const struct wr_entry *entry, const struct wr_node *node)
{
    const struct wr_node *const pattern = shared(node);

    if (pattern == NULL) {
        (void) wr_identity_put_entry(at, false, entry->key, entry->value);
    } else {
        (void) wr_identity_put_entry(at, true, pattern->key, pattern->value);
    }
}

bool wr_identity_write(struct wr_arena *arena, const struct wr_identity_parts *parts,
                       struct wr_str *out_key)
{
    const struct wr_node *above = parts->node;
    size_t size = WR_IDENTITY_HEAD_SIZE + parts->domain.len + WR_IDENTITY_TAIL_SIZE;

    for (size_t i = parts->n_entries; i-- > 0; above = above == NULL ? NULL : above->parent) {
        size += entry_size(&parts->entries[i], above);
    }

    char *const key = wr_arena_alloc(arena, size);

    if (key == NULL) {
        return false;
    }
    (void) wr_identity_put_domain(key, parts->domain);

    char *at = key + size - WR_IDENTITY_TAIL_SIZE;

    above = parts->node;
    for (size_t i = parts->n_entries; i-- > 0; above = above == NULL ? NULL : above->parent) {
        at -= entry_size(&parts->entries[i], above);
        put_entry(at, &parts->entries[i], above);
    }

    const struct wr_identity_tail tail = {
        .length_us = parts->limit->length_us,
        .alignment = (uint8_t) parts->limit->alignment,
        .algorithm = (uint8_t) parts->limit->algorithm,
        .layer = parts->layer,
    };

    (void) wr_identity_put_tail(key + size - WR_IDENTITY_TAIL_SIZE, &tail);
    *out_key = (struct wr_str){.ptr = key, .len = size};
    return true;
}
