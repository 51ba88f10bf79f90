/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_scalar.h"

#include <stddef.h>
#include <string.h>

#define TAG(name) WR_STR("tag:yaml.org,2002:" name)

static const struct word {
    struct wr_str text;
    enum wr_scalar_kind kind;
    bool boolean;
} words[] = {
    {WR_STR(""), WR_SCALAR_NULL, false},       {WR_STR("~"), WR_SCALAR_NULL, false},
    {WR_STR("null"), WR_SCALAR_NULL, false},   {WR_STR("Null"), WR_SCALAR_NULL, false},
    {WR_STR("NULL"), WR_SCALAR_NULL, false},   {WR_STR("y"), WR_SCALAR_BOOL, true},
    {WR_STR("Y"), WR_SCALAR_BOOL, true},       {WR_STR("yes"), WR_SCALAR_BOOL, true},
    {WR_STR("Yes"), WR_SCALAR_BOOL, true},     {WR_STR("YES"), WR_SCALAR_BOOL, true},
    {WR_STR("true"), WR_SCALAR_BOOL, true},    {WR_STR("True"), WR_SCALAR_BOOL, true},
    {WR_STR("TRUE"), WR_SCALAR_BOOL, true},    {WR_STR("on"), WR_SCALAR_BOOL, true},
    {WR_STR("On"), WR_SCALAR_BOOL, true},      {WR_STR("ON"), WR_SCALAR_BOOL, true},
    {WR_STR("n"), WR_SCALAR_BOOL, false},      {WR_STR("N"), WR_SCALAR_BOOL, false},
    {WR_STR("no"), WR_SCALAR_BOOL, false},     {WR_STR("No"), WR_SCALAR_BOOL, false},
    {WR_STR("NO"), WR_SCALAR_BOOL, false},     {WR_STR("false"), WR_SCALAR_BOOL, false},
    {WR_STR("False"), WR_SCALAR_BOOL, false},  {WR_STR("FALSE"), WR_SCALAR_BOOL, false},
    {WR_STR("off"), WR_SCALAR_BOOL, false},    {WR_STR("Off"), WR_SCALAR_BOOL, false},
    {WR_STR("OFF"), WR_SCALAR_BOOL, false},    {WR_STR(".nan"), WR_SCALAR_FLOAT, false},
    {WR_STR(".NaN"), WR_SCALAR_FLOAT, false},  {WR_STR(".NAN"), WR_SCALAR_FLOAT, false},
    {WR_STR(".inf"), WR_SCALAR_FLOAT, false},  {WR_STR(".Inf"), WR_SCALAR_FLOAT, false},
    {WR_STR(".INF"), WR_SCALAR_FLOAT, false},  {WR_STR("+.inf"), WR_SCALAR_FLOAT, false},
    {WR_STR("+.Inf"), WR_SCALAR_FLOAT, false}, {WR_STR("+.INF"), WR_SCALAR_FLOAT, false},
    {WR_STR("-.inf"), WR_SCALAR_FLOAT, false}, {WR_STR("-.Inf"), WR_SCALAR_FLOAT, false},
    {WR_STR("-.INF"), WR_SCALAR_FLOAT, false},
};

/* A reader of one word that passes over '_', which may stand anywhere in a number. */
struct cursor {
    struct wr_str text;
    size_t at;
};

/* The character to be read, 0 at the end (a NUL in the word is no part of any number either). */
static char peek(struct cursor *cursor)
{
    while (cursor->at < cursor->text.len && cursor->text.ptr[cursor->at] == '_') {
        cursor->at++;
    }
    return cursor->at < cursor->text.len ? cursor->text.ptr[cursor->at] : '\0';
}

static bool is_at_end(struct cursor *cursor)
{
    return peek(cursor) == '\0' && cursor->at == cursor->text.len;
}

