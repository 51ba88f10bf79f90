/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When to try again: pauses that grow, with full jitter, and a breaker that holds requests off a
 * server that does not answer them.
 *
 *     CLOSED ── a row of timeouts, or tripped ──► OPEN ── a probe was answered in time ──► CLOSED
 *
 * While OPEN nobody but probes, one at a time, may ask. The formula of the jitter: Brooker,
 * "Exponential Backoff And Jitter".
 * Threads: plain values of one owner.
 */
#ifndef WR_STORE_REDIS_RETRY_H
#define WR_STORE_REDIS_RETRY_H

#include <stdbool.h>
#include <stdint.h>

struct wr_redis_pauses {
    int64_t min_us, max_us; /* 0 < min <= max */
    uint32_t n;             /* failures in a row */
};

/* After a failure: the pause before the next attempt, 0 to min · 2^n, at most max. `random` is any
 * number. */
int64_t wr_redis_pauses_next(struct wr_redis_pauses *pauses, uint64_t random);

/* After a success. */
void wr_redis_pauses_reset(struct wr_redis_pauses *pauses);

struct wr_redis_breaker {
    uint32_t max_timeouts; /* in a row; > 0 */
    uint32_t n_timeouts;
    bool is_open;
};

/* Nobody answered a request in time. True when this opens it. */
bool wr_redis_breaker_timed_out(struct wr_redis_breaker *breaker);

/* A request was answered in time. */
void wr_redis_breaker_answered(struct wr_redis_breaker *breaker);

/* The server says that it takes no requests now. True when this opens it. */
bool wr_redis_breaker_trip(struct wr_redis_breaker *breaker);

/* A probe was answered well, or a new connection begins. True when this closes it. */
bool wr_redis_breaker_close(struct wr_redis_breaker *breaker);

#endif
