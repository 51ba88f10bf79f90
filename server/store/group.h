/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes on the local store that stand or fall together (store/backend.h): the stripes of all are
 * locked, in ascending order, all are judged, then all charged, then the stripes are unlocked.
 *
 * Invariant: nobody sees, or comes between, a part of a group.
 * Threads: any thread; a group belongs to one.
 */
#ifndef WR_STORE_GROUP_H
#define WR_STORE_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/hash.h"
#include "store/backend.h"
#include "store/stripe.h"

struct wr_group_member {
    struct wr_hash hash; /* of the take's key */
    struct wr_stripe *stripe;
    struct wr_take *take;
    /* set by judging */
    uint64_t judged_hits; /* those of all takes of its key, where they add up */
    bool is_over;         /* would these hits go over */
    bool is_kept;         /* a place for the counter is, on the first member of a key */
};

/*
 * Sorts by group, or as one group where `is_one`, then by stripe and key; within a key the order of
 * the batch stays. In n log n steps, and without memory.
 */
void wr_group_sort(struct wr_group_member *members, size_t n, bool is_one);

/* Judges and charges one group of `n` > 0 sorted members, and adds to `events`. */
void wr_group_take(struct wr_group_member *members, size_t n, enum wr_charge_mode mode,
                   const struct wr_now *now, struct wr_stripe_events *events);

#endif
