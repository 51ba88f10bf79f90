/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct wr_arena_chunk {
    struct wr_arena_chunk *next;
    size_t size; /* of data, bytes */
    alignas(max_align_t) unsigned char data[];
};

#define ALIGNMENT alignof(max_align_t)

void wr_arena_init(struct wr_arena *arena, size_t first_size)
{
    *arena = (struct wr_arena){.first_size = first_size};
}

static void free_chunks(struct wr_arena_chunk *chunk)
{
    while (chunk != NULL) {
        struct wr_arena_chunk *const next = chunk->next;

        free(chunk);
        chunk = next;
    }
}

void wr_arena_fini(struct wr_arena *arena)
{
    free_chunks(arena->first);
    wr_arena_init(arena, arena->first_size);
}

void wr_arena_reset(struct wr_arena *arena)
{
    if (arena->first == NULL) {
        return;
    }
    if (arena->first->size > arena->first_size) {
        wr_arena_fini(arena);
        return;
    }
    free_chunks(arena->first->next);
    arena->first->next = NULL;
    arena->last = arena->first;
    arena->used = 0;
    arena->total_size = arena->first->size;
}

/* A new last chunk that holds at least `size`; the first has its set size unless that is too small,
 * later ones double what there is. */
static bool add_chunk(struct wr_arena *arena, size_t size)
{
    const size_t wish = arena->first == NULL ? arena->first_size : arena->total_size;
    const size_t room = size > wish ? size : wish;

    if (room > SIZE_MAX - sizeof(struct wr_arena_chunk)) {
        return false;
    }

    struct wr_arena_chunk *const chunk = malloc(sizeof *chunk + room);

    if (chunk == NULL) {
        return false;
    }
    chunk->next = NULL;
    chunk->size = room;
    if (arena->last == NULL) {
        arena->first = chunk;
    } else {
        arena->last->next = chunk;
    }
    arena->last = chunk;
    arena->used = 0;
    arena->total_size += room;
    return true;
}

void *wr_arena_alloc(struct wr_arena *arena, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }

    const size_t need = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;

    if (arena->last == NULL || need > arena->last->size - arena->used) {
        if (!add_chunk(arena, need)) {
            return NULL;
        }
    }

    void *const memory = arena->last->data + arena->used;

    arena->used += need;
    return memory;
}

void *wr_arena_calloc(struct wr_arena *arena, size_t n, size_t size)
{
    if (size != 0 && n > SIZE_MAX / size) {
        return NULL;
    }

    void *const memory = wr_arena_alloc(arena, n * size);

    if (memory != NULL) {
        memset(memory, 0, n * size);
    }
    return memory;
}

bool wr_arena_copy(struct wr_arena *arena, struct wr_str text, struct wr_str *out)
{
    char *const copy = wr_arena_alloc(arena, text.len);

    if (copy == NULL) {
        return false;
    }
    if (text.len > 0) {
        memcpy(copy, text.ptr, text.len);
    }
    *out = (struct wr_str){.ptr = copy, .len = text.len};
    return true;
}
