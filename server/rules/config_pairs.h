/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs of a map with those that merge keys (<<) bring in, in the order in which they are to be
 * applied: the later of two with the same key counts.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_PAIRS_H
#define WR_RULES_CONFIG_PAIRS_H

#include <stdbool.h>
#include <stddef.h>

#include "rules/config_reader.h"

struct wr_config_pair {
    const struct wr_config_node *key, *value;
    size_t index;   /* its place in the order */
    bool is_merged; /* brought in by a merge */
};

struct wr_config_pairs {
    struct wr_config_pair *all; /* borrowed from the reader's arena */
    size_t n;
};

/* What cannot be merged, and memory running out, is noted. */
struct wr_config_pairs wr_config_pairs_of(struct wr_config_reader *reader,
                                          const struct wr_config_node *map,
                                          const struct wr_rule_path *path);

#endif
