/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns of a limit in a list that warms up, and falls back to where it begins while a caller waits
 * for another limit of the list: then the wait that was told may be too short. Private to
 * limit_check.c.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_IDLE_CHECK_H
#define WR_RULES_IDLE_CHECK_H

#include <stddef.h>

#include "rules/draft.h"
#include "rules/limit_pass.h"

/* Compares the limit of `pass`, which is at `index` of `limits`, with all others. */
void wr_idle_check(const struct wr_limit_pass *pass, const struct wr_draft_limits *limits,
                   size_t index);

#endif
