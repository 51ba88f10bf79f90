/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/idle_check.h"

#include "limit/muldiv.h"
#include "rules/terms.h"

#define PLACE_SIZE 512

/* How long a bucket takes to pay for `hits`. */
static int64_t pay_time(const struct wr_limit *limit, uint64_t hits)
{
    return limit->requests == 0
               ? 0
               : (int64_t) wr_muldiv_ceil(hits, (uint64_t) limit->length_us, limit->requests);
}

/* How long hits are remembered. */
static int64_t memory_of(const struct wr_limit *limit)
{
    switch (limit->algorithm) {
    case WR_ALGORITHM_SLIDING_WINDOW:
        return 2 * limit->length_us;
    case WR_ALGORITHM_TOKEN_BUCKET:
        return pay_time(limit, limit->burst);
    case WR_ALGORITHM_FIXED_WINDOW:
    case WR_ALGORITHM_SLIDING_BUCKETS:
    case WR_ALGORITHM_SLIDING_LOG:
    default:
        return limit->length_us;
    }
}

/* Whether the limit falls back while there are hits that it remembers. A fixed window has none when
 * it takes another limit. */
static bool falls_back(const struct wr_limit *limit)
{
    return limit->warm_up_us > 0 && limit->warm_up_start < limit->requests &&
           limit->algorithm != WR_ALGORITHM_FIXED_WINDOW && memory_of(limit) > limit->warm_up_us;
}

/* How long a refused hit may have to wait, when what is refused is not booked. */
static int64_t wait_of(const struct wr_limit *limit)
{
    return limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET ? pay_time(limit, 1) : limit->length_us;
}

void wr_idle_check(const struct wr_limit_pass *pass, const struct wr_draft_limits *limits,
                   size_t index)
{
    if (!falls_back(&pass->limit)) {
        return;
    }
    for (size_t i = 0; i < limits->n; i++) {
        const struct wr_limit other = wr_terms_limit(&limits->all[i]);

        if (i != index && wait_of(&other) >= pass->limit.warm_up_us) {
            const struct wr_check_subject subject =
                wr_limit_pass_at(pass, pass->draft->warm_up_duration.place);
            char where[PLACE_SIZE];

            wr_place_format(&limits->all[i].place, where, sizeof where);
            wr_check_warn(pass->check, &subject, "make it longer",
                          "`duration` is no longer than a wait for the limit at %s: this one falls "
                          "back to its `start` meanwhile, and may refuse who waited as told",
                          where);
            return;
        }
    }
}
