/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The moments of a recorded trace, in whichever way they were written:
 *
 *   0, 59.25                         seconds since the trace began, below 10^9
 *   1767225600.125                   seconds since the Unix epoch, from 10^9 on: since 2001
 *   1767225600125                    milliseconds, from 10^12 on
 *   1767225600125000                 microseconds, from 10^15 on
 *   2026-01-01T01:00:00.125+01:00    a date and time with its zone (RFC 3339)
 *
 * No number can mean two of them, since all of one kind are of the years from 2001 to 2199. What is
 * finer than a microsecond is cut.
 * Threads: pure functions.
 */
#ifndef WR_SIMULATE_TRACE_TIME_H
#define WR_SIMULATE_TRACE_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct wr_trace_time {
    bool is_dated; /* since the Unix epoch; else since the trace began */
    int64_t us;    /* >= 0 */
};

enum wr_trace_time_fault {
    WR_TRACE_TIME_GOOD,
    WR_TRACE_TIME_NONE,     /* it is no time at all */
    WR_TRACE_TIME_NO_ZONE,  /* a date and time, and nothing more */
    WR_TRACE_TIME_NO_COLON, /* within the zone, as in +0200 */
    WR_TRACE_TIME_BAD_ZONE, /* what stands behind date and time is none */
    WR_TRACE_TIME_FAR,      /* before 1970, or beyond 2199 */
};

enum wr_trace_time_fault wr_trace_time_parse(struct wr_str text, struct wr_trace_time *out_time);

/* Where in a date and time the zone begins. */
size_t wr_trace_time_zone_at(struct wr_str text);

/* Room for a moment as a date and time of UTC. */
#define WR_TRACE_TIME_TEXT_SIZE 40

/* Writes `wall_us`, since the Unix epoch, as RFC 3339 has it: to the microsecond when needed. */
void wr_trace_time_write(int64_t wall_us, char out_text[WR_TRACE_TIME_TEXT_SIZE]);

#endif
