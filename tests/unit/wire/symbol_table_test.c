/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/symbol_table.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "tests/unit/wire/failing_sweep.h"

static const struct wr_str no_scope = {NULL, 0};

Test(symbol_table, finds_nothing_when_empty)
{
    struct wr_symbol_table table = {.n = 0};

    wr_symbol_table_sort(&table);
    cr_assert_null(wr_symbol_table_find(&table, wr_str_of("")));
    cr_assert_null(wr_symbol_table_find(&table, wr_str_of("a")));
}

Test(symbol_table, joins_scope_and_name_with_a_dot)
{
    const struct wr_symbol message = {.name = WR_STR("M"), .file = 7, .kind = WR_SYMBOL_MESSAGE};
    const struct wr_symbol field = {.name = WR_STR("f"), .file = 7, .kind = WR_SYMBOL_OTHER};
    struct wr_symbol_table table = {.n = 0};
    struct wr_str full = {NULL, 0};
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    cr_assert(wr_symbol_table_add(&table, &arena, wr_str_of("a.b"), &message, &full));
    cr_assert(wr_str_equal(full, wr_str_of("a.b.M")));
    cr_assert(wr_symbol_table_add(&table, &arena, full, &field, NULL));
    cr_assert(wr_symbol_table_add(&table, &arena, no_scope, &message, &full));
    cr_assert(wr_str_equal(full, wr_str_of("M")));
    wr_symbol_table_sort(&table);

    const struct wr_symbol *const found = wr_symbol_table_find(&table, wr_str_of("a.b.M.f"));

    cr_assert_not_null(found);
    cr_assert_eq(found->file, 7);
    cr_assert_eq(found->kind, WR_SYMBOL_OTHER);
    cr_assert_not_null(wr_symbol_table_find(&table, wr_str_of("M")));
    cr_assert_null(wr_symbol_table_find(&table, wr_str_of("f")));
    cr_assert_null(wr_symbol_table_find(&table, wr_str_of("a.b")));
    wr_arena_fini(&arena);
}

/* Adds 1000 names, the last first. */
static bool fill(struct wr_symbol_table *table, struct wr_arena *arena)
{
    for (size_t i = 1000; i-- > 0;) {
        char name[8];
        const int n = snprintf(name, sizeof name, "s%03zu", i);
        const struct wr_symbol symbol = {.name = {.ptr = name, .len = (size_t) n}, .file = i};

        if (!wr_symbol_table_add(table, arena, no_scope, &symbol, NULL)) {
            return false;
        }
    }
    wr_symbol_table_sort(table);
    return true;
}

Test(symbol_table, finds_each_of_many)
{
    struct wr_symbol_table table = {.n = 0};
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    cr_assert(fill(&table, &arena));
    cr_assert_eq(table.n, 1000);
    for (size_t i = 0; i < table.n; i++) {
        cr_assert_eq(table.symbols[i].file, i);
        cr_assert_eq(wr_symbol_table_find(&table, table.symbols[i].name), &table.symbols[i]);
    }
    wr_arena_fini(&arena);
}

static bool fill_new(struct wr_arena *arena, const void *context)
{
    struct wr_symbol_table table = {.n = 0};

    (void) context;
    return fill(&table, arena);
}

Test(symbol_table, says_so_when_memory_is_out_at_any_allocation)
{
    cr_assert_gt(failing_sweep(fill_new, NULL), 1000);
}
