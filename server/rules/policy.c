/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/policy.h"

#include <stddef.h>

static const struct wr_str counts[] = {
    [WR_COUNT_ALL] = WR_STR("all"),
    [WR_COUNT_ADMITTED] = WR_STR("admitted"),
    [WR_COUNT_ALL_OR_NOTHING] = WR_STR("all_or_nothing"),
};

static const struct wr_str modes[] = {
    [WR_FAILURE_ERROR] = WR_STR("error"),
    [WR_FAILURE_ALLOW] = WR_STR("allow"),
    [WR_FAILURE_DENY] = WR_STR("deny"),
    [WR_FAILURE_LOCAL] = WR_STR("local"),
};

bool wr_count_of_name(struct wr_str name, enum wr_count *out_count)
{
    const size_t n = sizeof counts / sizeof counts[0];
    const size_t place = wr_str_place(counts, n, name);

    if (place < n) {
        *out_count = (enum wr_count) place;
    }
    return place < n;
}

const char *wr_count_name(enum wr_count count)
{
    return counts[count].ptr;
}

bool wr_failure_mode_of_name(struct wr_str name, enum wr_failure_mode *out_mode)
{
    const size_t n = sizeof modes / sizeof modes[0];
    const size_t place = wr_str_place(modes, n, name);

    if (place < n) {
        *out_mode = (enum wr_failure_mode) place;
    }
    return place < n;
}

const char *wr_failure_mode_name(enum wr_failure_mode mode)
{
    return modes[mode].ptr;
}
