/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --stop-increment-when-over-limit does to limits that may be over without refusing their
 * request: the request is admitted, and its other limits are not charged, so that they may never
 * fill. It is the incumbent's meaning, and nothing that rules alone show.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_STOP_DOUBT_H
#define WR_RULES_STOP_DOUBT_H

#include "base/diag.h"
#include "rules/rules.h"

/* Warns, where the rules have such limits, and names the first. */
void wr_stop_doubt_note(const struct wr_rules *rules, struct wr_diag *diag);

/* The same in the log. */
void wr_stop_doubt_log(const struct wr_rules *rules);

#endif
