/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Token bucket: hits drip in at the limit's rate, and up to `burst` may come at once. Bounds: limit
 * + burst in any window of its length, burst + 0.02 × limit in any instant (a hundredth of the
 * length). Counted as in the generic cell rate algorithm (ITU-T I.371, virtual scheduling): one
 * stamp says when all that was used will have been forgotten.
 *
 * The interval between two hits is length / limit, rounded up to microseconds, so a limit that does
 * not divide the length is kept a little too strictly: by less than one part in `interval`, which
 * matters for limits near a hit a microsecond. More than that cannot be had.
 *
 * With T the interval and debt = stamp - now, h hits fit when debt + h × T <= burst × T. A hit that
 * does not fit leaves no trace, unless the limit counts all: then the debt grows beyond the burst.
 * A peek leaves nothing. A refund moves the stamp back by h × T, not before now.
 *
 * The state holds the interval that the stamp was reckoned by. A limit that was raised restates the
 * debt, as many hits at the new interval, rounded up; refused takes write that down, too. Under one
 * that was lowered, what was used before is paid at the interval that it was used at, until
 * something is charged at the new one: nobody waits longer for it, and what one limit used is used
 * for the other. A stamp further ahead than a burst or a window explains, by more than clocks
 * jitter, comes from a clock that was ahead: it is cut to a full burst, unless the limit counts
 * all; so is the debt of a burst that was larger than its limit, when the burst is smaller now.
 * Clock: monotonic. Threads: pure functions; the caller holds the lock that guards the state.
 */
#ifndef WR_LIMIT_TOKEN_BUCKET_H
#define WR_LIMIT_TOKEN_BUCKET_H

#include <stdint.h>

#include "limit/algorithm.h"

/* The largest debt: some 140 years; with it, stamps stay below WR_COUNT_MAX. Bursts that take
 * longer to forget are cut to it. */
#define WR_TOKEN_BUCKET_DEBT_MAX_US (INT64_C(1) << 52)

/* All zero: never hit. */
struct wr_token_bucket {
    int64_t stamp_us;    /* when all that was used is forgotten */
    int64_t interval_us; /* between two hits, as the stamp was reckoned */
};

extern const struct wr_counter_kind wr_token_bucket_kind;

#endif
