/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/end.h"

#include <criterion/criterion.h>
#include <stddef.h>

static const struct {
    struct wr_xds_end end;
    bool is_too_large, has_bad_files;
} rows[] = {
    {{8, WR_STR("Received message larger than max (70 vs. 64)")}, true, false},
    {{8, WR_STR("CLIENT: Received message larger than max")}, true, false},
    {{8, WR_STR("grpc: received message larger than max")}, false, false},
    {{8, WR_STR("Received message larger than ma")}, false, false},
    {{13, WR_STR("Received message larger than max")}, false, false},
    {{14, WR_STR("empty address list: ")}, false, true},
    {{14, WR_STR("empty address")}, false, false},
    {{14, WR_STR("")}, false, false},
};

Test(end, is_known_by_the_words_of_c_core)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_xds_end_is_too_large(&rows[i].end), rows[i].is_too_large, "%zu", i);
        cr_assert_eq(wr_xds_end_has_bad_files(&rows[i].end), rows[i].has_bad_files, "%zu", i);
    }
}
