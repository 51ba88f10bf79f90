/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One domain that is looked at for doubts, and what its checks have in common. Private to doubts.c,
 * reach_check.c and replace_check.c.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_DOUBT_PASS_H
#define WR_RULES_DOUBT_PASS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/hash.h"
#include "rules/check.h"
#include "rules/draft.h"
#include "rules/draft_order.h"
#include "rules/rule_path.h"

#define WR_DOUBT_PLACE_SIZE 512

/* One draft for itself, or the drafts of one domain against each other: then the check is
 * `is_between`, and what a draft says without the others is passed over. */
struct wr_doubt_pass {
    struct wr_check *check;
    struct wr_arena *arena; /* for as long as the domain is looked at */
    struct wr_hash_key hash_key;
    const struct wr_draft_place *drafts;
    size_t n_drafts;
    size_t *work; /* of all domains */
    bool merges_domains;
};

/* A rule and the draft that it is from. */
struct wr_doubt_rule {
    const struct wr_draft_rule *rule;
    struct wr_draft *draft;
};

#endif
