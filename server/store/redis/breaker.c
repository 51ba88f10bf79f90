/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/breaker.h"

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
