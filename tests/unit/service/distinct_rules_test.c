/* SPDX-License-Identifier: Apache-2.0 */
#include "service/distinct_rules.h"

#include <criterion/criterion.h>

Test(distinct_rules, come_once_in_order_of_their_first_place)
{
    static const struct wr_rule a, b, c;
    const struct wr_rule *const rules[] = {NULL, &b, &a, &b, NULL, &a, &c, &b};
    const struct wr_rule *out[8] = {NULL};
    struct wr_arena arena;
    size_t n = 0;

    wr_arena_init(&arena, 256);
    cr_assert(wr_distinct_rules(&arena, rules, 8, out, &n));
    cr_assert_eq(n, 3);
    cr_assert_eq(out[0], &b);
    cr_assert_eq(out[1], &a);
    cr_assert_eq(out[2], &c);
    wr_arena_fini(&arena);
}
