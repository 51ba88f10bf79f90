/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sliding window: what was counted in the window before still weighs, by the part of it that the
 * last `length` reaches back into. Bounds: 1.01 × limit in any instant (a hundredth of the length);
 * in any window about the limit for even traffic, twice the limit at worst, since the estimate
 * takes it that hits came evenly.
 *
 * count = current + previous × (length - elapsed) / length, rounded up; h hits fit when count + h
 * <= limit. Windows begin at multiples of their length. A hit that does not fit leaves no trace,
 * unless the limit counts all. A peek leaves nothing. A refund takes back from the current window,
 * and what that has not, from the one before, where a hit weighs less than one. A changed limit is
 * compared with what was counted.
 * Source: the approximation described by Cloudflare ("How we built rate limiting capable of scaling
 * to millions of domains", 2017).
 * Clock: monotonic. Threads: pure functions; the caller holds the lock that guards the state.
 */
#ifndef WR_LIMIT_SLIDING_WINDOW_H
#define WR_LIMIT_SLIDING_WINDOW_H

#include <stdint.h>

#include "limit/algorithm.h"

/* All zero: never hit. */
struct wr_sliding_window {
    int64_t expiry_us; /* two lengths after the current window began */
    uint64_t previous; /* at most WR_COUNT_MAX, as current */
    uint64_t current;
};

extern const struct wr_counter_kind wr_sliding_window_kind;

#endif
