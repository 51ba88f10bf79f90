/* SPDX-License-Identifier: Apache-2.0 */
#include "base/value.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"

static struct wr_arena arena;

static void begin(void)
{
    wr_arena_init(&arena, 1024);
}

static void end(void)
{
    wr_arena_fini(&arena);
}

#define NUMBER(n)                                                                                  \
    {                                                                                              \
        .kind = WR_VALUE_NUMBER, .as.number = (n)                                                  \
    }
#define MAP(m)                                                                                     \
    {                                                                                              \
        .kind = WR_VALUE_MAP, .as.map = {(m), sizeof(m) / sizeof((m)[0]) }                         \
    }

static double number_at(const struct wr_value *map, const char *key)
{
    const struct wr_value *const value = wr_value_get(map, wr_str_of(key));

    cr_assert_not_null(value, "no %s", key);
    cr_assert_eq(value->kind, WR_VALUE_NUMBER);
    return value->as.number;
}

static const struct wr_value_member inner_a[] = {
    {WR_STR("x"), NUMBER(1)},
    {WR_STR("y"), NUMBER(2)},
};
static const struct wr_value_member inner_b[] = {
    {WR_STR("y"), NUMBER(20)},
    {WR_STR("z"), NUMBER(30)},
};
static const struct wr_value_member members_a[] = {
    {WR_STR("only_a"), NUMBER(1)},
    {WR_STR("both"), NUMBER(2)},
    {WR_STR("maps"), MAP(inner_a)},
    {WR_STR("map_and_number"), MAP(inner_a)},
};
static const struct wr_value_member members_b[] = {
    {WR_STR("both"), NUMBER(20)},
    {WR_STR("only_b"), NUMBER(30)},
    {WR_STR("maps"), MAP(inner_b)},
    {WR_STR("map_and_number"), NUMBER(40)},
};
static const struct wr_value a = MAP(members_a), b = MAP(members_b);
static const struct wr_value empty = {.kind = WR_VALUE_MAP};

static bool merge(const struct wr_value *x, const struct wr_value *y, struct wr_value *out_merged)
{
    return wr_value_merge(&arena, (const struct wr_value *const[]){x, y}, 2, out_merged);
}

Test(value, get_finds_a_key_of_a_map_and_nothing_else)
{
    const struct wr_value number = NUMBER(1);

    cr_assert_eq(number_at(&a, "both"), 2.0);
    cr_assert_null(wr_value_get(&a, wr_str_of("bot")));
    cr_assert_null(wr_value_get(&empty, wr_str_of("both")));
    cr_assert_null(wr_value_get(&number, wr_str_of("both")));
}

Test(value, a_merge_is_the_union_and_the_first_wins, .init = begin, .fini = end)
{
    struct wr_value merged;

    cr_assert(merge(&a, &b, &merged));
    cr_assert_eq(merged.as.map.n, 5u);
    cr_assert_eq(number_at(&merged, "only_a"), 1.0);
    cr_assert_eq(number_at(&merged, "both"), 2.0);
    cr_assert_eq(number_at(&merged, "only_b"), 30.0);
}

Test(value, maps_in_both_are_merged_in_their_turn, .init = begin, .fini = end)
{
    struct wr_value merged;

    cr_assert(merge(&a, &b, &merged));

    const struct wr_value *const maps = wr_value_get(&merged, wr_str_of("maps"));

    cr_assert_not_null(maps);
    cr_assert_eq(maps->as.map.n, 3u);
    cr_assert_eq(number_at(maps, "x"), 1.0);
    cr_assert_eq(number_at(maps, "y"), 2.0);
    cr_assert_eq(number_at(maps, "z"), 30.0);
    cr_assert_eq(wr_value_get(&merged, wr_str_of("map_and_number"))->kind, WR_VALUE_MAP);
}

