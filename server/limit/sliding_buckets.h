/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sliding buckets: hits are counted in short buckets, and as many of them add up as the last
 * `length` can touch, so the oldest, of which only a part is left, counts in full. Bounds: the
 * limit in any window of its length, and in any instant; a hit is forgotten up to a bucket later
 * than it could be.
 *
 * A bucket lasts length / n, rounded up to microseconds, and begins at a multiple of that; n + 1 of
 * them add up. A hit that does not fit leaves no trace, unless the limit counts all. A peek leaves
 * nothing. A refund takes back from the newest bucket first. A changed limit is compared with what
 * was counted; when n has changed, all that was counted goes into the newest bucket as soon as more
 * is charged or refunded, and the wait that is told reckons with it.
 *
 * Counts are a byte wide, and become two, four or eight when one of them no longer fits; they stay
 * so until all that was counted is forgotten.
 * Clock: monotonic. Threads: pure functions; the caller holds the lock that guards the state.
 */
#ifndef WR_LIMIT_SLIDING_BUCKETS_H
#define WR_LIMIT_SLIDING_BUCKETS_H

#include <stdint.h>

#include "limit/algorithm.h"

/* All zero: never hit. Behind it in the state come n + 1 counts in a ring. Those before the oldest
 * and behind the newest are zero. */
struct wr_sliding_buckets {
    int64_t expiry_us; /* when the newest bucket is forgotten */
    uint64_t used;     /* the sum of all; at most WR_COUNT_MAX */
    int64_t bucket_us; /* how long one lasts */
    uint16_t n;
    uint16_t newest; /* its place */
    uint16_t span;   /* from the oldest bucket with a hit to the newest */
    uint16_t width;  /* of a count: 1, 2, 4 or 8 bytes */
};

extern const struct wr_counter_kind wr_sliding_buckets_kind;

#endif
