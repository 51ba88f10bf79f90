/* SPDX-License-Identifier: Apache-2.0 */
#include "client/error.h"

#include <criterion/criterion.h>

Test(error, returns_the_code_and_keeps_the_text)
{
    struct weir_error error;

    cr_assert_eq(weir_error_set(&error, WEIR_ERR_TIMEOUT, "%d ms", 20), WEIR_ERR_TIMEOUT);
    cr_assert_eq(error.code, WEIR_ERR_TIMEOUT);
    cr_assert_str_eq(error.text, "20 ms");
}

Test(error, needs_no_place_for_the_text)
{
    cr_assert_eq(weir_error_set(NULL, WEIR_ERR_MEMORY, "out of memory"), WEIR_ERR_MEMORY);
}

Test(error, lets_no_control_character_through)
{
    struct weir_error error;

    weir_error_set(&error, WEIR_ERR_SERVER, "a\x1b[2Jb\nc\x7f%s", "\xc3\xa9");
    cr_assert_str_eq(error.text, "a [2Jb c \xc3\xa9");
}

Test(error, lets_nothing_through_that_acts_on_a_terminal)
{
    struct weir_error error;

    weir_error_set(&error, WEIR_ERR_SERVER,
                   "a\xc2\x9b"
                   "b\xe2\x80\xae"
                   "c\xff");
    cr_assert_str_eq(error.text, "a b c ");
}

Test(error, ends_a_long_text_between_two_characters)
{
    /* "é" is two bytes, so one of the two starts is cut in the middle of one. */
    for (int start = 0; start < 2; start++) {
        struct weir_error error;
        char text[402] = "x";

        for (int i = start; i < 400; i += 2) {
            memcpy(&text[i], "\xc3\xa9", 2);
        }
        text[400 + start] = '\0';
        weir_error_set(&error, WEIR_ERR_SERVER, "%s", text);

        const size_t len = strlen(error.text);

        cr_assert_leq(len, WEIR_ERROR_MAX);
        cr_assert_geq(len, WEIR_ERROR_MAX - 1);
        cr_assert_str_eq(&error.text[len - 3], "...");
        cr_assert_eq((unsigned char) error.text[len - 4], 0xa9, "start %d", start);
    }
}

Test(error, keeps_a_text_that_just_fits)
{
    struct weir_error error;

    weir_error_set(&error, WEIR_ERR_SERVER, "%255s", "end");
    cr_assert_eq(strlen(error.text), WEIR_ERROR_MAX);
    cr_assert_str_eq(&error.text[WEIR_ERROR_MAX - 3], "end");
}

Test(error, is_cleared)
{
    struct weir_error error;

    weir_error_set(&error, WEIR_ERR_SERVER, "x");
    weir_error_clear(&error);
    cr_assert_eq(error.code, WEIR_OK);
    cr_assert_str_empty(error.text);
}

Test(error, has_a_word_for_every_code)
{
    cr_assert_str_eq(weir_err_name(WEIR_OK), "ok");
    cr_assert_str_eq(weir_err_name(WEIR_ERR_TOO_LARGE), "too_large");
    cr_assert_str_eq(weir_err_name(WEIR_ERR_MEMORY), "memory");
    cr_assert_str_eq(weir_err_name((enum weir_err) 99), "unknown");
    cr_assert_str_eq(weir_err_name((enum weir_err) - 1), "unknown");
}
