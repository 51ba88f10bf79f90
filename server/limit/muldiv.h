/* SPDX-License-Identifier: Apache-2.0 */
/*
 * a × b / c in whole numbers, where a × b may need two words. Operands are at most WR_COUNT_MAX,
 * and what would be more than that is WR_COUNT_MAX, so that a Redis script, whose numbers are exact
 * up to there, agrees to the last unit; tests/cases/muldiv.txt holds the rows that both must meet.
 *
 * Threads: pure functions.
 */
#ifndef WR_LIMIT_MULDIV_H
#define WR_LIMIT_MULDIV_H

#include <stdint.h>

#include "limit/limit.h"

struct wr_muldiv {
    uint64_t quotient; /* rounded down */
    uint64_t rest;     /* less than c; 0 when the quotient was cut */
};

/* For products of more than one word: see wr_muldiv. */
struct wr_muldiv wr_muldiv_long(uint64_t a, uint64_t b, uint64_t c);

/* c > 0. */
static inline struct wr_muldiv wr_muldiv(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t product;

    if (__builtin_mul_overflow(a, b, &product) || product / c > WR_COUNT_MAX) {
        return wr_muldiv_long(a, b, c);
    }
    return (struct wr_muldiv){.quotient = product / c, .rest = product % c};
}

/* Rounded down. c > 0. */
static inline uint64_t wr_muldiv_floor(uint64_t a, uint64_t b, uint64_t c)
{
    return wr_muldiv(a, b, c).quotient;
}

/* Rounded up. c > 0. */
static inline uint64_t wr_muldiv_ceil(uint64_t a, uint64_t b, uint64_t c)
{
    const struct wr_muldiv result = wr_muldiv(a, b, c);

    return result.quotient + (result.rest > 0 && result.quotient < WR_COUNT_MAX ? 1 : 0);
}

#endif
