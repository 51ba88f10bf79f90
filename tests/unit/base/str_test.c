/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <criterion/criterion.h>
#include <string.h>

#define N_OF(rows) (sizeof(rows) / sizeof((rows)[0]))

static int sign(int x)
{
    return (x > 0) - (x < 0);
}

Test(str, a_literal_counts_its_nul_bytes_and_not_its_end)
{
    const struct wr_str literal = WR_STR("a\0b");

    cr_assert_eq(literal.len, 3u);
    cr_assert_eq(wr_str_of("a\0b").len, 1u);
}

Test(str, equality_and_order)
{
    static const struct {
        struct wr_str a, b;
        int order;
        bool nocase;
    } rows[] = {
        {WR_STR(""), WR_STR(""), 0, true},
        {{NULL, 0}, WR_STR(""), 0, true},
        {WR_STR(""), WR_STR("a"), -1, false},
        {WR_STR("a"), WR_STR("a"), 0, true},
        {WR_STR("a"), WR_STR("b"), -1, false},
        {WR_STR("a"), WR_STR("ab"), -1, false},
        {WR_STR("b"), WR_STR("ab"), 1, false},
        {WR_STR("a\0"), WR_STR("a"), 1, false},
        {WR_STR("a\0b"), WR_STR("a\0c"), -1, false},
        {WR_STR("MINUTE"), WR_STR("minute"), -1, true},
        {WR_STR("["), WR_STR("{"), -1, false},
        {WR_STR("\xc3\x89"), WR_STR("\xc3\xa9"), -1, false},
        {WR_STR("\xff"), WR_STR("a"), 1, false},
    };

    for (size_t i = 0; i < N_OF(rows); i++) {
        const struct wr_str a = rows[i].a, b = rows[i].b;

        cr_assert_eq(wr_str_equal(a, b), rows[i].order == 0, "row %zu", i);
        cr_assert_eq(wr_str_equal(b, a), rows[i].order == 0, "row %zu", i);
        cr_assert_eq(sign(wr_str_compare(a, b)), rows[i].order, "row %zu", i);
        cr_assert_eq(sign(wr_str_compare(b, a)), -rows[i].order, "row %zu", i);
        cr_assert_eq(wr_str_equal_nocase(a, b), rows[i].nocase, "row %zu", i);
    }
}

Test(str, a_byte_parts_a_text)
{
    static const struct {
        struct wr_str text;
        char byte;
        size_t at;
        struct wr_str before, behind;
    } rows[] = {
        {WR_STR("a:b"), ':', 1, WR_STR("a"), WR_STR(":b")},
        {WR_STR("a:b:c"), ':', 1, WR_STR("a"), WR_STR(":b:c")},
        {WR_STR(":"), ':', 0, WR_STR(""), WR_STR(":")},
        {WR_STR("a:"), ':', 1, WR_STR("a"), WR_STR(":")},
        {WR_STR("ab"), ':', 2, WR_STR("ab"), WR_STR("")},
        {WR_STR("ab"), '\0', 2, WR_STR("ab"), WR_STR("")},
        {WR_STR("a\0b"), '\0', 1, WR_STR("a"), WR_STR("\0b")},
        {WR_STR("a\xff"), '\xff', 1, WR_STR("a"), WR_STR("\xff")},
        {WR_STR(""), ':', 0, WR_STR(""), WR_STR("")},
        {{NULL, 0}, ':', 0, {NULL, 0}, {NULL, 0}},
    };

    for (size_t i = 0; i < N_OF(rows); i++) {
        const struct wr_str text = rows[i].text;
        const size_t at = wr_str_find(text, rows[i].byte);

        cr_assert_eq(at, rows[i].at, "row %zu", i);
        cr_assert(wr_str_equal(wr_str_part(text, 0, at), rows[i].before), "row %zu", i);
        cr_assert(wr_str_equal(wr_str_part(text, at, text.len), rows[i].behind), "row %zu", i);
        cr_assert(wr_str_equal(wr_str_skip(text, at), rows[i].behind), "row %zu", i);
    }
}

Test(str, prefixes_and_suffixes)
{
    static const struct {
        struct wr_str text, part;
        bool prefix, suffix;
    } rows[] = {
        {WR_STR("abc"), WR_STR(""), true, true},
        {WR_STR(""), WR_STR(""), true, true},
        {{NULL, 0}, {NULL, 0}, true, true},
        {WR_STR("abc"), WR_STR("ab"), true, false},
        {WR_STR("abc"), WR_STR("bc"), false, true},
        {WR_STR("abc"), WR_STR("abc"), true, true},
        {WR_STR("abc"), WR_STR("abcd"), false, false},
        {WR_STR("aba"), WR_STR("a"), true, true},
        {WR_STR(""), WR_STR("a"), false, false},
        {WR_STR("ab\0"), WR_STR("b"), false, false},
    };

    for (size_t i = 0; i < N_OF(rows); i++) {
        cr_assert_eq(wr_str_has_prefix(rows[i].text, rows[i].part), rows[i].prefix, "row %zu", i);
        cr_assert_eq(wr_str_has_suffix(rows[i].text, rows[i].part), rows[i].suffix, "row %zu", i);
    }
}

