/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of protobuf declarations, each with the file that it is in: first all are added, then it is
 * sorted, then names are found.
 *
 * Threads: owner thread only until sorted, immutable from then on.
 */
#ifndef WR_WIRE_SYMBOL_TABLE_H
#define WR_WIRE_SYMBOL_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/str.h"

enum wr_symbol_kind {
    WR_SYMBOL_MESSAGE,
    WR_SYMBOL_SERVICE,
    WR_SYMBOL_OTHER,
};

struct wr_symbol {
    struct wr_str name; /* fully qualified, without a dot in front */
    size_t file;        /* number of the file that declares it */
    enum wr_symbol_kind kind;
};

/* All zero: empty. */
struct wr_symbol_table {
    struct wr_symbol *symbols; /* in the arena that they were added with */
    size_t n, room;
};

/* Adds `symbol` with a copy of its name in front of which stand `scope` and a dot, unless the scope
 * is empty. `*out_name`, which may be NULL, is the whole name. False when memory is out. */
bool wr_symbol_table_add(struct wr_symbol_table *table, struct wr_arena *arena, struct wr_str scope,
                         const struct wr_symbol *symbol, struct wr_str *out_name);

void wr_symbol_table_sort(struct wr_symbol_table *table);

/* Of a sorted table; NULL when nothing has that name. */
const struct wr_symbol *wr_symbol_table_find(const struct wr_symbol_table *table,
                                             struct wr_str name);

#endif
