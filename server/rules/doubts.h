/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns of what is legal and hardly meant: limits that are never found, that take each other away,
 * that take others away while they are on trial themselves, that replace a name which no limit has,
 * or that are 0 for want of a number; and of addresses that do not count as such.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_DOUBTS_H
#define WR_RULES_DOUBTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/err.h"
#include "rules/draft.h"

/* For so much work rules are looked for that are never found, about in short patterns held against
 * others; a rule that would go beyond is passed over. */
#define WR_DOUBTS_MAX_WORK 25000000

/* Looks at a draft that is good in itself, whatever others say, and marks it with a warning when it
 * draws one. With `merges_domains` a name that it lacks may be another's. False when memory is out.
 */
WR_MUST_USE bool wr_draft_doubt(struct wr_draft *draft, bool merges_domains, struct wr_diag *diag);

/*
 * Looks at `n` drafts that agree with each other and may share domains, in the order in which they
 * are put together, for what only several of them together make doubtful, and marks none: which of
 * them came first must not decide which stays. Domains without a fresh draft were looked at before
 * and are passed over; the others draw all their warnings (again). False when memory is out.
 */
WR_MUST_USE bool wr_drafts_doubt(struct wr_draft *const *drafts, size_t n, struct wr_diag *diag);

#endif
