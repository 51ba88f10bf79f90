/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The identity of a counter, written length-prefixed so that no two differ in meaning and agree in
 * bytes: domain, the matched path, window, alignment, algorithm and layer. The limit's number is no
 * part of it. A pattern stands in place of the value where values share a counter, marked, so that
 * a literal value of the same text is another counter.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_IDENTITY_H
#define WR_RULES_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"
#include "limit/limit.h"
#include "rules/entry.h"
#include "rules/rules.h"

/*
 * Writes the identity into `arena`. `node` is what the last entry matched, or NULL when the limit
 * comes from the request itself: then all values are taken as they are. False when memory is out.
 */
bool wr_identity_write(struct wr_arena *arena, struct wr_str domain, const struct wr_node *node,
                       const struct wr_entry *entries, size_t n, const struct wr_limit *limit,
                       struct wr_str *out_key);

#endif
