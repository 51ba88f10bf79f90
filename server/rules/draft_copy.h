/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A draft on its own, without what it was parsed from: what is kept of a file while its rules are
 * in force, and a fraction of what parsing took.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_DRAFT_COPY_H
#define WR_RULES_DRAFT_COPY_H

#include <stdbool.h>

#include "base/arena.h"
#include "rules/draft.h"

/* Copies a draft of one file with all it holds into `arena`; places lose their spots, which only
 * drafts of messages have. False when memory is out. */
bool wr_draft_copy(struct wr_arena *arena, const struct wr_draft *draft, struct wr_draft *out_copy);

#endif
