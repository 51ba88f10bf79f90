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
#include "wire/symbol_table.h"

struct wr_descriptor_pool;

/* From a trusted google.protobuf.FileDescriptorSet, borrowed, whose files come after their imports.
 * WR_ERR_NO_MEMORY, WR_ERR_MALFORMED. */
WR_MUST_USE enum wr_err wr_descriptor_pool_load(struct wr_str set,
                                                struct wr_descriptor_pool **out_pool);

/* False when there is no file of that name. */
bool wr_descriptor_pool_find_file(const struct wr_descriptor_pool *pool, struct wr_str name,
                                  size_t *out_file);

/* All that the files declare, sorted. */
const struct wr_symbol_table *wr_descriptor_pool_symbols(const struct wr_descriptor_pool *pool);

/* The bytes of `file` and then of all that it imports, directly or not, each once; the array is in
 * `arena`. NULL when memory is out. */
const struct wr_str *wr_descriptor_pool_closure(const struct wr_descriptor_pool *pool, size_t file,
                                                struct wr_arena *arena, size_t *out_n);

#endif
