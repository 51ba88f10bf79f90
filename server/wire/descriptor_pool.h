/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking up in a descriptor pool, for answers of reflection; wire/reflection.h has its life.
 *
 * Threads: a pool is immutable once loaded.
 */
#ifndef WR_WIRE_DESCRIPTOR_POOL_H
#define WR_WIRE_DESCRIPTOR_POOL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct wr_descriptor_pool;

enum wr_symbol_kind {
    WR_SYMBOL_MESSAGE,
    WR_SYMBOL_SERVICE,
    WR_SYMBOL_OTHER,
};

struct wr_symbol {
    struct wr_str name; /* fully qualified, without a dot in front */
    size_t file;        /* the number of the file that declares it */
    enum wr_symbol_kind kind;
};

/* From a trusted google.protobuf.FileDescriptorSet, borrowed, whose files come after their imports.
 * WR_ERR_NO_MEMORY, WR_ERR_MALFORMED. */
WR_MUST_USE enum wr_err wr_descriptor_pool_load(struct wr_str set,
                                                struct wr_descriptor_pool **out_pool);

/* False when there is no file of that name. */
bool wr_descriptor_pool_find_file(const struct wr_descriptor_pool *pool, struct wr_str name,
                                  size_t *out_file);

/* NULL when nothing has that name. */
const struct wr_symbol *wr_descriptor_pool_find(const struct wr_descriptor_pool *pool,
                                                struct wr_str name);

/* All symbols, sorted by name. */
const struct wr_symbol *wr_descriptor_pool_symbols(const struct wr_descriptor_pool *pool,
                                                   size_t *out_n);

/* The bytes of `file` and then of all that it imports, directly or not, each once; the array is in
 * `arena`. NULL when memory is out. */
const struct wr_str *wr_descriptor_pool_closure(const struct wr_descriptor_pool *pool, size_t file,
                                                struct wr_arena *arena, size_t *out_n);

#endif
