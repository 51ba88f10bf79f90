/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The free map under `metadata` as a value.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_METADATA_H
#define WR_RULES_CONFIG_METADATA_H

#include <stdbool.h>

#include "base/value.h"
#include "rules/config_reader.h"

/* Keys keep their spelling on every level, of repeated ones the last counts; numbers become
 * doubles. False when something does not fit, which is noted. */
bool wr_config_metadata_read(struct wr_config_reader *reader, const struct wr_config_node *map,
                             const struct wr_rule_path *path, struct wr_value *out_map);

#endif
