/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns of rules that are never found: whatever fits them fits another rule of their level, which
 * goes before them. Private to doubts.c.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_REACH_CHECK_H
#define WR_RULES_REACH_CHECK_H

#include <stdbool.h>

#include "rules/doubt_pass.h"

/* Looks at the `n` rules of one level, in order of declaration, below `parent`. False when memory
 * is out. */
bool wr_reach_check(const struct wr_doubt_pass *pass, const struct wr_doubt_rule *rules, size_t n,
                    const struct wr_rule_path *parent);

#endif
