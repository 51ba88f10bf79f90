/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Warm-up: a counter of any kind whose limit climbs in a straight line, from `warm_up_start` to
 * `requests` in `warm_up_us`, from its first hit on: after start-up, after a reload that made the
 * rule, and after it has been idle for as long as a climb takes. Bounds: what the kind bounds, by
 * the limit that is enforced, rounded down; a bucket's burst climbs with it. Fixed windows take the
 * limit that holds when they begin, and keep it.
 *
 * Any hit ends idleness, a refused one, too: it is written down, unlike a peek or a refund. Resets
 * reckon with the climb, of what is admitted as well, and with the idleness that a long wait comes
 * to: when the limit falls to where it began before one more fits, until as many fit as then ever
 * do, or as are wanted. Those of a peek of hits that would be charged are the kind's; no caller is
 * told them.
 *
 * The state of the kind follows behind this one's. Since that is another layout, counters with and
 * without warm-up must not meet: WR_IDENTITY_WARM_UP keeps them apart.
 * Clock: the kind's. Threads: pure functions; the caller holds the lock that guards the state.
 */
#ifndef WR_LIMIT_WARM_UP_H
#define WR_LIMIT_WARM_UP_H

#include <stdint.h>

/* All zero: never hit. */
struct wr_warm_up {
    int64_t expiry_us; /* when the kind's has expired, and it has been idle for a climb */
    int64_t since_us;  /* when the climb began */
    int64_t last_us;   /* the last hit */
    uint64_t kind[];   /* the kind's state */
};

#endif
