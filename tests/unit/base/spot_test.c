/* SPDX-License-Identifier: Apache-2.0 */
#include "base/spot.h"

#include <criterion/criterion.h>

static const struct wr_spot outer = {.name = "descriptors", .index = 2};
static const struct wr_spot inner = {
    .parent = &outer, .name = "rate_limit", .index = WR_SPOT_SINGLE};
static const struct wr_spot leaf = {.parent = &inner, .name = "replaces", .index = 10};

Test(spot, names_the_fields_from_the_outside_in)
{
    char text[64];

    wr_spot_format(&outer, text, sizeof text);
    cr_assert_str_eq(text, "descriptors[2]");
    wr_spot_format(&leaf, text, sizeof text);
    cr_assert_str_eq(text, "descriptors[2].rate_limit.replaces[10]");
}

Test(spot, is_cut_where_there_is_no_room)
{
    char text[64];

    for (size_t size = 1; size <= 20; size++) {
        char want[64] = "descriptors[2].rate_limit.replaces[10]";

        want[size - 1] = '\0';
        wr_spot_format(&leaf, text, size);
        cr_assert_str_eq(text, want);
    }
}
