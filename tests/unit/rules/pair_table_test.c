/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/pair_table.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>

static const struct wr_str none = WR_STR("");

struct fixture {
    struct wr_arena arena;
    struct wr_hash_key key;
    struct wr_pair_table table;
};

static void init(struct fixture *fixture, size_t n)
{
    wr_arena_init(&fixture->arena, 1024);
    cr_assert_eq(wr_hash_key_draw(&fixture->key), WR_OK);
    cr_assert(wr_pair_table_init(&fixture->table, &fixture->arena, n));
}

static uint64_t hash(const struct fixture *fixture, struct wr_str first, struct wr_str second)
{
    return wr_pair_hash(&fixture->key, wr_pair_hash_first(&fixture->key, first), second);
}

static void add(struct fixture *fixture, struct wr_str first, struct wr_str second,
                const void *value)
{
    wr_pair_table_add(&fixture->table, hash(fixture, first, second), first, second, value);
}

static const void *find(const struct fixture *fixture, struct wr_str first, struct wr_str second)
{
    return wr_pair_table_find(&fixture->table, hash(fixture, first, second), first, second);
}

Test(pair_table, nothing_is_found_in_an_empty_one)
{
    struct fixture fixture;

    init(&fixture, 0);
    cr_assert_null(find(&fixture, wr_str_of("a"), wr_str_of("b")));
    wr_arena_fini(&fixture.arena);
}

Test(pair_table, the_seam_between_the_two_texts_counts)
{
    static const int first = 1, second = 2, third = 3;
    struct fixture fixture;

    init(&fixture, 3);
    add(&fixture, wr_str_of("a"), wr_str_of("bc"), &first);
    add(&fixture, wr_str_of("ab"), wr_str_of("c"), &second);
    add(&fixture, wr_str_of("abc"), none, &third);
    cr_assert_eq(find(&fixture, wr_str_of("a"), wr_str_of("bc")), &first);
    cr_assert_eq(find(&fixture, wr_str_of("ab"), wr_str_of("c")), &second);
    cr_assert_eq(find(&fixture, wr_str_of("abc"), none), &third);
    cr_assert_null(find(&fixture, wr_str_of("a"), none));
    cr_assert_null(find(&fixture, none, wr_str_of("abc")));
    wr_arena_fini(&fixture.arena);
}

Test(pair_table, pairs_of_one_hash_are_told_apart)
{
    static const int first = 1, second = 2;
    struct fixture fixture;

    init(&fixture, 2);
    wr_pair_table_add(&fixture.table, 7, wr_str_of("a"), wr_str_of("b"), &first);
    wr_pair_table_add(&fixture.table, 7, wr_str_of("a"), wr_str_of("c"), &second);
    cr_assert_eq(wr_pair_table_find(&fixture.table, 7, wr_str_of("a"), wr_str_of("b")), &first);
    cr_assert_eq(wr_pair_table_find(&fixture.table, 7, wr_str_of("a"), wr_str_of("c")), &second);
    cr_assert_null(wr_pair_table_find(&fixture.table, 7, wr_str_of("b"), wr_str_of("b")));
    cr_assert_null(wr_pair_table_find(&fixture.table, 11, wr_str_of("a"), wr_str_of("b")));
    wr_arena_fini(&fixture.arena);
}

Test(pair_table, all_of_ten_thousand_are_found_and_no_other)
{
    enum { N = 10000 };
    static char names[N][8];
    struct fixture fixture;

    init(&fixture, N);
    for (size_t i = 0; i < N; i++) {
        (void) snprintf(names[i], sizeof names[i], "%zu", i);
        add(&fixture, wr_str_of("key"), wr_str_of(names[i]), names[i]);
    }
    for (size_t i = 0; i < N; i++) {
        cr_assert_eq(find(&fixture, wr_str_of("key"), wr_str_of(names[i])), names[i]);
        cr_assert_null(find(&fixture, wr_str_of(names[i]), wr_str_of(names[i])));
    }
    wr_arena_fini(&fixture.arena);
}

Test(pair_table, a_size_that_no_memory_holds_is_refused)
{
    struct wr_pair_table table;
    struct wr_arena arena;

    wr_arena_init(&arena, 1024);
    cr_assert_not(wr_pair_table_init(&table, &arena, SIZE_MAX / 2));
    cr_assert_not(wr_pair_table_init(&table, &arena, SIZE_MAX / 8));
    wr_arena_fini(&arena);
}
