/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which takes of a batch share one fate: those of one group, or in WR_CHARGE_STOP all of them. Each
 * fate is named by the index of its first take; so what is known of a fate can be kept in an array
 * as long as the batch, and a batch of any size is gone over once, whatever clients put in it.
 *
 * Threads: pure functions; the arena belongs to the calling thread.
 */
#ifndef WR_STORE_FATES_H
#define WR_STORE_FATES_H

#include <stdbool.h>
#include <stddef.h>

#include "store/backend.h"

/* The fate of each take, in the arena of the batch; NULL when memory is out. In steps that grow as
 * the number of takes, and in n log n of them where groups do not come in ascending order. */
const size_t *wr_fates_of(const struct wr_batch *batch);

/* Whether a take of the batch is charged or not by what becomes of others of its group. */
bool wr_fates_are_bound(const struct wr_batch *batch);

#endif
