/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/algorithm.h"

#include "limit/fixed_window.h"
#include "limit/sliding_buckets.h"
#include "limit/sliding_log.h"
#include "limit/sliding_window.h"
#include "limit/token_bucket.h"

/* Only fixed windows differ by alignment. */
#define ANY_ALIGNMENT(kind)                                                                        \
    {                                                                                              \
        &(kind), &(kind), &(kind)                                                                  \
    }

const struct wr_counter_kind *const wr_counter_kinds[][3] = {
    [WR_ALGORITHM_FIXED_WINDOW] = {&wr_fixed_window_kind, &wr_first_hit_window_kind,
                                   &wr_calendar_window_kind},
    [WR_ALGORITHM_SLIDING_WINDOW] = ANY_ALIGNMENT(wr_sliding_window_kind),
    [WR_ALGORITHM_SLIDING_BUCKETS] = ANY_ALIGNMENT(wr_sliding_buckets_kind),
    [WR_ALGORITHM_SLIDING_LOG] = ANY_ALIGNMENT(wr_sliding_log_kind),
    [WR_ALGORITHM_TOKEN_BUCKET] = ANY_ALIGNMENT(wr_token_bucket_kind),
};
