/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/level_wildcards.h"

#include <criterion/criterion.h>

#include "rules/pair_table.h"
#include "tests/unit/rules/texts.h"

struct row {
    const char *key, *value;
    int want; /* which node; -1: none */
};

static void assert_found(const struct wr_node *nodes, size_t n, const struct row *rows,
                         size_t n_rows)
{
    const struct wr_node *pointers[16];
    const struct wr_level_wildcards *wildcards = NULL;
    struct wr_hash_key hash_key;
    struct wr_arena arena;

    wr_arena_init(&arena, 4096);
    cr_assert_eq(wr_hash_key_draw(&hash_key), WR_OK);
    for (size_t i = 0; i < n; i++) {
        pointers[i] = &nodes[i];
    }
    cr_assert(wr_level_wildcards_build(&arena, &hash_key, pointers, n, &wildcards));
    for (size_t i = 0; i < n_rows; i++) {
        const struct wr_entry entry = entry_of(rows[i].key, rows[i].value);
        const struct wr_node *const found =
            wr_level_wildcards_find(wildcards, wr_pair_hash_first(&hash_key, entry.key), &entry);

        cr_assert_eq(found == NULL ? -1 : (int) (found - nodes), rows[i].want, "row %zu", i);
    }
    wr_arena_fini(&arena);
}

Test(level_wildcards, keys_are_kept_apart)
{
    static const struct wr_node nodes[] = {
        {.key = WR_STR("a"), .value = WR_STR("x*")},
        {.key = WR_STR("b"), .value = WR_STR("*")},
        {.key = WR_STR("a"), .value = WR_STR("*")},
    };
    static const struct row rows[] = {
        {"a", "xy", 0}, {"b", "xy", 1}, {"a", "y", 2}, {"a", "", 2}, {"c", "xy", -1},
    };

    assert_found(nodes, 3, rows, sizeof rows / sizeof rows[0]);
}

Test(level_wildcards, patterns_in_keys_and_in_values_share_one_order)
{
    static const struct wr_node nodes[] = {
        {.key = WR_STR("ab*"), .value = WR_STR("v")},
        {.key = WR_STR("abc"), .value = WR_STR("v*")},
        {.key = WR_STR("a*")},
        {.key = WR_STR("abc"), .value = WR_STR("*")},
        {.key = WR_STR("*"), .value = WR_STR("*z")},
    };
    static const struct row rows[] = {
        {"abc", "v", 0}, {"abc", "vw", 1}, {"abc", "w", 2}, {"abd", "v", 0},
        {"ax", "", 2},   {"b", "yz", 4},   {"b", "y", -1},
    };

    assert_found(nodes, 5, rows, sizeof rows / sizeof rows[0]);
}

Test(level_wildcards, none_is_no_table)
{
    const struct wr_level_wildcards *wildcards = (const void *) "";
    struct wr_hash_key hash_key = {{0}};
    struct wr_arena arena;

    wr_arena_init(&arena, 4096);
    cr_assert(wr_level_wildcards_build(&arena, &hash_key, NULL, 0, &wildcards));
    cr_assert_null(wildcards);
    wr_arena_fini(&arena);
}
