/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A document as a tree of nodes with their places, before it means anything. An alias is the node
 * that it names, so a node may stand in several places; there are no cycles.
 *
 * Threads: immutable once built.
 */
#ifndef WR_RULES_CONFIG_TREE_H
#define WR_RULES_CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum wr_config_kind {
    WR_CONFIG_SCALAR,
    WR_CONFIG_LIST,
    WR_CONFIG_MAP,
};

struct wr_config_node;

/* An element of a list, or a pair of a map; all borrowed from the arena of the tree. */
struct wr_config_item {
    const struct wr_config_node *key; /* NULL in a list */
    const struct wr_config_node *value;
    struct wr_config_item *next;
};

struct wr_config_node {
    enum wr_config_kind kind;
    size_t line, column; /* from 1 */
    /* of a scalar */
    struct wr_str text;
    struct wr_str tag; /* in full; empty: none */
    bool is_plain;     /* neither quoted nor tagged: its spelling says what it is */
    /* of a list or map, in order */
    struct wr_config_item *first, *last;
    size_t n_items;
    /* of the whole branch, aliases expanded */
    size_t n_nodes, n_bytes, height;
};

#endif
