/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/algorithm.h"

#include "limit/fixed_window.h"

const struct wr_counter_kind *const wr_counter_kinds[] = {
    [WR_ALGORITHM_FIXED_WINDOW] = &wr_fixed_window_kind,
};
