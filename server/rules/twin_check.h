/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns of a limit in a list of which one before it would do, or the other way round: they count
 * the same hits the same way, and one of them refuses whatever the other does. Private to
 * limit_check.c.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_TWIN_CHECK_H
#define WR_RULES_TWIN_CHECK_H

#include <stddef.h>

#include "rules/draft.h"
#include "rules/limit_pass.h"

/* Compares the limit of `pass`, which is at `index` of `limits`, with those before it. */
void wr_twin_check(const struct wr_limit_pass *pass, const struct wr_draft_limits *limits,
                   size_t index);

#endif
