/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two stores side by side: takes whose window is a second or less go to the second one, all others
 * to the main one. A batch with takes for both is done when both have answered; each keeps time by
 * the batch's deadline.
 *
 * Two stores cannot charge as one, so what must be charged as one stays in the main store, whatever
 * its windows:
 *  - every take of WR_CHARGE_STOP, so that the second store has no use then;
 *  - every take with `is_domain_group`;
 *  - a group that has a take of WR_COUNT_ALL_OR_NOTHING, unless all its windows go to the second.
 * The first two hold for all calls of a server and of a domain, and windows of one rule come
 * together in each call; so a counter stays in one store.
 *
 * Invariant: a take is handed to one store, once.
 * Threads: take from any thread; `done` runs where the later of the two answers; new and destroy by
 * the owner.
 */
#ifndef WR_STORE_SPLIT_STORE_H
#define WR_STORE_SPLIT_STORE_H

#include "base/err.h"
#include "store/backend.h"

/* Takes both over; `out_backend` may be `main`. WR_ERR_NO_MEMORY: they stay the caller's. */
WR_MUST_USE enum wr_err wr_split_store_new(struct wr_backend **main, struct wr_backend **per_second,
                                           struct wr_backend **out_backend);

#endif
