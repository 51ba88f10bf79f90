/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of the grammar that is about limits: `rate_limit`, `limits` and what stands in them.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_LIMIT_H
#define WR_RULES_CONFIG_LIMIT_H

#include <stdbool.h>

#include "rules/config_keys.h"
#include "rules/config_reader.h"
#include "rules/draft.h"

/* True when `list` is a list, of which every element is a map; null is an empty list. What is wrong
 * is noted. */
bool wr_config_is_list_of_maps(struct wr_config_reader *reader, const struct wr_config_node *list,
                               enum wr_config_key key, const struct wr_rule_path *path);

/* Reads a `rate_limit`. A second one, or one after a merge, goes over the first field by field;
 * null takes it away. */
void wr_config_limit_read(struct wr_config_reader *reader, const struct wr_config_node *map,
                          const struct wr_rule_path *path, struct wr_draft_rule *rule);

/* Reads `limits`, in place of those read before; null takes them away. */
void wr_config_limits_read(struct wr_config_reader *reader, const struct wr_config_node *list,
                           const struct wr_rule_path *path, struct wr_draft_rule *rule);

#endif
