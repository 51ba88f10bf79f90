/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A borrowed view of text or bytes with a length: never NUL-terminated, never stored without a
 * copy.
 *
 * Threads: plain values.
 */
#ifndef WR_BASE_STR_H
#define WR_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>

struct wr_str {
    const char *ptr;
    size_t len;
};

/* A string literal as a view; also usable in static initialisers. */
#define WR_STR(literal)                                                                            \
    {                                                                                              \
        .ptr = (literal), .len = sizeof(literal) - 1                                               \
    }

/* A view of NUL-terminated `text`, which must outlive it. */
struct wr_str wr_str_of(const char *text);

bool wr_str_equal(struct wr_str a, struct wr_str b);

/* ASCII letters compare alike in both cases. */
bool wr_str_equal_nocase(struct wr_str a, struct wr_str b);

bool wr_str_has_prefix(struct wr_str text, struct wr_str prefix);

bool wr_str_has_suffix(struct wr_str text, struct wr_str suffix);

/* The place of the first `byte`; `text.len` when there is none. */
size_t wr_str_find(struct wr_str text, char byte);

/* From byte `from` to before byte `to` of `text`, which has both. */
static inline struct wr_str wr_str_part(struct wr_str text, size_t from, size_t to)
{
    return (struct wr_str){.ptr = text.ptr + from, .len = to - from};
}

/* What is behind the first `n` bytes of `text`, which has as many. */
static inline struct wr_str wr_str_skip(struct wr_str text, size_t n)
{
    return wr_str_part(text, n, text.len);
}

/* <0, 0, >0 as memcmp, the shorter first when one begins the other. */
int wr_str_compare(struct wr_str a, struct wr_str b);

/* The place of `text` among `n` texts, the first of equals; n when it is not one of them. */
size_t wr_str_place(const struct wr_str *texts, size_t n, struct wr_str text);

/* How many bytes the well-formed character has that begins `text`, which is not empty; 0 when none
 * does. */
size_t wr_str_utf8_first(struct wr_str text);

/* True when `text` is well-formed UTF-8 (no surrogates, no overlong forms; NUL is fine). */
bool wr_str_is_utf8(struct wr_str text);

#endif
