/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shares of a limit as rules write them, exact decimals: 0.29 of 100 is 29, which it is not in
 * floating point.
 *
 * Threads: pure functions.
 */
#ifndef WR_RULES_DECIMAL_H
#define WR_RULES_DECIMAL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* Digits behind the point. */
#define WR_DECIMAL_DIGITS_MAX 9

/* numerator / denominator, from 0 to 1. */
struct wr_decimal {
    uint32_t numerator, denominator; /* the latter a power of ten */
};

/* Reads digits, a point and digits; false when `text` is something else, more than 1, or has more
 * digits behind the point than there may be. */
bool wr_decimal_parse(struct wr_str text, struct wr_decimal *out_decimal);

/* The part of `whole`, which is at most 2^32 - 1, rounded down. */
uint64_t wr_decimal_of(const struct wr_decimal *decimal, uint64_t whole);

#endif
