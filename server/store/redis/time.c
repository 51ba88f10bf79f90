/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/time.h"

/* How fast two clocks may part, in millionths: NTP slews by up to 500, quartz by 100. */
#define DRIFT_PPM 1000

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void wr_redis_time_note(struct wr_redis_time *time, int64_t server_us, int64_t sent_us,
                        int64_t received_us)
{
    const int64_t drift_us = (received_us - time->mono_us) * DRIFT_PPM / 1000000 + 1;
    int64_t min_us = server_us - received_us;
    int64_t max_us = server_us - sent_us;

    if (time->is_known && time->min_us - drift_us <= max_us && time->max_us + drift_us >= min_us) {
        min_us = larger(min_us, time->min_us - drift_us);
        max_us = smaller(max_us, time->max_us + drift_us);
    }
    *time = (struct wr_redis_time){
        .is_known = true,
        .min_us = min_us,
        .max_us = max_us,
        .mono_us = received_us,
    };
}

void wr_redis_time_forget(struct wr_redis_time *time)
{
    *time = (struct wr_redis_time){0};
}

int64_t wr_redis_time_latest(const struct wr_redis_time *time, int64_t mono_us)
{
    const int64_t drift_us = larger(0, mono_us - time->mono_us) * DRIFT_PPM / 1000000;

    return time->is_known ? mono_us + time->max_us + drift_us : 0;
}
