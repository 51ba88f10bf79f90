/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/symbol_table.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 256

static bool grow(struct wr_symbol_table *table, struct wr_arena *arena)
{
    const size_t room = table->n == 0 ? FIRST_ROOM : 2 * table->n;
    struct wr_symbol *const grown = wr_arena_calloc(arena, room, sizeof *grown);

    if (grown == NULL) {
        return false;
    }
    if (table->n > 0) {
        memcpy(grown, table->symbols, table->n * sizeof *grown);
    }
    table->symbols = grown;
    table->room = room;
    return true;
}

static bool join(struct wr_arena *arena, struct wr_str scope, struct wr_str name,
                 struct wr_str *out_full)
{
    if (scope.len == 0) {
        return wr_arena_copy(arena, name, out_full);
    }

    char *const text = wr_arena_alloc(arena, scope.len + 1 + name.len);

    if (text == NULL) {
        return false;
    }
    memcpy(text, scope.ptr, scope.len);
    text[scope.len] = '.';
    memcpy(text + scope.len + 1, name.ptr, name.len);
    *out_full = (struct wr_str){.ptr = text, .len = scope.len + 1 + name.len};
    return true;
}

bool wr_symbol_table_add(struct wr_symbol_table *table, struct wr_arena *arena, struct wr_str scope,
                         const struct wr_symbol *symbol, struct wr_str *out_name)
{
    struct wr_symbol added = *symbol;

    if (!join(arena, scope, symbol->name, &added.name) ||
        (table->n == table->room && !grow(table, arena))) {
        return false;
    }
    table->symbols[table->n++] = added;
    if (out_name != NULL) {
        *out_name = added.name;
    }
    return true;
}

static int compare(const void *a, const void *b)
{
    const struct wr_symbol *const left = a;
    const struct wr_symbol *const right = b;

    return wr_str_compare(left->name, right->name);
}

void wr_symbol_table_sort(struct wr_symbol_table *table)
{
    if (table->n > 0) {
        qsort(table->symbols, table->n, sizeof *table->symbols, compare);
    }
}

const struct wr_symbol *wr_symbol_table_find(const struct wr_symbol_table *table,
                                             struct wr_str name)
{
    const struct wr_symbol key = {.name = name};

    return table->n == 0 ? NULL
                         : bsearch(&key, table->symbols, table->n, sizeof *table->symbols, compare);
}
