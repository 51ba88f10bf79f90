/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sliding log: a time stamp for each take that was admitted, so that exactly those of the last
 * `length` count. Bounds: the limit in any window of its length, and in any instant. For small
 * limits, such as payments and logins: it costs memory by the hit, and time by what has expired
 * since the take before.
 *
 * Takes of one microsecond share an entry. A hit that does not fit leaves no trace, unless the
 * limit counts all. A peek leaves nothing. A refund removes the newest hits. A changed limit is
 * compared with what was counted. No entry is added when there are as many as the limit allows
 * hits, or WR_SLIDING_LOG_MAX; what a limit that counts all books beyond that joins the newest
 * entry, whose hits then all count from the newest on.
 * Clock: monotonic. Threads: pure functions; the caller holds the lock that guards the state.
 */
#ifndef WR_LIMIT_SLIDING_LOG_H
#define WR_LIMIT_SLIDING_LOG_H

#include <stdint.h>

#include "limit/algorithm.h"

struct wr_sliding_log_entry {
    int64_t stamp_us;
    uint64_t hits;
};

/* All zero: never hit. */
struct wr_sliding_log {
    int64_t expiry_us; /* a length after the newest entry */
    uint64_t used;     /* the sum of all hits; at most WR_COUNT_MAX */
    uint16_t capacity; /* of the ring */
    uint16_t first;    /* place of the oldest */
    uint16_t n;        /* entries in use */
    uint16_t unused;
    struct wr_sliding_log_entry ring[]; /* stamps never fall */
};

extern const struct wr_counter_kind wr_sliding_log_kind;

#endif
