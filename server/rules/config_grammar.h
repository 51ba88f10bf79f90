/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a tree to a draft: which key means what, and on which level.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_GRAMMAR_H
#define WR_RULES_CONFIG_GRAMMAR_H

#include <stdbool.h>

#include "rules/config_reader.h"
#include "rules/draft.h"

/*
 * Reads `root`, NULL for an empty document, into `*out_draft`. With `is_cut` the tree ends where an
 * error was found and noted: only the domain is read.
 */
void wr_config_grammar_read(struct wr_config_reader *reader, const struct wr_config_node *root,
                            bool is_cut, struct wr_draft *out_draft);

#endif
