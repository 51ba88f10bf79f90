/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Remembers which counters of a remote store are over their limit until their windows end, and
 * answers for them without asking the store.
 *
 * It is about fixed windows whose hits are all counted (WR_COUNT_ALL, or any in WR_CHARGE_STOP):
 * once such a counter is over, it is over for any hits, a look as well. Takes with `must_book`,
 * refunds, and takes from another limit than the one that the counter was over always go to the
 * store, and its answers put the memory right.
 *
 * What the store counts stays true: hits answered from here are held, and go to the store with the
 * next take of that counter, or before the next refund; so a refund by way of this cache meets the
 * very count that there would be without it, saturated or not. Refunds that come to the store from
 * elsewhere, by another replica, are respected by
 *  - asking the store again each WR_OVER_LIMIT_TRUST_US while hits keep coming: such a refund is
 *    hidden for that long at most;
 *  - answering only from the third refusal in a row on: before that nothing is held, and so what a
 *    few calls did is in the store at once, for all replicas to see.
 * Hits of a refused caller who then stays away are held until the window's end, and are lost to a
 * refund that another replica sends: at most those of one WR_OVER_LIMIT_TRUST_US. They are lost
 * too when the entry has to make room for another; and when the store did not answer the take or
 * refund that they went with, save that a take which surely was not charged leaves them held.
 *
 * No held hit is booked into the window after its own: none is sent when it could arrive there,
 * which is in the last `flight_us` of the window as it was told last, and the earlier the longer
 * ago that was (WR_OVER_LIMIT_DRIFT_PPM). From a refund held hits are taken off in that time, and
 * in WR_CHARGE_STOP beside other takes always: there alone a count that WR_COUNT_MAX holds back
 * comes out too high, by no more than was held.
 *
 * Only takes that stand alone are answered from here, so that each verdict, of these and of the
 * others, is the one that the store would give: none of WR_CHARGE_STOP unless it is all of its
 * batch, none with a WR_COUNT_ALL_OR_NOTHING one in its group, none in a batch that gives hits back
 * as well. What memory decided in place of a remote store is not remembered.
 *
 * Invariant: a take that is not answered from here is handed to the store, once.
 * Threads: take from any thread; `done` runs inline, or where the store answers; new and destroy by
 * the owner.
 */
#ifndef WR_STORE_OVER_LIMIT_CACHE_H
#define WR_STORE_OVER_LIMIT_CACHE_H

#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "store/backend.h"
#include "store/over_limit_table.h"

struct wr_over_limit_cache_options {
    size_t max_entries;     /* > 0; WR_OVER_LIMIT_ENTRY_BYTES each; rounded up to a multiple of 4 */
    int64_t flight_us;      /* how long after its time the inner backend may still charge a take
                               that is not `must_book` */
    struct wr_clock *clock; /* borrowed */
};

/* Takes `*inner` over; `out_backend` may be `inner`. WR_ERR_NO_MEMORY, WR_ERR_SYSTEM (no random
 * key): `*inner` stays the caller's. */
WR_MUST_USE enum wr_err wr_over_limit_cache_new(const struct wr_over_limit_cache_options *options,
                                                struct wr_backend **inner,
                                                struct wr_backend **out_backend);

#endif
