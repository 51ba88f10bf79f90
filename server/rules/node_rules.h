/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limits of one node of a tree, made from a checked draft.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_NODE_RULES_H
#define WR_RULES_NODE_RULES_H

#include <stdbool.h>

#include "rules/draft.h"
#include "rules/rule_path.h"
#include "rules/rules.h"
#include "rules/tree.h"

/* Sets the rules of `node`, of which there may be none, and counts them. False when memory is
 * out. */
bool wr_node_rules_build(struct wr_tree_builder *builder, const struct wr_rule_path *path,
                         const struct wr_draft_rule *draft, struct wr_node *node);

#endif
