/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The offsets from UTC of a time zone of the IANA database, from the files of the system (TZif, RFC
 * 8536). They are read here, and not through tzset, because the zone of a process is global and a
 * server has threads.
 *
 * Threads: pure functions but for the files, which they read and may block on.
 */
#ifndef WR_RULES_ZONE_H
#define WR_RULES_ZONE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"
#include "limit/calendar.h"

/* What is known goes from 1970 to the beginning of this year; the last offset stays. */
#define WR_ZONE_LAST_YEAR 2200

enum wr_zone_fault {
    WR_ZONE_GOOD,
    WR_ZONE_UNKNOWN,   /* no such file, or not one that is understood */
    WR_ZONE_NO_MEMORY, /* or no descriptor is left */
};

/* Reads the zone of that name, as in Europe/Paris, with transitions in `arena`. */
enum wr_zone_fault wr_zone_load(struct wr_arena *arena, struct wr_str name,
                                struct wr_zone *out_zone);

/* The same of the bytes of a file. */
enum wr_zone_fault wr_zone_parse(struct wr_arena *arena, struct wr_str bytes,
                                 struct wr_zone *out_zone);

/* True when there is no such zone; one that memory is too short for may be there. */
bool wr_zone_is_unknown(struct wr_str name);

#endif
