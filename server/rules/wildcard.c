/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/wildcard.h"

#include <string.h>

bool wr_wildcard_is(struct wr_str text)
{
    return text.len > 0 && memchr(text.ptr, '*', text.len) != NULL;
}

/* Up to the first '*', which the pattern must hold. */
static struct wr_str first_piece(struct wr_str pattern)
{
    const char *const star = memchr(pattern.ptr, '*', pattern.len);

    return wr_str_part(pattern, 0, (size_t) (star - pattern.ptr));
}

/* Moves `*text` behind the first place where `piece` stands in it; false when there is none. */
static bool take_piece(struct wr_str *text, struct wr_str piece)
{
    while (text->len >= piece.len) {
        if (piece.len == 0 || memcmp(text->ptr, piece.ptr, piece.len) == 0) {
            *text = wr_str_skip(*text, piece.len);
            return true;
        }

        const char *const next = memchr(text->ptr + 1, piece.ptr[0], text->len - 1);

        if (next == NULL) {
            return false;
        }
        *text = wr_str_skip(*text, (size_t) (next - text->ptr));
    }
    return false;
}

bool wr_wildcard_match(struct wr_str pattern, struct wr_str text)
{
    if (!wr_wildcard_is(pattern)) {
        return wr_str_equal(pattern, text);
    }

    const struct wr_str head = first_piece(pattern);

    if (!wr_str_has_prefix(text, head)) {
        return false;
    }
    text = wr_str_skip(text, head.len);
    pattern = wr_str_skip(pattern, head.len + 1);
    while (wr_wildcard_is(pattern)) {
        const struct wr_str piece = first_piece(pattern);

        if (!take_piece(&text, piece)) {
            return false;
        }
        pattern = wr_str_skip(pattern, piece.len + 1);
    }
    return wr_str_has_suffix(text, pattern);
}
