/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A set of texts for the length of one call: which were seen already. For texts that an operator
 * wrote, or bytes of our own; its hash is not keyed.
 *
 * Threads: owner thread only.
 */
#ifndef WR_BASE_STR_SET_H
#define WR_BASE_STR_SET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

struct wr_str_set {
    const struct wr_str **slots; /* in the arena; NULL: free */
    size_t mask;                 /* slots less one; 0: no set */
    size_t n, max;
};

/* Room for `max` texts, all in `arena`. False when memory is out. */
bool wr_str_set_init(struct wr_str_set *set, struct wr_arena *arena, size_t max);

/* True when `*text`, which is borrowed, was not in the set and now is. No more than `max` times. */
bool wr_str_set_add(struct wr_str_set *set, const struct wr_str *text);

bool wr_str_set_has(const struct wr_str_set *set, struct wr_str text);

#endif