Test(value, a_merge_changes_neither, .init = begin, .fini = end)
{
    struct wr_value merged;

    cr_assert(merge(&a, &b, &merged));
    cr_assert_eq(a.as.map.n, 4u);
    cr_assert_eq(wr_value_get(&a, wr_str_of("maps"))->as.map.n, 2u);
    cr_assert_eq(wr_value_get(&b, wr_str_of("maps"))->as.map.n, 2u);
}

Test(value, a_merge_with_an_empty_map_is_the_other, .init = begin, .fini = end)
{
    struct wr_value merged;

    cr_assert(merge(&a, &empty, &merged));
    cr_assert_eq(merged.as.map.n, 4u);
    cr_assert(merge(&empty, &b, &merged));
    cr_assert_eq(merged.as.map.n, 4u);
    cr_assert(merge(&empty, &empty, &merged));
    cr_assert_eq(merged.as.map.n, 0u);
}

Test(value, a_merge_without_memory_fails_whichever_allocation_it_is)
{
    size_t n_failed = 0;

    for (;; n_failed++) {
        struct wr_value merged;

        /* Each map of a merge is larger than the chunk it finds. */
        wr_arena_init(&arena, 16);
        failing_malloc_start(n_failed);

        const bool is_merged = merge(&a, &b, &merged);

        failing_malloc_stop();
        wr_arena_fini(&arena);
        if (is_merged) {
            break;
        }
    }
    cr_assert_geq(n_failed, 1u);
}

Test(value, many_maps_merge_in_order_and_a_map_is_not_merged_into_a_number, .init = begin,
     .fini = end)
{
    static const struct wr_value_member number[] = {{WR_STR("k"), NUMBER(9)}};
    static const struct wr_value_member map_a[] = {{WR_STR("k"), MAP(inner_a)}};
    static const struct wr_value_member map_b[] = {{WR_STR("k"), MAP(inner_b)}};
    static const struct wr_value n = MAP(number), x = MAP(map_a), y = MAP(map_b);
    struct wr_value merged;

    cr_assert(wr_value_merge(&arena, (const struct wr_value *const[]){&x, &n, &y}, 3, &merged));
    cr_assert_eq(merged.as.map.n, 1);

    const struct wr_value *const inner = wr_value_get(&merged, wr_str_of("k"));

    cr_assert_eq(inner->as.map.n, 3);
    cr_assert_eq((int) number_at(inner, "y"), 2);
    cr_assert_eq((int) number_at(inner, "z"), 30);
    cr_assert(wr_value_merge(&arena, (const struct wr_value *const[]){&n, &x, &y}, 3, &merged));
    cr_assert_eq((int) number_at(&merged, "k"), 9);
}

Test(value, a_copy_holds_the_same_and_borrows_nothing, .init = begin, .fini = end)
{
    char key[] = "key", text[] = "text";
    struct wr_value items[] = {
        {.kind = WR_VALUE_STRING, .as.string = {text, 4}}, {.kind = WR_VALUE_NULL}, NUMBER(5)};
    const struct wr_value_member members[] = {
        {{key, 3}, {.kind = WR_VALUE_LIST, .as.list = {items, 3}}},
        {WR_STR("on"), {.kind = WR_VALUE_BOOL, .as.boolean = true}}};
    const struct wr_value map = MAP(members);
    struct wr_value copy;

    cr_assert(wr_value_copy(&arena, &map, &copy));
    key[0] = text[0] = '?';
    items[2].as.number = 6;

    const struct wr_value *const list = wr_value_get(&copy, wr_str_of("key"));

    cr_assert_not_null(list);
    cr_assert_eq(list->as.list.n, 3u);
    cr_assert(wr_str_equal(list->as.list.items[0].as.string, wr_str_of("text")));
    cr_assert_eq(list->as.list.items[1].kind, WR_VALUE_NULL);
    cr_assert_eq((int) list->as.list.items[2].as.number, 5);
    cr_assert(wr_value_get(&copy, wr_str_of("on"))->as.boolean);
}
