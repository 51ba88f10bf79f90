/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The anchors of a document by name; a newer one of the same name hides the older.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_ANCHORS_H
#define WR_RULES_CONFIG_ANCHORS_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "rules/config_tree.h"

struct wr_config_anchor;

/* All zero: none yet. */
struct wr_config_anchors {
    struct wr_config_anchor **buckets; /* borrowed from the arena; NULL: none yet */
};

/* Adds an anchor, copying the name into `arena`; false when memory is out. */
bool wr_config_anchors_add(struct wr_config_anchors *anchors, struct wr_arena *arena,
                           struct wr_str name, const struct wr_config_node *node);

/* What `name` stands for; NULL when there is no such anchor. */
const struct wr_config_node *wr_config_anchors_find(const struct wr_config_anchors *anchors,
                                                    struct wr_str name);

#endif
