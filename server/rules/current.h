/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The snapshot in force, published by whoever loads rules and looked at by workers. A worker keeps
 * a view, its own reference, and renews it only when the generation has moved: no counter is shared
 * a request.
 *
 * Threads: publish from one thread at a time, a view by its owner thread only.
 */
#ifndef WR_RULES_CURRENT_H
#define WR_RULES_CURRENT_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/lock.h"
#include "rules/rules.h"

struct wr_current_rules {
    _Atomic uint64_t generation; /* of `rules`; 0: none yet. Released after rules is set */
    struct wr_mutex mutex;
    /* guarded by mutex */
    struct wr_rules *rules; /* owned reference; NULL: none yet */
};

struct wr_rules_view {
    uint64_t generation;
    struct wr_rules *rules; /* owned reference; NULL: none yet */
};

void wr_current_rules_init(struct wr_current_rules *current);

void wr_current_rules_fini(struct wr_current_rules *current);

/* Puts `*rules` in force; takes over the caller's reference and nulls it. */
void wr_current_rules_publish(struct wr_current_rules *current, struct wr_rules **rules);

/* The snapshot in force as `view` sees it, renewed when needed; NULL when there is none yet. Valid
 * until the next renewal of this view, or longer by wr_rules_acquire. */
struct wr_rules *wr_rules_view_renew(struct wr_rules_view *view, struct wr_current_rules *current);

/* Gives the view's reference back. */
void wr_rules_view_fini(struct wr_rules_view *view);

#endif
