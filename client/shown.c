/* SPDX-License-Identifier: Apache-2.0 */
#include "shown.h"

/* The length that a first byte says; 0 when it begins no character. */
static size_t length_of(unsigned char first)
{
    if (first < 0x80) {
        return 1;
    }
    if (first < 0xc2 || first > 0xf4) {
        return 0;
    }
    return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* The number of the character of `len` bytes; UINT32_MAX when that is no UTF-8. */
static uint32_t code_of(const unsigned char *bytes, size_t len)
{
    static const uint32_t masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07},
                          least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint32_t code = bytes[0] & masks[len];

    for (size_t i = 1; i < len; i++) {
        if ((bytes[i] & 0xc0) != 0x80) {
            return UINT32_MAX;
        }
        code = code << 6 | (bytes[i] & 0x3f);
    }

    const bool is_surrogate = code >= 0xd800 && code <= 0xdfff;

    return code < least[len] || code > 0x10ffff || is_surrogate ? UINT32_MAX : code;
}

static bool acts(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x61c ||
           (code >= 0x200e && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2066 && code <= 0x2069);
}

size_t weir_shown_first(struct weir_str text, bool *out_is_shown)
{
    const unsigned char *bytes = (const unsigned char *) text.ptr;
    const size_t len = length_of(bytes[0]);
    const uint32_t code = len == 0 || len > text.len ? UINT32_MAX : code_of(bytes, len);

    *out_is_shown = code != UINT32_MAX && !acts(code);
    return code == UINT32_MAX ? 1 : len;
}
