/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/loss_check.h"

#include <inttypes.h>

#include "rules/terms.h"

#define TOLERATED 10 /* one hit in so many */

/* What a length divided by `n` comes to in whole microseconds, rounded up, as the algorithms do. */
static int64_t part_us(const struct wr_limit *limit, uint64_t n)
{
    return (limit->length_us - 1) / (int64_t) n + 1;
}

/* Whether `n` parts take over a hundredth longer than what was divided. */
static bool is_rough(const struct wr_limit *limit, uint64_t n)
{
    const int64_t all_us = part_us(limit, n) * (int64_t) n;

    return (all_us - limit->length_us) * 100 > all_us;
}

/* A token comes, and a bucket lasts, so many whole microseconds: fewer hits may pass than were
 * said. */
static void check_rounding(const struct wr_limit_pass *pass)
{
    const struct wr_limit *const limit = &pass->limit;

    if (limit->length_us <= 0) {
        return;
    }
    if (limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET && limit->requests > 0 &&
        is_rough(limit, limit->requests)) {
        const int64_t token_us = part_us(limit, limit->requests);

        wr_check_warn(pass->check, pass->of_limit,
                      "sliding_window and sliding_buckets count such rates to the last hit",
                      "`token_bucket` has a token every %" PRId64
                      " microsecond%s, which makes %" PRId64 " in a window in place of %" PRIu64,
                      token_us, token_us == 1 ? "" : "s", limit->length_us / token_us,
                      limit->requests);
    }
    if (limit->algorithm == WR_ALGORITHM_SLIDING_BUCKETS && limit->n_buckets > 0 &&
        limit->n_buckets <= WR_BUCKETS_MAX && is_rough(limit, limit->n_buckets)) {
        const int64_t bucket_us = part_us(limit, limit->n_buckets);

        wr_check_warn(pass->check, pass->of_limit, "fewer `buckets`, or a longer window",
                      "%" PRIu32 " buckets of whole microseconds, %" PRId64 " each, last %" PRId64
                      " microseconds in place of %" PRId64,
                      limit->n_buckets, bucket_us, bucket_us * limit->n_buckets, limit->length_us);
    }
}

/* Of how many hits one is lost when they come evenly, as many in a window as the limit: the limit
 * of a sliding window is full when one more of the former hits has yet to be forgotten, and so is
 * that of buckets, which forget a bucket late, or a hit. */
static uint64_t one_of(const struct wr_limit *limit)
{
    if (limit->algorithm == WR_ALGORITHM_SLIDING_WINDOW) {
        return limit->requests < 2 ? 2 : limit->requests;
    }
    return 1 + (limit->requests < limit->n_buckets ? limit->requests : limit->n_buckets);
}

static void check_estimate(const struct wr_limit_pass *pass)
{
    const struct wr_limit *const limit = &pass->limit;
    const bool is_buckets = limit->algorithm == WR_ALGORITHM_SLIDING_BUCKETS;

    if ((limit->algorithm != WR_ALGORITHM_SLIDING_WINDOW && !is_buckets) || limit->requests == 0 ||
        (is_buckets && limit->n_buckets == 0) || one_of(limit) >= TOLERATED) {
        return;
    }
    wr_check_warn(pass->check, pass->of_limit,
                  limit->requests < TOLERATED ? "`sliding_log` counts limits up to 1000 to the hit"
                                              : "more `buckets`; 60 is what it is without",
                  "`%s` refuses one hit in %" PRIu64
                  " of traffic that comes evenly, just as much as the limit lets through",
                  wr_algorithm_name(limit->algorithm), one_of(limit));
}

void wr_loss_check(const struct wr_limit_pass *pass)
{
    check_rounding(pass);
    check_estimate(pass);
}
