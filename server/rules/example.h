/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds a call that a draft's rules limit, for those who want to see one of them at work.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_EXAMPLE_H
#define WR_RULES_EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "rules/draft.h"
#include "rules/entry.h"

/* What an example has to be. */
struct wr_example_bounds {
    size_t max_entries;
    bool is_typed; /* nobody types control characters */
};

/*
 * A descriptor that meets the first limit of `draft`, in order of the file, that one can be made
 * for; one whose rule has another that goes before it, or is out of `bounds`, is passed over.
 * `entries` has room for as many as there may be; texts are borrowed from the draft and `arena`.
 * The number of entries; 0: there is none, or memory is out.
 */
size_t wr_example_find(struct wr_draft *draft, const struct wr_example_bounds *bounds,
                       struct wr_arena *arena, struct wr_entry *entries);

#endif
