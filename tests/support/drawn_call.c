/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/drawn_call.h"

#include <sys/random.h>

#include "base/assert.h"

uint64_t wr_draw_seed(void)
{
    uint64_t seed = 0;

    while (seed == 0) {
        WR_ASSERT(getrandom(&seed, sizeof seed, 0) == (ssize_t) sizeof seed);
    }
    return seed;
}

uint64_t wr_draw_below(uint64_t *seed, uint64_t n)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed % n;
}

static uint64_t draw_hits(uint64_t *seed)
{
    return wr_draw_below(seed, 16) == 0 ? WR_COUNT_MAX - wr_draw_below(seed, 3)
                                        : wr_draw_below(seed, 4);
}

static void draw_take(uint64_t *seed, int64_t length_us, struct wr_take *take)
{
    take->limit.requests = wr_draw_below(seed, 8) == 0 ? UINT32_MAX : wr_draw_below(seed, 6);
    take->limit.length_us = length_us;
    take->limit.count = (enum wr_count) wr_draw_below(seed, 3);
    take->hits = draw_hits(seed);
    take->is_refund = wr_draw_below(seed, 6) == 0;
    take->is_enforced = wr_draw_below(seed, 4) != 0;
}

static void make_plain(struct wr_take *take)
{
    take->limit.count = WR_COUNT_ALL;
    take->is_refund = false;
}

void wr_draw_call(uint64_t *seed, const int64_t *lengths_us, unsigned n_keys,
                  struct wr_drawn_call *call)
{
    const bool is_plain = wr_draw_below(seed, 3) == 0;
    uint32_t group = 0;

    call->mode = !is_plain && wr_draw_below(seed, 5) == 0 ? WR_CHARGE_STOP : WR_CHARGE_BY_COUNT;
    call->n = 1 + wr_draw_below(seed, WR_DRAWN_TAKES);
    for (size_t i = 0; i < call->n; i++) {
        struct wr_take *const take = &call->ones[i].take;

        call->ones[i].key = (unsigned) wr_draw_below(seed, n_keys);
        draw_take(seed, lengths_us[call->ones[i].key], take);
        if (is_plain) {
            make_plain(take);
        }
        group += (uint32_t) wr_draw_below(seed, 2);
        take->group = group;
    }
}
