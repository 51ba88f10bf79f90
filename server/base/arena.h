/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bump allocator for what lives as long as one call, or one snapshot: nothing is freed alone,
 * all at once by reset or fini. A reset keeps the first chunk, so that a warmed-up arena allocates
 * nothing, and gives the others back, so that one giant does not stay for ever; a first chunk that
 * was made larger for a giant goes too.
 *
 * Invariant: memory handed out stays in place until reset or fini.
 * Threads: owner thread only.
 */
#ifndef WR_BASE_ARENA_H
#define WR_BASE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct wr_arena_chunk;

struct wr_arena {
    struct wr_arena_chunk *first; /* owned; kept by reset */
    struct wr_arena_chunk *last;
    size_t used;       /* of the last chunk, bytes */
    size_t first_size; /* bytes of the first chunk, taken at the first allocation */
    size_t total_size; /* bytes of all chunks */
};

/* An empty arena whose first chunk, allocated at first use, holds `first_size` bytes. */
void wr_arena_init(struct wr_arena *arena, size_t first_size);

void wr_arena_fini(struct wr_arena *arena);

/* Forgets all that was handed out. */
void wr_arena_reset(struct wr_arena *arena);

/* `size` bytes aligned for any type, not cleared; NULL when memory is out. Size 0 is not NULL. */
void *wr_arena_alloc(struct wr_arena *arena, size_t size);

/* `n` × `size` bytes, cleared; NULL when memory is out or the product overflows. */
void *wr_arena_calloc(struct wr_arena *arena, size_t n, size_t size);

/* Copies `text` into `*out`; false when memory is out. */
bool wr_arena_copy(struct wr_arena *arena, struct wr_str text, struct wr_str *out);

#endif
