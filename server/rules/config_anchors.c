/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_anchors.h"

#include <stdint.h>

#define N_BUCKETS 4096

struct wr_config_anchor {
    struct wr_str name;
    const struct wr_config_node *node;
    struct wr_config_anchor *next; /* an older one in the same bucket */
};

/* FNV-1a. */
static size_t bucket_of(struct wr_str name)
{
    uint32_t hash = 2166136261;

    for (size_t i = 0; i < name.len; i++) {
        hash = (hash ^ (unsigned char) name.ptr[i]) * UINT32_C(16777619);
    }
    return hash % N_BUCKETS;
}

bool wr_config_anchors_add(struct wr_config_anchors *anchors, struct wr_arena *arena,
                           struct wr_str name, const struct wr_config_node *node)
{
    struct wr_config_anchor *const anchor = wr_arena_alloc(arena, sizeof *anchor);

    if (anchors->buckets == NULL) {
        anchors->buckets = wr_arena_calloc(arena, N_BUCKETS, sizeof(struct wr_config_anchor *));
    }
    if (anchor == NULL || anchors->buckets == NULL || !wr_arena_copy(arena, name, &anchor->name)) {
        return false;
    }

    struct wr_config_anchor **const bucket = &anchors->buckets[bucket_of(name)];

    anchor->node = node;
    anchor->next = *bucket;
    *bucket = anchor;
    return true;
}

const struct wr_config_node *wr_config_anchors_find(const struct wr_config_anchors *anchors,
                                                    struct wr_str name)
{
    if (anchors->buckets == NULL) {
        return NULL;
    }

    const struct wr_config_anchor *anchor = anchors->buckets[bucket_of(name)];

    while (anchor != NULL && !wr_str_equal(anchor->name, name)) {
        anchor = anchor->next;
    }
    return anchor == NULL ? NULL : anchor->node;
}
