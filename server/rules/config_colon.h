/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A colon without a blank behind it, the commonest slip of who is new to YAML: `unit:hour` is one
 * word, and no key.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_CONFIG_COLON_H
#define WR_RULES_CONFIG_COLON_H

#include <stddef.h>

#include "base/str.h"
#include "rules/config_keys.h"
#include "rules/config_tree.h"

#define WR_CONFIG_COLON_HINT_SIZE 96

/* The key that `text` begins with, behind blanks and dashes, when it goes on with a colon and then
 * no blank; WR_KEY_COUNT when it does not. */
enum wr_config_key wr_config_colon_key(struct wr_str text);

/* What to tell about `node`, which should be a map or a key: that a blank is missing, which is put
 * into `hint`, or else `otherwise`. */
const char *wr_config_colon_hint(const struct wr_config_node *node, const char *otherwise,
                                 char hint[WR_CONFIG_COLON_HINT_SIZE]);

/* The same of a whole text that YAML cannot make out: of the first line at `line`, counted from 0,
 * or of the last one before it that has more than a comment; NULL: there is nothing to tell. */
const char *wr_config_colon_hint_at(struct wr_str text, size_t line,
                                    char hint[WR_CONFIG_COLON_HINT_SIZE]);

#endif