/* The first and last of each row of Unicode's table 3-7, and their neighbours outside. */
Test(str, well_formed_utf8)
{
    static const struct wr_str good[] = {
        WR_STR(""),
        WR_STR("ascii"),
        WR_STR("a\0b"),
        WR_STR("\x7f"),
        WR_STR("\xc2\x80"),
        WR_STR("\xdf\xbf"),
        WR_STR("\xe0\xa0\x80"),
        WR_STR("\xe0\xbf\xbf"),
        WR_STR("\xe1\x80\x80"),
        WR_STR("\xec\xbf\xbf"),
        WR_STR("\xed\x80\x80"),
        WR_STR("\xed\x9f\xbf"),
        WR_STR("\xee\x80\x80"),
        WR_STR("\xef\xbf\xbf"),
        WR_STR("\xf0\x90\x80\x80"),
        WR_STR("\xf0\xbf\xbf\xbf"),
        WR_STR("\xf1\x80\x80\x80"),
        WR_STR("\xf3\xbf\xbf\xbf"),
        WR_STR("\xf4\x80\x80\x80"),
        WR_STR("\xf4\x8f\xbf\xbf"),
        WR_STR("\xc3\xa9t\xc3\xa9"),
    };

    for (size_t i = 0; i < N_OF(good); i++) {
        cr_assert(wr_str_is_utf8(good[i]), "row %zu", i);
    }
}

Test(str, ill_formed_utf8)
{
    static const struct wr_str bad[] = {
        WR_STR("\x80"),
        WR_STR("\xbf"),
        WR_STR("a\x80"),
        WR_STR("\xc0\x80"),
        WR_STR("\xc1\xbf"),
        WR_STR("\xc2"),
        WR_STR("\xc2\x7f"),
        WR_STR("\xc2\xc0"),
        WR_STR("\xe0\x9f\xbf"),
        WR_STR("\xe0\xa0"),
        WR_STR("\xe0"),
        WR_STR("\xe1\x80"),
        WR_STR("\xe1\x80\x7f"),
        WR_STR("\xe1\x80\xc0"),
        WR_STR("\xed\xa0\x80"),
        WR_STR("\xed\xbf\xbf"),
        WR_STR("\xf0\x8f\xbf\xbf"),
        WR_STR("\xf0\x90\x80"),
        WR_STR("\xf0\x90"),
        WR_STR("\xf0"),
        WR_STR("\xf1\x80\x80\x7f"),
        WR_STR("\xf1\x80\xc0\x80"),
        WR_STR("\xf4\x90\x80\x80"),
        WR_STR("\xf5\x80\x80\x80"),
        WR_STR("\xf8\x88\x80\x80\x80"),
        WR_STR("\xfe"),
        WR_STR("\xff"),
        WR_STR("\xc3\xa9\xc3"),
        WR_STR("ok\xe2\x82"),
    };

    for (size_t i = 0; i < N_OF(bad); i++) {
        cr_assert(!wr_str_is_utf8(bad[i]), "row %zu", i);
    }
}

/* Every sequence of two bytes, against what the table says of them. */
Test(str, all_pairs_of_bytes)
{
    size_t n_good = 0;

    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            const char text[] = {(char) a, (char) b};

            n_good += wr_str_is_utf8((struct wr_str){text, 2});
        }
    }
    cr_assert_eq(n_good, 128u * 128 + 30 * 64);
}

/* ASCII is looked at in strides, so a fault or a letter may be at any place in one. */
Test(str, utf8_at_every_place_of_every_length)
{
    char text[40];

    for (size_t len = 0; len <= sizeof text; len++) {
        memset(text, 'a', sizeof text);
        cr_assert(wr_str_is_utf8((struct wr_str){text, len}), "length %zu", len);
        for (size_t i = 0; i < len; i++) {
            memset(text, 'a', sizeof text);
            text[i] = '\xc3';
            cr_assert(!wr_str_is_utf8((struct wr_str){text, len}), "%zu of %zu", i, len);
            if (i + 1 < len) {
                text[i + 1] = '\xa9';
                cr_assert(wr_str_is_utf8((struct wr_str){text, len}), "%zu of %zu", i, len);
                text[i] = 'a';
                cr_assert(!wr_str_is_utf8((struct wr_str){text, len}), "%zu of %zu", i, len);
            }
        }
    }
}

Test(str, place_is_that_of_the_first_equal_text)
{
    static const struct wr_str texts[] = {WR_STR("a"), WR_STR("b"), WR_STR(""), WR_STR("b")};
    static const struct wr_str b = WR_STR("b"), empty = WR_STR(""), other = WR_STR("ab");

    cr_assert_eq(wr_str_place(texts, 4, b), 1);
    cr_assert_eq(wr_str_place(texts, 4, empty), 2);
    cr_assert_eq(wr_str_place(texts, 4, other), 4);
    cr_assert_eq(wr_str_place(texts, 0, b), 0);
}
