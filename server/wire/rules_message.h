/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules from the bytes of a ratelimit.config.ratelimit.v3.RateLimitConfig, what a control plane
 * sends for one domain, as a draft for the same checks that rule files go through. In place of line
 * and column its notes have the fields that lead to the spot, in Weir's bounds.
 *
 * Threads: pure functions; the arena belongs to the calling thread.
 */
#ifndef WR_WIRE_RULES_MESSAGE_H
#define WR_WIRE_RULES_MESSAGE_H

#include "base/arena.h"
#include "base/diag.h"
#include "base/str.h"
#include "rules/config_yaml.h"
#include "rules/draft.h"

/*
 * Reads `message` into `*out_draft`, all of it in `arena`, texts borrowed from the bytes; its
 * source is "resource NAME", by wr_rules_message_name. A descriptor, a limit, an entry of
 * `replaces`, a value in `metadata` and every other field of them counts as one of max_nodes.
 * Fields that Weir does not know draw a warning each. What is wrong goes to `diag`; with an error
 * the draft comes back refused, still with its domain where it has one.
 */
void wr_rules_message_read(struct wr_str message, const struct wr_config_bounds *bounds,
                           struct wr_arena *arena, struct wr_diag *diag,
                           struct wr_draft *out_draft);

/* The `name` of such a message, without one its `domain`, and empty without either; of a malformed
 * one what comes first. */
struct wr_str wr_rules_message_name(struct wr_str message);

#endif
