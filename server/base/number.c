/* SPDX-License-Identifier: Apache-2.0 */
#include "base/number.h"

size_t wr_number_digits(struct wr_str text)
{
    size_t n = 0;

    while (n < text.len && text.ptr[n] >= '0' && text.ptr[n] <= '9') {
        n++;
    }
    return n;
}

bool wr_number_parse(struct wr_str text, uint64_t max, uint64_t *out_number)
{
    uint64_t number = 0;

    if (text.len == 0 || wr_number_digits(text) != text.len) {
        return false;
    }
    for (size_t i = 0; i < text.len; i++) {
        const uint64_t digit = (uint64_t) (text.ptr[i] - '0');

        if (number > (max - digit) / 10 || digit > max) {
            return false;
        }
        number = number * 10 + digit;
    }
    *out_number = number;
    return true;
}
