/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warns of what is legal and hardly meant: limits that are never found, that take each other away,
 * that take others away while they are on trial themselves, that replace a name which no limit has,
 * or that refuse everybody for want of a number.
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

/* Beyond so much work, about in patterns held against others, rules that are never found draw no
 * warning any more. */
#define WR_DOUBTS_MAX_WORK 25000000

/*
 * Looks at `n` drafts that are good in themselves, in the order in which they are put together;
 * with `merges_domains` those of one domain are looked at together. Domains without a fresh draft
 * were looked at before and are passed over; the others draw all their warnings (again), and
 * `has_warning` of their drafts says whether there was one. False when memory is out.
 */
WR_MUST_USE bool wr_drafts_doubt(struct wr_draft *const *drafts, size_t n, bool merges_domains,
                                 struct wr_diag *diag);

#endif
