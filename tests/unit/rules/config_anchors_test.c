/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_anchors.h"

#include <criterion/criterion.h>
#include <stdio.h>

Test(config_anchors, nothing_is_found_before_the_first)
{
    const struct wr_config_anchors anchors = {0};

    cr_assert_null(wr_config_anchors_find(&anchors, wr_str_of("x")));
}

Test(config_anchors, the_newest_of_a_name_is_found_among_many)
{
    enum { N = 10000 };
    static struct wr_config_node nodes[N + 1];
    struct wr_config_anchors anchors = {0};
    struct wr_arena arena;
    char name[16];

    wr_arena_init(&arena, 4096);
    for (int i = 0; i < N; i++) {
        (void) snprintf(name, sizeof name, "a%d", i);
        cr_assert(wr_config_anchors_add(&anchors, &arena, wr_str_of(name), &nodes[i]));
    }
    cr_assert(wr_config_anchors_add(&anchors, &arena, wr_str_of("a7"), &nodes[N]));
    for (int i = 0; i < N; i++) {
        (void) snprintf(name, sizeof name, "a%d", i);
        cr_assert_eq(wr_config_anchors_find(&anchors, wr_str_of(name)), &nodes[i == 7 ? N : i]);
    }
    cr_assert_null(wr_config_anchors_find(&anchors, wr_str_of("b")));
    wr_arena_fini(&arena);
}
