/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/decimal.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The digits before the point, 0 or 1 whatever zeros stand before; how many there are. */
static size_t parse_whole(struct wr_str text, uint32_t *out_whole)
{
    size_t n = 0;

    *out_whole = 0;
    while (n < text.len && is_digit(text.ptr[n]) && *out_whole <= 1) {
        *out_whole = *out_whole * 10 + (uint32_t) (text.ptr[n++] - '0');
    }
    return n;
}

bool wr_decimal_parse(struct wr_str text, struct wr_decimal *out_decimal)
{
    struct wr_decimal decimal = {.denominator = 1};
    size_t at = parse_whole(text, &decimal.numerator);
    size_t n_digits = at;

    if (decimal.numerator > 1) {
        return false;
    }
    if (at < text.len && text.ptr[at] == '.') {
        const size_t begin = ++at;

        for (; at < text.len && is_digit(text.ptr[at]); at++, n_digits++) {
            if (at - begin == WR_DECIMAL_DIGITS_MAX) {
                return false;
            }
            decimal.numerator = decimal.numerator * 10 + (uint32_t) (text.ptr[at] - '0');
            decimal.denominator *= 10;
        }
    }
    if (n_digits == 0 || at < text.len || decimal.numerator > decimal.denominator) {
        return false;
    }
    *out_decimal = decimal;
    return true;
}

uint64_t wr_decimal_of(const struct wr_decimal *decimal, uint64_t whole)
{
    /* below 2^32 x 10^9 < 2^62 */
    return whole * decimal->numerator / decimal->denominator;
}
