/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shown.h"

#include <criterion/criterion.h>
#include <string.h>

struct row {
    const char *text, *shown;
};

static const struct row rows[] = {
    {"", ""},
    {"edge, \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82",
     "edge, \xc3\xa9 \xe2\x82\xac \xf0\x9f\x99\x82"},
    {"a\nb\r\tc\x1b[31md\x7f", "a?b??c?[31md?"},
    {"a\xc2\x9b"
     "31mb\xc2\x80\xc2\x9f",
     "a?31mb??"},
    {"\xc2\xa0", "\xc2\xa0"}, /* the first beyond C1 */
    {"a\xe2\x80\xa8"
     "b\xe2\x80\xa9"
     "c",
     "a?b?c"},                                                                 /* U+2028, U+2029 */
    {"\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad\xe2\x80\xae", "?????"}, /* U+202A-E */
    {"\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9", "????"},              /* U+2066-9 */
    {"\xe2\x80\x8e\xe2\x80\x8f\xd8\x9c", "???"},              /* U+200E, U+200F, U+061C */
    {"\xe2\x80\xa7\xe2\x80\xaf", "\xe2\x80\xa7\xe2\x80\xaf"}, /* beside them */
    {"a\xff\xfe"
     "b\xc3",
     "a??b?"},
    {"\xed\xa0\x80", "???"}, /* a surrogate */
    {"\xc0\x9b", "??"},      /* overlong */
};

Test(shown, what_acts_on_a_terminal_and_what_is_no_text_is_replaced)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64] = "";
        const size_t len = wr_shown_write(wr_str_of(rows[i].text), text, sizeof text);

        cr_assert_eq(len, strlen(rows[i].shown), "row %zu: %s", i, text);
        cr_assert_eq(wr_shown_is_whole(wr_str_of(rows[i].text)),
                     strcmp(rows[i].text, rows[i].shown) == 0, "row %zu", i);
        cr_assert_eq(memcmp(text, rows[i].shown, len), 0, "row %zu: %s", i, text);
    }
}

Test(shown, it_may_be_written_over_itself)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[64] = "";

        strcpy(text, rows[i].text);

        const size_t len = wr_shown_write(wr_str_of(text), text, sizeof text);

        cr_assert_eq(len, strlen(rows[i].shown), "row %zu", i);
        cr_assert_eq(memcmp(text, rows[i].shown, len), 0, "row %zu: %s", i, text);
    }
}

Test(shown, no_character_is_cut)
{
    char text[4] = "....";

    cr_assert_eq(wr_shown_write(wr_str_of("a\xe2\x82\xac"), text, 3), 1u);
    cr_assert_eq(memcmp(text, "a...", 4), 0);
    cr_assert_eq(wr_shown_write(wr_str_of("a\xe2\x82\xac"), text, 4), 4u);
    cr_assert_eq(wr_shown_write(wr_str_of("a"), text, 0), 0u);
}

/* What is printed to a file, which is closed here; the caller's. */
static char *text_of(FILE *file, char **text)
{
    cr_assert_eq(fclose(file), 0);
    return *text;
}

Test(shown, a_long_text_is_printed_whole_whatever_stands_where_its_parts_meet)
{
    for (size_t start = 0; start < 3; start++) {
        char text[1000] = "xx", *printed = NULL;
        size_t size = 0;
        FILE *const out = open_memstream(&printed, &size);

        for (size_t i = start; i + 3 < sizeof text; i += 3) {
            memcpy(text + i, "\xe2\x82\xac", 3);
        }
        wr_shown_print(wr_str_of(text), out);
        cr_assert_str_eq(text_of(out, &printed), text, "start %zu", start);
        free(printed);
    }
}

Test(shown, bytes_that_are_no_text_are_counted_where_parts_meet_too)
{
    char text[1000], wanted[1000], *printed = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&printed, &size);

    memset(text, 0x80, sizeof text - 1);
    memset(wanted, '?', sizeof wanted - 1);
    text[sizeof text - 1] = wanted[sizeof wanted - 1] = '\0';
    wr_shown_print(wr_str_of(text), out);
    cr_assert_str_eq(text_of(out, &printed), wanted);
    free(printed);
}

Test(shown, a_line_ends_once)
{
    static const struct row lines[] = {{"a\nb", "'a?b'\n"}, {"\n", "'?'\n"}, {"\x1b", "'?'\n"}};

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        char *printed = NULL;
        size_t size = 0;
        FILE *const out = open_memstream(&printed, &size);

        wr_shown_printf(out, "'%s'\n", lines[i].text);
        cr_assert_str_eq(text_of(out, &printed), lines[i].shown, "row %zu", i);
        free(printed);
    }
}

Test(shown, a_text_without_an_end_of_line_gets_none)
{
    char *printed = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&printed, &size);

    wr_shown_printf(out, "%s", "a\n");
    cr_assert_str_eq(text_of(out, &printed), "a?");
    free(printed);
}

Test(shown, a_long_line_is_cut_and_still_ends)
{
    char text[5000], *printed = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&printed, &size);

    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    wr_shown_printf(out, "%s\n", text);
    cr_assert_eq(strlen(text_of(out, &printed)), 2048u);
    cr_assert_eq(printed[2047], '\n');
    free(printed);
}
