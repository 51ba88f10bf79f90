/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/guarantees/subject.h"

static uint64_t once(const struct wr_allowance *allowance)
{
    return allowance->requests;
}

static uint64_t twice(const struct wr_allowance *allowance)
{
    return 2 * allowance->requests;
}

static uint64_t once_and_a_hundredth(const struct wr_allowance *allowance)
{
    return allowance->requests * 101 / 100;
}

static uint64_t limit_and_burst(const struct wr_allowance *allowance)
{
    return allowance->requests + allowance->burst;
}

static uint64_t burst_and_a_fiftieth(const struct wr_allowance *allowance)
{
    return allowance->burst + allowance->requests / 50;
}

const struct wr_subject wr_subjects[WR_SUBJECTS] = {
    {"fixed_window", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_EPOCH, "2 L", "2 L", twice, twice, 1.0, 2},
    {"fixed_window, first_hit", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_FIRST_HIT, "2 L", "2 L", twice,
     twice, 0.99, 2},
    {"fixed_window, calendar", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_CALENDAR, "L in each window",
     "2 L", once, twice, 1.0, 2},
    {"sliding_window", WR_ALGORITHM_SLIDING_WINDOW, WR_ALIGN_EPOCH, "2 L", "L and a hundredth",
     twice, once_and_a_hundredth, 0.98, 3},
    {"sliding_buckets", WR_ALGORITHM_SLIDING_BUCKETS, WR_ALIGN_EPOCH, "L", "L", once, once, 1.0, 0},
    {"sliding_log", WR_ALGORITHM_SLIDING_LOG, WR_ALIGN_EPOCH, "L", "L", once, once, 1.0, 0},
    {"token_bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, "L + burst",
     "burst and a fiftieth of L", limit_and_burst, burst_and_a_fiftieth, 0.98, 2},
};
