/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The time zones that the rules of a snapshot name, each read once.
 *
 * Threads: owner thread only while filled; what it gives out is immutable.
 */
#ifndef WR_RULES_ZONE_SET_H
#define WR_RULES_ZONE_SET_H

#include "base/arena.h"
#include "base/str.h"
#include "limit/calendar.h"

struct wr_zone_item;

/* All zero but for the arena: empty. */
struct wr_zone_set {
    struct wr_arena *arena; /* of all zones; borrowed */
    struct wr_zone_item *first;
};

/* The zone of that name; NULL when memory is out, or the zone has gone since it was checked. */
const struct wr_zone *wr_zone_set_get(struct wr_zone_set *set, struct wr_str name);

#endif
