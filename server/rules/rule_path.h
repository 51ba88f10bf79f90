/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a rule stands in its domain, as a chain from the rule up to the domain, and as text for
 * people and statistics: domain.key_value.key.
 *
 * Threads: plain values.
 */
#ifndef WR_RULES_RULE_PATH_H
#define WR_RULES_RULE_PATH_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"

/* A longer text is cut here, so that long keys times many rules stay bounded. */
#define WR_RULE_PATH_MAX 4096

struct wr_rule_path {
    const struct wr_rule_path *parent; /* NULL: this is the domain, its name in `key` */
    struct wr_str key, value;          /* value may be empty */
    size_t number;                     /* among its siblings, from 1: shown where it has no key */
};

/* Writes the text into `arena`; false when memory is out. */
bool wr_rule_path_write(const struct wr_rule_path *path, struct wr_arena *arena,
                        struct wr_str *out_text);

/* The text for a note of `diag`, in its arena: empty for a NULL path, and for a note that will not
 * be kept. Without memory the list is marked as incomplete. */
struct wr_str wr_rule_path_note(const struct wr_rule_path *path, struct wr_diag *diag,
                                enum wr_severity severity);

#endif
