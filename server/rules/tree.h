/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tree of one domain's rules: each level is a table of exact pairs and of keys for any value,
 * and an index of wildcards.
 *
 * Threads: immutable once built.
 */
#ifndef WR_RULES_TREE_H
#define WR_RULES_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/hash.h"
#include "rules/draft.h"
#include "rules/entry.h"
#include "rules/pair_table.h"
#include "rules/rule_path.h"
#include "rules/rules.h"
#include "rules/zone_set.h"

struct wr_level_wildcards;

struct wr_tree_level {
    struct wr_pair_table pairs;                 /* (key, value), and (key, "") for any value */
    const struct wr_level_wildcards *wildcards; /* borrowed from the arena; NULL: none */
};

struct wr_tree_node {
    struct wr_node node; /* first, so that what a match gives out leads back here */
    struct wr_tree_level children;
};

/* What a build needs everywhere, and what it comes upon. */
struct wr_tree_builder {
    struct wr_arena *arena;
    const struct wr_hash_key *hash_key;
    struct wr_zone_set *zones; /* of the snapshot */
    bool has_count;
    enum wr_count count; /* of lone rules that say nothing else */
    size_t n_limits;
    bool has_group;    /* a limit is all-or-nothing */
    bool has_bookings; /* a limit must be booked even when a call is late */
    /* The first of the domain; without a place: none. A quota by itself is none, as it refuses. */
    struct wr_trial trial, shadow;
    size_t n_quotas;
    struct wr_bound bound;
};

/* Builds a level, and all below, from checked rules, of which it copies what it needs. `path` is of
 * what the level belongs to. False when memory is out. */
bool wr_tree_build(struct wr_tree_builder *builder, const struct wr_rule_path *path,
                   const struct wr_node *parent, const struct wr_draft_rule *const *rules, size_t n,
                   struct wr_tree_level *out_level);

/* As wr_domain_reach says. */
const struct wr_node *wr_tree_reach(const struct wr_tree_level *level,
                                    const struct wr_hash_key *hash_key,
                                    const struct wr_entry *entries, size_t n,
                                    size_t *out_n_matched);

#endif
