/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pairs of one map that have an effect, in the order in which they are to be applied: merge
 * keys (<<) put in place, unknown keys noted as errors, keys without effect and repeated ones as
 * warnings.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_FIELDS_H
#define WR_RULES_CONFIG_FIELDS_H

#include <stddef.h>

#include "rules/config_keys.h"
#include "rules/config_reader.h"

struct wr_config_field {
    enum wr_config_key key;
    const struct wr_config_node *value;
};

/* A later field of the same key goes over an earlier one. */
struct wr_config_fields {
    const struct wr_config_field *all; /* borrowed from the reader's arena */
    size_t n;
};

/* Empty when memory is out, which is noted. */
struct wr_config_fields wr_config_fields_of(struct wr_config_reader *reader,
                                            const struct wr_config_node *map,
                                            enum wr_config_level level,
                                            const struct wr_rule_path *path);

#endif
