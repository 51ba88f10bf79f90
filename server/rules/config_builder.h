/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a tree out of what a document consists of, in the order in which a parser comes upon it.
 * Everything is counted with its aliases expanded, and an alias within its own anchor refused, so
 * that whoever walks the tree needs no bounds of its own.
 *
 * Invariant: with `has_failed` an error is noted and the tree ends where it was.
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_BUILDER_H
#define WR_RULES_CONFIG_BUILDER_H

#include <stdbool.h>
#include <stddef.h>

#include "rules/config_anchors.h"
#include "rules/config_reader.h"
#include "rules/config_tree.h"

struct wr_config_open;

struct wr_config_builder {
    struct wr_config_reader *reader;
    struct wr_config_node *root; /* NULL: none yet */
    struct wr_config_open *open; /* the innermost list or map that is not closed; NULL: none */
    struct wr_config_anchors anchors;
    size_t n_nodes, n_bytes; /* aliases expanded */
    size_t max_height;
    bool has_failed;
};

void wr_config_builder_init(struct wr_config_builder *builder, struct wr_config_reader *reader);

/* A node as the document has it: kind, place, and of a scalar text, tag and is_plain are taken from
 * `node`, the texts copied. `anchor` is empty when there is none. A list or map stays open. */
void wr_config_builder_add(struct wr_config_builder *builder, const struct wr_config_node *node,
                           struct wr_str anchor);

/* Closes the innermost list or map. */
void wr_config_builder_close(struct wr_config_builder *builder);

/* An alias, standing at the place of `place`. */
void wr_config_builder_add_alias(struct wr_config_builder *builder,
                                 const struct wr_config_node *place, struct wr_str name);

/* Notes that memory is out. */
void wr_config_builder_no_memory(struct wr_config_builder *builder);

#endif
