/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a limit makes sense: its numbers, its words, which of its keys go together.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_LIMIT_CHECK_H
#define WR_RULES_LIMIT_CHECK_H

#include <stddef.h>

#include "rules/check.h"
#include "rules/draft.h"

/* The longest name, in bytes: it goes into each answer, once a descriptor. */
#define WR_LIMIT_NAME_MAX 255

/* The most layers on one node. */
#define WR_LAYERS_MAX 16

/* Checks the limit at `index` of those of one rule, for itself and against those before it. */
void wr_limit_check(struct wr_check *check, const struct wr_check_subject *of_rule,
                    const struct wr_draft_limits *limits, size_t index);

#endif
