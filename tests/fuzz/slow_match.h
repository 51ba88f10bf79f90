/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching as slow and as obvious as it gets, for comparison: every rule of a level is looked at,
 * and a pattern is compared cell by cell.
 *
 * Threads: pure functions.
 */
#ifndef WR_TESTS_FUZZ_SLOW_MATCH_H
#define WR_TESTS_FUZZ_SLOW_MATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "rules/draft.h"
#include "rules/entry.h"

/* Longer texts are not compared with patterns. */
#define SLOW_TEXT_MAX 512

/* True when `text`, of SLOW_TEXT_MAX bytes at most, fits `pattern`, in which each '*' stands for
 * any text. */
bool slow_match_text(struct wr_str pattern, struct wr_str text);

/* The rule that the last of `n` > 0 entries, of as short texts, matches, each among the children of
 * the one before; NULL when one matches nothing. */
const struct wr_draft_rule *slow_match_rules(const struct wr_draft_rule *rules, size_t n_rules,
                                             const struct wr_entry *entries, size_t n);

#endif
