/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values of the grammar out of nodes: texts, numbers, switches, words out of a few. What
 * does not fit is noted.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFIG_TEXT_H
#define WR_RULES_CONFIG_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "rules/config_keys.h"
#include "rules/config_reader.h"
#include "rules/draft.h"
#include "rules/policy.h"

/* The text of `node` as it is spelt, empty for null; false when it is no text, which is noted under
 * the name `key`. */
bool wr_config_text(struct wr_config_reader *reader, const struct wr_config_node *node,
                    enum wr_config_key key, const struct wr_rule_path *path,
                    struct wr_str *out_text);

/* The letters of `node` whatever they mean, and its place; absent for null. */
bool wr_config_word(struct wr_config_reader *reader, const struct wr_config_node *node,
                    enum wr_config_key key, const struct wr_rule_path *path,
                    struct wr_draft_text *out_word);

/* A switch, off for null. */
bool wr_config_switch(struct wr_config_reader *reader, const struct wr_config_node *node,
                      enum wr_config_key key, const struct wr_rule_path *path, bool *out_is_on);

/* A whole number of 32 bits, 0 for null; one that is not spelt in plain digits draws a warning. */
bool wr_config_number(struct wr_config_reader *reader, const struct wr_config_node *node,
                      enum wr_config_key key, const struct wr_rule_path *path,
                      uint32_t *out_number);

/* The same with its place; not set for null. */
bool wr_config_placed_number(struct wr_config_reader *reader, const struct wr_config_node *node,
                             enum wr_config_key key, const struct wr_rule_path *path,
                             struct wr_draft_number *out_number);

/* The word of `count`, which policy goes without for null. */
bool wr_config_count(struct wr_config_reader *reader, const struct wr_config_node *node,
                     const struct wr_rule_path *path, struct wr_policy *policy);

/* The word of `failure_mode`, which policy goes without for null. */
bool wr_config_failure_mode(struct wr_config_reader *reader, const struct wr_config_node *node,
                            const struct wr_rule_path *path, struct wr_policy *policy);

/* True when `node` is a scalar and null. */
bool wr_config_is_null(const struct wr_config_node *node);

/* A value that may stand anywhere outside metadata: any scalar but a fraction, a whole number above
 * 64 bits and one that is not what its tag says. */
bool wr_config_is_allowed(struct wr_config_reader *reader, const struct wr_config_node *scalar,
                          enum wr_config_key key, const struct wr_rule_path *path);

#endif
