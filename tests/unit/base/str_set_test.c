/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str_set.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(str_set, tells_what_it_has_seen)
{
    enum { N = 100 };
    static char texts[N][16];
    struct wr_str views[N];
    struct wr_str_set set;
    struct wr_arena arena;

    wr_arena_init(&arena, 256);
    cr_assert(wr_str_set_init(&set, &arena, N));
    for (size_t i = 0; i < N; i++) {
        (void) snprintf(texts[i], sizeof texts[i], "text-%zu", i);
        views[i] = wr_str_of(texts[i]);
        cr_assert_not(wr_str_set_has(&set, views[i]));
        cr_assert(wr_str_set_add(&set, &views[i]), "text %zu", i);
        cr_assert_not(wr_str_set_add(&set, &views[i]), "text %zu again", i);
    }
    for (size_t i = 0; i < N; i++) {
        cr_assert(wr_str_set_has(&set, views[i]));
    }
    cr_assert_not(wr_str_set_has(&set, wr_str_of("text-")));
    cr_assert_not(wr_str_set_has(&set, wr_str_of("")));
    wr_arena_fini(&arena);
}

Test(str_set, an_empty_set_has_nothing)
{
    struct wr_str_set set;
    struct wr_arena arena;

    wr_arena_init(&arena, 256);
    cr_assert(wr_str_set_init(&set, &arena, 0));
    cr_assert_not(wr_str_set_has(&set, wr_str_of("x")));
    wr_arena_fini(&arena);
}

Test(str_set, more_than_it_has_room_for_is_a_bug, .signal = 6)
{
    static const struct wr_str texts[] = {WR_STR("a"), WR_STR("b")};
    struct wr_str_set set;
    struct wr_arena arena;

    wr_arena_init(&arena, 256);
    cr_assert(wr_str_set_init(&set, &arena, 1));
    cr_assert(wr_str_set_add(&set, &texts[0]));
    (void) wr_str_set_add(&set, &texts[1]);
}
