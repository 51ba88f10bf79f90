/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/wildcard.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct row {
    const char *pattern, *text;
    bool fits;
};

static const struct row rows[] = {
    {"*", "", true},
    {"*", "anything", true},
    {"a*", "a", true},
    {"a*", "ab", true},
    {"a*", "ba", false},
    {"*a", "a", true},
    {"*a", "ba", true},
    {"*a", "ab", false},
    {"a*a", "a", false},
    {"a*a", "aa", true},
    {"bar*b", "barb", true},
    {"bar*b", "barab", true},
    {"bar*b", "bara", false},
    {"bar*b", "bar", false},
    {"foo*bar*baz", "foo-bar-baz", true},
    {"foo*bar*baz", "foobarbaz", true},
    {"foo*bar*baz", "foo-baz-bar", false},
    {"foo*bar*baz", "foobar", false},
    {"a*bb*cc*d", "abbccd", true},
    {"a*bb*cc*d", "abccd", false},
    {"a*bb*cc*d", "a-cc-bb-d", false},
    {"*ab*ab*", "abab", true},
    {"*ab*ab*", "aba", false},
    {"*aab*", "aaaab", true},
    {"x**y", "xy", true},
    {"x**y", "x1y", true},
    {"x**y", "x", false},
    {"**", "", true},
    {"plain", "plain", true},
    {"plain", "plainer", false},
    {"", "", true},
    {"", "a", false},
    {"p*", "p*", true},
};

Test(wildcard, each_star_stands_for_any_text)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_wildcard_match(wr_str_of(rows[i].pattern), wr_str_of(rows[i].text)),
                     rows[i].fits, "row %zu: %s on %s", i, rows[i].pattern, rows[i].text);
    }
}

Test(wildcard, bytes_of_any_kind_are_ordinary)
{
    const struct wr_str pattern = {.ptr = "a\0*\0b", .len = 5};
    const struct wr_str fits = {.ptr = "a\0x\ny\0b", .len = 7};
    const struct wr_str differs = {.ptr = "ax\0b", .len = 4};

    cr_assert(wr_wildcard_match(pattern, fits));
    cr_assert_not(wr_wildcard_match(pattern, differs));
    cr_assert(wr_wildcard_is(pattern));
    cr_assert_not(wr_wildcard_is(fits));
}

Test(wildcard, an_absent_text_fits_only_what_stands_for_nothing)
{
    const struct wr_str nothing = {0};

    cr_assert(wr_wildcard_match(nothing, nothing));
    cr_assert(wr_wildcard_match(wr_str_of("*"), nothing));
    cr_assert_not(wr_wildcard_match(wr_str_of("*a*"), nothing));
    cr_assert_not(wr_wildcard_is(nothing));
}

Test(wildcard, a_long_text_is_searched_to_its_end)
{
    const size_t len = 60 * 1024;
    char *const text = malloc(len);

    cr_assert_not_null(text);
    memset(text, 'x', len);
    memcpy(text + len - 6, "midend", 6);
    cr_assert(wr_wildcard_match(wr_str_of("x*mid*end"), (struct wr_str){text, len}));
    cr_assert_not(wr_wildcard_match(wr_str_of("x*end*mid"), (struct wr_str){text, len}));
    free(text);
}
