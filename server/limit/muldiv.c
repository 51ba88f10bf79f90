/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/muldiv.h"

/* Bits of b that are multiplied at a time: a digit times a, plus a rest times 2^10, fits a word. */
#define DIGIT_BITS 10
#define DIGITS 6

/* Long division of the digits of b, each times a, with a rest that is carried from one to the next.
 */
struct wr_muldiv wr_muldiv_long(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t quotient = 0, rest = 0;

    for (int i = DIGITS - 1; i >= 0; i--) {
        const uint64_t digit = b >> (DIGIT_BITS * i) & ((1 << DIGIT_BITS) - 1);
        const uint64_t part = (rest << DIGIT_BITS) + a * digit;

        quotient = (quotient << DIGIT_BITS) + part / c;
        rest = part % c;
        if (quotient > WR_COUNT_MAX) {
            return (struct wr_muldiv){.quotient = WR_COUNT_MAX};
        }
    }
    return (struct wr_muldiv){.quotient = quotient, .rest = rest};
}
