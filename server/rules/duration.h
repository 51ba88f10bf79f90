/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lengths of time as rules write them: durations of Go (`100ms`, `1h30m`, `1.5s`), with d for 24
 * hours and w for 7 days besides.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_DURATION_H
#define WR_RULES_DURATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* 100 years; so that what is reckoned with a few of them stays below 2^53 microseconds. */
#define WR_DURATION_MAX_US (INT64_C(36500) * 86400 * 1000000)

/* Room for any duration in the shortest form. */
#define WR_DURATION_TEXT_SIZE 32

enum wr_duration_fault {
    WR_DURATION_GOOD,
    WR_DURATION_NO_LENGTH, /* it is none at all */
    WR_DURATION_NO_UNIT,   /* a number alone */
    WR_DURATION_TOO_FINE,  /* no whole number of microseconds */
    WR_DURATION_TOO_LONG,  /* beyond WR_DURATION_MAX_US */
};

/* Reads `text`, which has no sign, into `*out_us`. */
enum wr_duration_fault wr_duration_parse(struct wr_str text, int64_t *out_us);

/* Writes `us` > 0 in the largest unit that divides it, as in 90m; NUL-terminated. */
void wr_duration_write(int64_t us, char out_text[WR_DURATION_TEXT_SIZE]);

#endif
