/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patterns found by what they begin with, and among those by what they end with, so that a text is
 * held against the few patterns that may fit it and not against all. The first in order of
 * declaration wins, as it does without an index.
 *
 * Threads: immutable once built.
 */
#ifndef WR_RULES_WILDCARD_INDEX_H
#define WR_RULES_WILDCARD_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

/* A pattern with a '*'. */
struct wr_wildcard {
    struct wr_str pattern; /* borrowed */
    size_t order;          /* of declaration; no two have the same */
    const void *value;     /* borrowed; whose pattern it is */
};

struct wr_affix;

struct wr_wildcard_index {
    const struct wr_affix *prefixes; /* borrowed from the arena, sorted */
    size_t n;
};

/* Builds an index of `n` patterns, which are sorted here and borrowed; all else is in `arena`.
 * False when memory is out. */
bool wr_wildcard_index_build(struct wr_wildcard_index *index, struct wr_arena *arena,
                             struct wr_wildcard *wildcards, size_t n);

/* Whether the pattern of `value` really fits. */
typedef bool (*wr_wildcard_fits_fn)(const void *value, const void *context);

/* The first pattern in order, ahead of `limit`, that may fit `text` and for which `fits` is true;
 * NULL when there is none. */
const struct wr_wildcard *wr_wildcard_index_find(const struct wr_wildcard_index *index,
                                                 struct wr_str text, size_t limit,
                                                 wr_wildcard_fits_fn fits, const void *context);

#endif
