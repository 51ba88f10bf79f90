/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of limits that stand or fall together where the store may have the counters of one
 * request apart, as in a cluster under names that have no common slot: each is judged by itself.
 * It is nothing that rules alone show.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_SLOT_DOUBT_H
#define WR_RULES_SLOT_DOUBT_H

#include "base/diag.h"
#include "rules/rules.h"

/* Warns, where the rules have such limits, and names the first. */
void wr_slot_doubt_note(const struct wr_rules *rules, struct wr_diag *diag);

/* The same in the log. */
void wr_slot_doubt_log(const struct wr_rules *rules);

#endif
