/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which of the files that are at odds goes on with which version: those in force win over those
 * that change, then the first in order. Who is refused goes on with what it had, which may push out
 * others; who was refused only because of one that is out itself comes in.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_CONFLICTS_H
#define WR_RULES_CONFLICTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/diag.h"
#include "base/err.h"
#include "rules/versions.h"

struct wr_conflicts {
    struct wr_versions **versions; /* borrowed, and each; in the order of the files */
    size_t n;
    struct wr_draft **drafts; /* borrowed; room for as many */
    bool merges_domains;
    struct wr_diag *diag; /* borrowed; errors on what is taken and stays out */
};

/* Beyond so much work, about in rules held against others, those that might come in after all are
 * left waiting. */
#define WR_CONFLICTS_MAX_WORK 5000000

/* From the first choices to those that agree with each other. False when memory is out. */
WR_MUST_USE bool wr_conflicts_settle(const struct wr_conflicts *conflicts);

#endif
