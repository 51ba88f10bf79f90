/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/zone_set.h"

#include <criterion/criterion.h>

Test(zone_set, a_zone_is_read_once)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 1024);

    struct wr_zone_set set = {.arena = &arena};
    const struct wr_zone *const paris = wr_zone_set_get(&set, wr_str_of("Europe/Paris"));
    const struct wr_zone *const tokyo = wr_zone_set_get(&set, wr_str_of("Asia/Tokyo"));

    cr_assert_not_null(paris);
    cr_assert_not_null(tokyo);
    cr_assert_neq(paris, tokyo);
    cr_assert_eq(wr_zone_set_get(&set, wr_str_of("Europe/Paris")), paris);
    cr_assert_eq(wr_zone_set_get(&set, wr_str_of("Asia/Tokyo")), tokyo);
    cr_assert_null(wr_zone_set_get(&set, wr_str_of("Europe/Atlantis")));
    wr_arena_fini(&arena);
}
