/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/drawn_call.h"

#include <stdlib.h>
#include <sys/random.h>

#include "base/assert.h"
#include "base/random.h"
#include "limit/token_bucket.h"

uint64_t wr_draw_seed(void)
{
    const char *const again = getenv("TEST_SEED");
    uint64_t seed = again != NULL ? strtoull(again, NULL, 10) : 0;

    while (seed == 0) {
        WR_ASSERT(getrandom(&seed, sizeof seed, 0) == (ssize_t) sizeof seed);
    }
    return seed;
}

uint64_t wr_draw_below(uint64_t *seed, uint64_t n)
{
    return wr_random_next(seed) % n;
}

static uint64_t draw_hits(uint64_t *seed)
{
    switch (wr_draw_below(seed, 32)) {
    case 0:
        return WR_COUNT_MAX - wr_draw_below(seed, 3);
    case 1:
        return wr_draw_below(seed, UINT32_MAX);
    case 2:
    case 3:
        return wr_draw_below(seed, 100000);
    default:
        return wr_draw_below(seed, 4);
    }
}

static uint64_t draw_requests(uint64_t *seed)
{
    switch (wr_draw_below(seed, 16)) {
    case 0:
        return UINT32_MAX - wr_draw_below(seed, 2);
    case 1:
        return wr_draw_below(seed, 200000);
    default:
        return wr_draw_below(seed, 6);
    }
}

/* Rules refuse a burst that is cut all along a climb, whose waits reckon with none. */
static void cut_burst(struct wr_limit *limit)
{
    if (limit->burst > 0 && limit->warm_up_us > 0) {
        const uint64_t most = wr_token_bucket_burst_max(limit);

        limit->burst = limit->burst < most ? limit->burst : most;
    }
}

static void draw_limit(uint64_t *seed, const struct wr_limit *sort, struct wr_limit *limit)
{
    *limit = *sort;
    limit->requests = draw_requests(seed);
    limit->count = (enum wr_count) wr_draw_below(seed, 3);
    if (limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET) {
        limit->burst = draw_requests(seed);
        limit->burst += limit->burst == 0;
    }
    if (limit->algorithm == WR_ALGORITHM_SLIDING_BUCKETS && wr_draw_below(seed, 8) == 0) {
        limit->n_buckets = 1 + (uint32_t) wr_draw_below(seed, 5);
    }
    limit->warm_up_start = 0;
    if (limit->warm_up_us > 0 && limit->requests > 0) {
        limit->warm_up_start = 1 + wr_draw_below(seed, limit->requests);
    }
    cut_burst(limit);
}

static void draw_take(uint64_t *seed, const struct wr_limit *sort, struct wr_take *take)
{
    draw_limit(seed, sort, &take->limit);
    take->hits = draw_hits(seed);
    take->is_refund = wr_draw_below(seed, 6) == 0;
    take->is_enforced = wr_draw_below(seed, 4) != 0;
}

static void make_plain(struct wr_take *take)
{
    take->limit.count = WR_COUNT_ALL;
    take->is_refund = false;
}

void wr_draw_call(uint64_t *seed, const struct wr_limit *limits, unsigned n_keys,
                  struct wr_drawn_call *call)
{
    const bool is_plain = wr_draw_below(seed, 3) == 0;
    uint32_t group = 0;

    call->mode = !is_plain && wr_draw_below(seed, 5) == 0 ? WR_CHARGE_STOP : WR_CHARGE_BY_COUNT;
    call->n = 1 + wr_draw_below(seed, WR_DRAWN_TAKES);
    for (size_t i = 0; i < call->n; i++) {
        struct wr_take *const take = &call->ones[i].take;

        call->ones[i].key = (unsigned) wr_draw_below(seed, n_keys);
        draw_take(seed, &limits[call->ones[i].key], take);
        if (is_plain) {
            make_plain(take);
        }
        group += (uint32_t) wr_draw_below(seed, 2);
        take->group = group;
    }
}
