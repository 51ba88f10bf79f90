/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/drawn_run.h"

#include <stdbool.h>

/* What stays for a while. */
struct habit {
    struct wr_limit limit;
    int64_t pace_us; /* about twice the time between two calls */
    bool is_large;   /* limits and hits that need wide counts */
    bool is_steady;  /* time leaps seldom, and few hits are given back */
    uint64_t most;   /* requests, when they are not large */
};

static bool one_in(uint64_t *seed, uint64_t n)
{
    return wr_draw_below(seed, n) == 0;
}

/* Between `least` and `most`. */
static uint64_t between(uint64_t *seed, uint64_t least, uint64_t most)
{
    return least + wr_draw_below(seed, most - least + 1);
}

static void draw_requests(uint64_t *seed, struct habit *habit)
{
    struct wr_limit *const limit = &habit->limit;

    limit->requests = between(seed, habit->most * 3 / 10, habit->most);
    if (habit->is_large && one_in(seed, 2)) {
        limit->requests = one_in(seed, 3) ? UINT32_MAX : between(seed, 60000, 300000);
    }
    limit->burst = limit->algorithm == WR_ALGORITHM_TOKEN_BUCKET ? between(seed, 1, 30) : 0;
    limit->warm_up_start = limit->warm_up_us > 0 ? between(seed, 1, limit->requests) : 0;
}

static void draw_buckets(uint64_t *seed, struct habit *habit)
{
    static const uint32_t numbers[] = {1, 2, 7, 60, 250, WR_BUCKETS_MAX};

    if (habit->limit.algorithm == WR_ALGORITHM_SLIDING_BUCKETS) {
        habit->limit.n_buckets = numbers[wr_draw_below(seed, sizeof numbers / sizeof numbers[0])];
    }
}

static struct habit draw_habit(uint64_t *seed, const struct wr_limit *sort)
{
    struct habit habit = {.limit = *sort,
                          .is_large = one_in(seed, 3),
                          .is_steady = one_in(seed, 3),
                          .most = one_in(seed, 4) ? 120 : 30};

    habit.limit.count = one_in(seed, 2) ? WR_COUNT_ADMITTED : WR_COUNT_ALL;
    habit.pace_us = 1 + sort->length_us / (int64_t) between(seed, 2, 120);
    draw_requests(seed, &habit);
    draw_buckets(seed, &habit);
    return habit;
}

static void change_habit(uint64_t *seed, struct habit *habit)
{
    switch (wr_draw_below(seed, 32)) {
    case 0:
    case 1:
    case 2:
        draw_requests(seed, habit);
        break;
    case 3:
        draw_buckets(seed, habit);
        break;
    case 4:
        habit->limit.count = (enum wr_count) wr_draw_below(seed, 3);
        break;
    default:
        break;
    }
}

/* Of which some need two bytes, some four, and a few eight. */
static uint64_t draw_large_hits(uint64_t *seed)
{
    switch (wr_draw_below(seed, 8)) {
    case 0:
        return WR_COUNT_MAX - wr_draw_below(seed, 3);
    case 1:
    case 2:
        return between(seed, 100, 400);
    default:
        return between(seed, 30000, 100000);
    }
}

static uint64_t draw_hits(uint64_t *seed, const struct habit *habit)
{
    if (habit->is_large && one_in(seed, 4)) {
        return draw_large_hits(seed);
    }
    switch (wr_draw_below(seed, 32)) {
    case 0:
    case 1:
        return 0;
    case 2:
        return between(seed, 1, habit->limit.requests);
    default:
        return between(seed, 1, 3);
    }
}

/* The moment at which what was counted in an earlier call expires, or one beside it; at least now.
 */
static int64_t draw_expiry(uint64_t *seed, const struct wr_drawn_call *calls, size_t n,
                           int64_t length_us, int64_t now_us)
{
    const int64_t expiry_us = calls[wr_draw_below(seed, n)].now_us + length_us - 1;

    return expiry_us < now_us ? now_us : expiry_us + (int64_t) wr_draw_below(seed, 3);
}

static int64_t draw_time(uint64_t *seed, const struct habit *habit,
                         const struct wr_drawn_call *calls, size_t n, int64_t now_us)
{
    const int64_t length_us = habit->limit.length_us;

    switch (wr_draw_below(seed, habit->is_steady ? 400 : 32)) {
    case 0:
    case 1:
        return draw_expiry(seed, calls, n, length_us, now_us);
    case 2:
        return now_us + length_us + (int64_t) wr_draw_below(seed, (uint64_t) length_us);
    case 3:
        return now_us - (int64_t) wr_draw_below(seed, (uint64_t) habit->pace_us);
    case 4:
        return one_in(seed, 4) ? now_us - (int64_t) wr_draw_below(seed, 3 * (uint64_t) length_us)
                               : now_us;
    case 5:
    case 6:
        return now_us + (int64_t) wr_draw_below(seed, 2);
    default:
        return now_us + (int64_t) wr_draw_below(seed, (uint64_t) habit->pace_us);
    }
}

static struct wr_take draw_take(uint64_t *seed, const struct habit *habit)
{
    return (struct wr_take){
        .limit = habit->limit,
        .hits = draw_hits(seed, habit),
        .is_refund = one_in(seed, habit->is_steady ? 50 : 10),
        .is_enforced = !one_in(seed, 8),
    };
}

void wr_draw_run(uint64_t *seed, const struct wr_limit *sort, unsigned key, int64_t now_us,
                 struct wr_drawn_call *calls, size_t n)
{
    struct habit habit = draw_habit(seed, sort);

    for (size_t i = 0; i < n; i++) {
        now_us = i == 0 ? now_us : draw_time(seed, &habit, calls, i, now_us);
        change_habit(seed, &habit);
        calls[i] = (struct wr_drawn_call){.now_us = now_us, .n = one_in(seed, 6) ? 2 : 1};
        calls[i].mode = one_in(seed, 40) ? WR_CHARGE_STOP : WR_CHARGE_BY_COUNT;
        for (size_t k = 0; k < calls[i].n; k++) {
            calls[i].ones[k].key = key;
            calls[i].ones[k].take = draw_take(seed, &habit);
        }
    }
}