static bool take(struct cursor *cursor, const char *any_of)
{
    const char c = peek(cursor);

    for (; *any_of != '\0'; any_of++) {
        if (c == *any_of) {
            cursor->at++;
            return true;
        }
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t take_digits(struct cursor *cursor)
{
    size_t n = 0;

    while (is_digit(peek(cursor))) {
        cursor->at++;
        n++;
    }
    return n;
}

/* The value of a digit in bases up to 16; 16 for what is none. */
static unsigned digit_value(char c)
{
    if (is_digit(c)) {
        return (unsigned) (c - '0');
    }
    if (c >= 'a' && c <= 'f') {
        return (unsigned) (c - 'a') + 10;
    }
    return c >= 'A' && c <= 'F' ? (unsigned) (c - 'A') + 10 : 16;
}

/* 0x, 0b, 0o and a bare 0 before more digits (octal) are taken; without any the base is ten. */
static unsigned take_base(struct cursor *cursor)
{
    struct cursor ahead = *cursor;

    if (!take(&ahead, "0") || is_at_end(&ahead)) {
        return 10;
    }

    unsigned base = 8;

    if (take(&ahead, "xX")) {
        base = 16;
    } else if (take(&ahead, "bB")) {
        base = 2;
    } else {
        (void) take(&ahead, "oO");
    }
    *cursor = ahead;
    return base;
}

/* Digits to the end, at least one; false when something else is there or 64 bits do not hold it. */
static bool take_magnitude(struct cursor *cursor, unsigned base, uint64_t *out_magnitude)
{
    uint64_t magnitude = 0;

    if (is_at_end(cursor)) {
        return false;
    }
    while (!is_at_end(cursor)) {
        const unsigned digit = digit_value(peek(cursor));

        if (digit >= base || magnitude > (UINT64_MAX - digit) / base) {
            return false;
        }
        magnitude = magnitude * base + digit;
        cursor->at++;
    }
    *out_magnitude = magnitude;
    return true;
}

static bool is_as_people_write(struct wr_str text)
{
    const size_t sign = text.ptr[0] == '-';

    for (size_t i = sign; i < text.len; i++) {
        if (!is_digit(text.ptr[i])) {
            return false;
        }
    }
    /* Minus nothing is no number that anybody means. */
    return text.ptr[sign] != '0' || (text.len == 1 && sign == 0);
}

static bool resolve_int(struct wr_str text, struct wr_scalar *out)
{
    struct cursor cursor = {.text = text};
    const bool is_negative = take(&cursor, "-");
    const bool is_signed = is_negative || take(&cursor, "+");
    const unsigned base = take_base(&cursor);
    uint64_t magnitude;

    if (!take_magnitude(&cursor, base, &magnitude)) {
        return false;
    }

    const uint64_t largest = (uint64_t) INT64_MAX + is_negative;

    if (magnitude > largest && is_signed) {
        return false;
    }
    *out = (struct wr_scalar){
        .kind = magnitude > largest ? WR_SCALAR_BIG : WR_SCALAR_INT,
        .is_negative = is_negative,
        .magnitude = magnitude,
        .is_plain_digits = is_as_people_write(text),
    };
    return true;
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(struct wr_str text)
{
    struct cursor cursor = {.text = text};

    (void) take(&cursor, "-+");

    const size_t n_whole = take_digits(&cursor);
    const bool has_point = take(&cursor, ".");
    const size_t n_fraction = has_point ? take_digits(&cursor) : 0;

    if (n_whole == 0 && n_fraction == 0) {
        return false;
    }
    if (take(&cursor, "eE")) {
        (void) take(&cursor, "-+");
        if (take_digits(&cursor) == 0) {
            return false;
        }
    }
    return is_at_end(&cursor);
}

/* Most texts are none of the words, which their first letter and their length tell. */
static bool may_be_word(struct wr_str text)
{
    static const char firsts[] = "~nNyYtToOfF.+-";

    return text.len == 0 ||
           (text.len <= 5 && memchr(firsts, text.ptr[0], sizeof firsts - 1) != NULL);
}

static struct wr_scalar resolve(struct wr_str text)
{
    const size_t n_words = may_be_word(text) ? sizeof words / sizeof words[0] : 0;
    struct wr_scalar scalar = {.kind = WR_SCALAR_TEXT};

    for (size_t i = 0; i < n_words; i++) {
        if (wr_str_equal(text, words[i].text)) {
            return (struct wr_scalar){.kind = words[i].kind, .boolean = words[i].boolean};
        }
    }

    const char c = text.ptr[0];

    if (is_digit(c) || c == '-' || c == '+') {
        if (!resolve_int(text, &scalar) && is_float(text)) {
            scalar.kind = WR_SCALAR_FLOAT;
        }
    } else if (c == '.' && is_float(text)) {
        scalar.kind = WR_SCALAR_FLOAT;
    }
    return scalar;
}

/* The scalar read as the core type `tag` names. A tag of another kind leaves the text as it is. */
static struct wr_scalar resolve_tagged(struct wr_str text, struct wr_str tag)
{
    static const struct {
        struct wr_str tag;
        enum wr_scalar_kind kind;
    } core[] = {
        {TAG("null"), WR_SCALAR_NULL},
        {TAG("bool"), WR_SCALAR_BOOL},
        {TAG("int"), WR_SCALAR_INT},
        {TAG("float"), WR_SCALAR_FLOAT},
        /* Neither may stand anywhere in rules. */
        {TAG("timestamp"), WR_SCALAR_BAD},
        {TAG("binary"), WR_SCALAR_BAD},
    };
    struct wr_scalar scalar = resolve(text);

    for (size_t i = 0; i < sizeof core / sizeof core[0]; i++) {
        if (!wr_str_equal(tag, core[i].tag)) {
            continue;
        }
        if (core[i].kind == WR_SCALAR_FLOAT && scalar.kind == WR_SCALAR_INT) {
            scalar.kind = WR_SCALAR_FLOAT;
        } else if (core[i].kind == WR_SCALAR_INT && scalar.kind == WR_SCALAR_BIG) {
            return scalar;
        } else if (scalar.kind != core[i].kind) {
            scalar.kind = WR_SCALAR_BAD;
        }
        return scalar;
    }
    return (struct wr_scalar){.kind = WR_SCALAR_TEXT};
}

struct wr_scalar wr_scalar_of(const struct wr_config_node *node)
{
    if (node->tag.len > 0) {
        return resolve_tagged(node->text, node->tag);
    }
    return node->is_plain ? resolve(node->text) : (struct wr_scalar){.kind = WR_SCALAR_TEXT};
}
