/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shown.h"

#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#define LINE_SIZE 2048

/* The number of a well-formed character of `len` bytes. */
static uint32_t code_of(const unsigned char *bytes, size_t len)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = bytes[0] & masks[len];

    for (size_t i = 1; i < len; i++) {
        code = code << 6 | (bytes[i] & 0x3f);
    }
    return code;
}

static bool is_shown(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } acting[] = {
        {0x00, 0x1f},     {0x7f, 0x9f},     /* control characters: C0, DEL, C1 */
        {0x61c, 0x61c},   {0x200e, 0x200f}, /* marks of direction */
        {0x2028, 0x2029},                   /* separators of lines and paragraphs */
        {0x202a, 0x202e}, {0x2066, 0x2069}, /* embeddings, overrides and isolates */
    };

    for (size_t i = 0; i < sizeof acting / sizeof acting[0]; i++) {
        if (code >= acting[i].first && code <= acting[i].last) {
            return false;
        }
    }
    return true;
}

/* How many bytes at the start of `text`, which is not empty, are one character, or one that is
 * none;
 * `*out_is_shown` tells whether it may be shown. */
static size_t shown_first(struct wr_str text, bool *out_is_shown)
{
    const size_t len = wr_str_utf8_first(text);

    *out_is_shown = len > 0 && is_shown(code_of((const unsigned char *) text.ptr, len));
    return len > 0 ? len : 1;
}

bool wr_shown_is_whole(struct wr_str text)
{
    for (size_t i = 0; i < text.len;) {
        bool stays;

        i += shown_first(wr_str_skip(text, i), &stays);
        if (!stays) {
            return false;
        }
    }
    return true;
}

size_t wr_shown_write(struct wr_str text, char *out, size_t room)
{
    size_t used = 0;

    for (size_t i = 0; i < text.len;) {
        const struct wr_str rest = wr_str_skip(text, i);
        bool stays;
        const size_t len = shown_first(rest, &stays);
        const size_t n = stays ? len : 1;

        if (n > room - used) {
            break;
        }
        if (stays) {
            memmove(out + used, rest.ptr, n);
        } else {
            out[used] = '?';
        }
        used += n;
        i += len;
    }
    return used;
}

void wr_shown_print(struct wr_str text, FILE *out)
{
    char part[256];

    while (text.len > 0) {
        /* The last bytes of a part may begin a character that goes on in the next. */
        size_t len = text.len < sizeof part ? text.len : sizeof part;

        while (len < text.len && len > sizeof part - 4 && (text.ptr[len] & 0xc0) == 0x80) {
            len--;
        }
        (void) fwrite(part, 1, wr_shown_write(wr_str_part(text, 0, len), part, sizeof part), out);
        text = wr_str_skip(text, len);
    }
}

void wr_shown_printf(FILE *out, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list args;

    va_start(args, format);

    const int n = vsnprintf(line, sizeof line, format, args);

    va_end(args);

    size_t len = n < 0 ? 0 : (size_t) n < sizeof line ? (size_t) n : sizeof line - 1;
    const bool ends = n > 0 && format[strlen(format) - 1] == '\n';

    if (ends && (size_t) n < sizeof line) {
        len--;
    }
    (void) fwrite(line, 1, wr_shown_write((struct wr_str){line, len}, line, sizeof line), out);
    if (ends) {
        (void) fputc('\n', out);
    }
}
