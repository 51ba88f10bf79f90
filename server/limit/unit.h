/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The units of time a limit is given in: their names in rules, their numbers on the wire, their
 * lengths. A month has 30 days and a year 365, as in the incumbent.
 *
 * Threads: immutable.
 */
#ifndef WR_LIMIT_UNIT_H
#define WR_LIMIT_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The numbers are those of RateLimitResponse.RateLimit.Unit. */
#define WR_UNIT_TABLE(X)                                                                           \
    X(WR_UNIT_SECOND, 1, "second", 1)                                                              \
    X(WR_UNIT_MINUTE, 2, "minute", 60)                                                             \
    X(WR_UNIT_HOUR, 3, "hour", 3600)                                                               \
    X(WR_UNIT_DAY, 4, "day", 86400)                                                                \
    X(WR_UNIT_MONTH, 5, "month", 2592000)                                                          \
    X(WR_UNIT_YEAR, 6, "year", 31536000)                                                           \
    X(WR_UNIT_WEEK, 7, "week", 604800)

enum wr_unit {
    WR_UNIT_UNKNOWN = 0,
#define WR_UNIT_ENUM(id, number, name, seconds) id = (number),
    WR_UNIT_TABLE(WR_UNIT_ENUM)
#undef WR_UNIT_ENUM
};

/* The unit of that name, in any case; WR_UNIT_UNKNOWN when there is none. */
enum wr_unit wr_unit_of_name(struct wr_str name);

/* In lower case; "unknown" for WR_UNIT_UNKNOWN. */
const char *wr_unit_name(enum wr_unit unit);

/* 0 for WR_UNIT_UNKNOWN. */
int64_t wr_unit_length_us(enum wr_unit unit);

#endif
