/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every part that reads one configuration shares: where texts live, where notes go, how much
 * is allowed, and whether something was found.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_READER_H
#define WR_RULES_CONFIG_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "rules/config_tree.h"
#include "rules/config_yaml.h"
#include "rules/rule_path.h"

struct wr_config_reader {
    struct wr_arena *arena; /* of tree and draft */
    struct wr_diag *diag;
    struct wr_str source; /* name for messages */
    const struct wr_config_bounds *bounds;
    size_t n_errors, n_warnings;
    bool lacks_memory; /* it ran out, and that is one of the errors */
};

/* The place of `node`. */
struct wr_place wr_config_place(const struct wr_config_reader *reader,
                                const struct wr_config_node *node);

/* Notes an error, or a warning, at `node`. `path` may be NULL, `hint` too. */
void wr_config_error(struct wr_config_reader *reader, const struct wr_config_node *node,
                     const struct wr_rule_path *path, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void wr_config_warn(struct wr_config_reader *reader, const struct wr_config_node *node,
                    const struct wr_rule_path *path, const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Notes that memory is out, as an error. */
void wr_config_no_memory(struct wr_config_reader *reader);

/* How much of `text` a message shows, for printf's "%.*s". */
int wr_config_shown(struct wr_str text);

/* "a text", "a list", "a map". */
const char *wr_config_kind_name(enum wr_config_kind kind);

#endif
