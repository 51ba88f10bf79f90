/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/failing_malloc.h"

Test(arena, takes_no_memory_before_the_first_allocation)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 1000);
    cr_assert_eq(arena.total_size, 0u);
    wr_arena_reset(&arena);
    wr_arena_fini(&arena);
}

Test(arena, every_size_is_aligned_and_apart_from_the_others)
{
    unsigned char *pieces[100];
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    for (size_t size = 0; size < 100; size++) {
        pieces[size] = wr_arena_alloc(&arena, size);
        cr_assert_not_null(pieces[size]);
        cr_assert_eq((uintptr_t) pieces[size] % alignof(max_align_t), 0u, "size %zu", size);
        memset(pieces[size], (int) size, size);
    }
    for (size_t size = 0; size < 100; size++) {
        for (size_t i = 0; i < size; i++) {
            cr_assert_eq(pieces[size][i], size, "size %zu was overwritten", size);
        }
    }
    wr_arena_fini(&arena);
}

Test(arena, a_reset_keeps_the_first_chunk_and_hands_it_out_again)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 256);

    const void *const first = wr_arena_alloc(&arena, 200);

    for (int round = 0; round < 3; round++) {
        wr_arena_reset(&arena);
        cr_assert_eq(wr_arena_alloc(&arena, 200), first, "round %d", round);
        cr_assert_eq(arena.total_size, 256u, "round %d", round);
    }
    wr_arena_fini(&arena);
}

Test(arena, one_that_grew_for_a_giant_shrinks_at_the_reset)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 256);
    cr_assert_not_null(wr_arena_alloc(&arena, 10));
    cr_assert_not_null(wr_arena_alloc(&arena, 4 << 20));
    cr_assert_geq(arena.total_size, (size_t) 4 << 20);
    wr_arena_reset(&arena);
    cr_assert_eq(arena.total_size, 256u);
    cr_assert_not_null(wr_arena_alloc(&arena, 256));
    cr_assert_eq(arena.total_size, 256u);
    wr_arena_fini(&arena);
}

Test(arena, one_whose_first_call_is_a_giant_shrinks_at_the_reset_too)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 256);
    cr_assert_not_null(wr_arena_alloc(&arena, 4 << 20));
    wr_arena_reset(&arena);
    cr_assert_leq(arena.total_size, 256u);
    cr_assert_not_null(wr_arena_alloc(&arena, 100));
    cr_assert_eq(arena.total_size, 256u);
    wr_arena_fini(&arena);
}

Test(arena, chunks_double_so_that_many_small_pieces_need_few)
{
    struct wr_arena arena;
    size_t n_chunks = 0, before = 0;

    wr_arena_init(&arena, 64);
    for (int i = 0; i < 10000; i++) {
        cr_assert_not_null(wr_arena_alloc(&arena, 16));
        n_chunks += arena.total_size != before;
        before = arena.total_size;
    }
    cr_assert_leq(n_chunks, 14u);
    wr_arena_fini(&arena);
}

Test(arena, calloc_clears_what_was_used_before)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 128);
    memset(wr_arena_alloc(&arena, 128), 0xff, 128);
    wr_arena_reset(&arena);

    const unsigned char *const bytes = wr_arena_calloc(&arena, 16, 8);

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < 128; i++) {
        cr_assert_eq(bytes[i], 0);
    }
    wr_arena_fini(&arena);
}

Test(arena, sizes_that_cannot_be_are_refused)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 64);
    cr_assert_null(wr_arena_alloc(&arena, SIZE_MAX));
    cr_assert_null(wr_arena_alloc(&arena, SIZE_MAX - 20));
    cr_assert_null(wr_arena_calloc(&arena, SIZE_MAX / 2, 3));
    cr_assert_not_null(wr_arena_calloc(&arena, 0, 8));
    cr_assert_not_null(wr_arena_calloc(&arena, 8, 0));
    wr_arena_fini(&arena);
}

Test(arena, a_copy_is_bytes_of_its_own)
{
    char text[] = "ab\0c";
    struct wr_arena arena;
    struct wr_str copy;

    wr_arena_init(&arena, 64);
    cr_assert(wr_arena_copy(&arena, (struct wr_str){text, 4}, &copy));
    text[0] = 'x';
    cr_assert_eq(copy.len, 4u);
    cr_assert_eq(memcmp(copy.ptr, "ab\0c", 4), 0);
    cr_assert(wr_arena_copy(&arena, (struct wr_str){NULL, 0}, &copy));
    cr_assert_eq(copy.len, 0u);
    cr_assert_not_null(copy.ptr);
    wr_arena_fini(&arena);
}

Test(arena, without_memory_it_hands_out_nothing_and_keeps_what_it_has)
{
    struct wr_arena arena;
    struct wr_str copy = WR_STR("untouched");

    wr_arena_init(&arena, 64);
    failing_malloc_start(1);

    char *const bytes = wr_arena_alloc(&arena, 64);

    cr_assert_not_null(bytes);
    memset(bytes, 'x', 64);
    cr_assert_null(wr_arena_alloc(&arena, 1));
    cr_assert_null(wr_arena_calloc(&arena, 1, 1));
    cr_assert(!wr_arena_copy(&arena, (struct wr_str) WR_STR("text"), &copy));
    failing_malloc_stop();
    cr_assert(wr_str_equal(copy, (struct wr_str) WR_STR("untouched")));
    cr_assert_eq(bytes[63], 'x');
    cr_assert_not_null(wr_arena_alloc(&arena, 1));
    wr_arena_fini(&arena);
}
