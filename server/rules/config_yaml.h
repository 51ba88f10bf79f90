/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules from YAML text in the grammar of envoyproxy/ratelimit: parsed by events, so that each
 * message has its line and column, and all errors of a text are found at once.
 *
 * Threads: any thread, no state.
 */
#ifndef WR_RULES_CONFIG_YAML_H
#define WR_RULES_CONFIG_YAML_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "rules/draft.h"

/* Bounds on what a file may hold; beyond is an error that names the option. */
struct wr_config_bounds {
    size_t max_file_bytes; /* --max-rules-file-bytes */
    size_t max_depth;      /* --max-rules-depth: levels of descriptors, and of metadata */
    size_t max_nodes;      /* --max-rules-nodes: YAML nodes, aliases expanded */
};

/*
 * Parses `text` into `*out_draft`, all of it in `arena`; `source` names it in messages. What is
 * wrong goes to `diag`; with an error the draft comes back refused, still with its domain where one
 * was read.
 */
void wr_config_yaml_parse(struct wr_str text, struct wr_str source,
                          const struct wr_config_bounds *bounds, struct wr_arena *arena,
                          struct wr_diag *diag, struct wr_draft *out_draft);

#endif
