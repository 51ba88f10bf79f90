/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A breaker that holds requests off a server that does not answer them.
 *
 *     CLOSED ── a row of timeouts, or tripped ──► OPEN ── a probe was answered in time ──► CLOSED
 *
 * While OPEN nobody but probes, one at a time, may ask.
 * Threads: plain values of one owner.
 */
#ifndef WR_STORE_REDIS_BREAKER_H
#define WR_STORE_REDIS_BREAKER_H

#include <stdbool.h>
#include <stdint.h>

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
