/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that a call matched, each once: what a caller can repeat a thousand times in one
 * request is looked at once.
 *
 * Threads: pure function; the arena belongs to the calling thread.
 */
#ifndef WR_SERVICE_DISTINCT_RULES_H
#define WR_SERVICE_DISTINCT_RULES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "rules/rules.h"

/* The `n` rules without NULLs and repetitions, in order of their first place, into `out_rules`,
 * which has room for n. False when memory is out. */
bool wr_distinct_rules(struct wr_arena *arena, const struct wr_rule *const *rules, size_t n,
                       const struct wr_rule **out_rules, size_t *out_n);

#endif
