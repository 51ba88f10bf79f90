/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <stdint.h>
#include <string.h>

struct wr_str wr_str_of(const char *text)
{
    return (struct wr_str){.ptr = text, .len = strlen(text)};
}

bool wr_str_equal(struct wr_str a, struct wr_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static int lower(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

bool wr_str_equal_nocase(struct wr_str a, struct wr_str b)
{
    if (a.len != b.len) {
        return false;
    }
    for (size_t i = 0; i < a.len; i++) {
        if (lower(a.ptr[i]) != lower(b.ptr[i])) {
            return false;
        }
    }
    return true;
}

bool wr_str_has_prefix(struct wr_str text, struct wr_str prefix)
{
    return text.len >= prefix.len &&
           (prefix.len == 0 || memcmp(text.ptr, prefix.ptr, prefix.len) == 0);
}

bool wr_str_has_suffix(struct wr_str text, struct wr_str suffix)
{
    return text.len >= suffix.len && (suffix.len == 0 || memcmp(text.ptr + (text.len - suffix.len),
                                                                suffix.ptr, suffix.len) == 0);
}

size_t wr_str_place(const struct wr_str *texts, size_t n, struct wr_str text)
{
    size_t i = 0;

    while (i < n && !wr_str_equal(texts[i], text)) {
        i++;
    }
    return i;
}

size_t wr_str_find(struct wr_str text, char byte)
{
    const char *const at = text.len == 0 ? NULL : memchr(text.ptr, byte, text.len);

    return at == NULL ? text.len : (size_t) (at - text.ptr);
}

int wr_str_compare(struct wr_str a, struct wr_str b)
{
    const size_t common = a.len < b.len ? a.len : b.len;
    const int order = common == 0 ? 0 : memcmp(a.ptr, b.ptr, common);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* The length of the well-formed sequence at `s`, 0 when there is none (Unicode 15, table 3-7). */
static size_t utf8_sequence(const unsigned char *s, size_t left)
{
    static const struct {
        unsigned char first_min, first_max, second_min, second_max;
        size_t len;
    } rows[] = {
        {0x00, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (s[0] < rows[i].first_min || s[0] > rows[i].first_max) {
            continue;
        }
        if (rows[i].len > left) {
            return 0;
        }
        if (rows[i].len > 1 && (s[1] < rows[i].second_min || s[1] > rows[i].second_max)) {
            return 0;
        }
        for (size_t k = 2; k < rows[i].len; k++) {
            if ((s[k] & 0xc0) != 0x80) {
                return 0;
            }
        }
        return rows[i].len;
    }
    return 0;
}

/* Where the ASCII at the start of `text` ends: eight bytes at a time, then one. */
static size_t ascii_prefix(struct wr_str text)
{
    static const uint64_t high_bits = UINT64_C(0x8080808080808080);
    size_t i = 0;

    for (; text.len - i >= sizeof high_bits; i += sizeof high_bits) {
        uint64_t bytes;

        memcpy(&bytes, text.ptr + i, sizeof bytes);
        if ((bytes & high_bits) != 0) {
            break;
        }
    }
    while (i < text.len && (unsigned char) text.ptr[i] < 0x80) {
        i++;
    }
    return i;
}

size_t wr_str_utf8_first(struct wr_str text)
{
    return utf8_sequence((const unsigned char *) text.ptr, text.len);
}

bool wr_str_is_utf8(struct wr_str text)
{
    for (size_t i = ascii_prefix(text); i < text.len;) {
        const size_t len = wr_str_utf8_first(wr_str_skip(text, i));

        if (len == 0) {
            return false;
        }
        i += len;
    }
    return true;
}
