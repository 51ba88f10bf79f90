/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drafts side by side by domain, each domain's in their order.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_DRAFT_ORDER_H
#define WR_RULES_DRAFT_ORDER_H

#include <stddef.h>

#include "rules/draft.h"

/* A draft and its place among all. */
struct wr_draft_place {
    struct wr_draft *draft;
    size_t index;
};

/* Those of `n` drafts that are not broken, for the caller to free; NULL when memory is out. */
struct wr_draft_place *wr_draft_order_of(struct wr_draft *const *drafts, size_t n, size_t *out_n);

/* How many of `n` sorted ones, one at least, are of the domain of the first. */
size_t wr_draft_order_count(const struct wr_draft_place *places, size_t n);

#endif
