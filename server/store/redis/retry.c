/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/retry.h"

int64_t wr_redis_pauses_next(struct wr_redis_pauses *pauses, uint64_t random)
{
    int64_t most_us = pauses->min_us;

    for (uint32_t i = 0; i < pauses->n && most_us < pauses->max_us; i++) {
        most_us *= 2;
    }
    most_us = most_us < pauses->max_us ? most_us : pauses->max_us;
    if (pauses->n < UINT32_MAX) {
        pauses->n++;
    }
    return (int64_t) (random % ((uint64_t) most_us + 1));
}

void wr_redis_pauses_reset(struct wr_redis_pauses *pauses)
{
    pauses->n = 0;
}

bool wr_redis_breaker_timed_out(struct wr_redis_breaker *breaker)
{
    if (breaker->n_timeouts < breaker->max_timeouts) {
        breaker->n_timeouts++;
    }
    return breaker->n_timeouts == breaker->max_timeouts && wr_redis_breaker_trip(breaker);
}

void wr_redis_breaker_answered(struct wr_redis_breaker *breaker)
{
    breaker->n_timeouts = 0;
}

bool wr_redis_breaker_trip(struct wr_redis_breaker *breaker)
{
    const bool was_open = breaker->is_open;

    breaker->is_open = true;
    return !was_open;
}

bool wr_redis_breaker_close(struct wr_redis_breaker *breaker)
{
    const bool was_open = breaker->is_open;

    breaker->is_open = false;
    breaker->n_timeouts = 0;
    return was_open;
}
