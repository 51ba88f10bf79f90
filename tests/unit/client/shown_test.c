/* SPDX-License-Identifier: Apache-2.0 */
#include "client/shown.h"

#include <criterion/criterion.h>

Test(shown, tells_a_character_and_whether_it_acts_on_a_terminal)
{
    static const struct {
        const char *text;
        size_t len;
        bool is_shown;
    } rows[] = {
        {"a", 1, true},
        {"\xc3\xa9", 2, true},
        {"\xe2\x82\xac", 3, true},
        {"\xf0\x9f\x99\x82", 4, true},
        {"\x1b", 1, false},
        {"\x7f", 1, false},
        {"\xc2\x80", 2, false},
        {"\xc2\x9f", 2, false},
        {"\xc2\xa0", 2, true},
        {"\xd8\x9c", 2, false},
        {"\xe2\x80\x8d", 3, true}, /* U+200D joins letters */
        {"\xe2\x80\x8e", 3, false},
        {"\xe2\x80\xa7", 3, true},
        {"\xe2\x80\xa8", 3, false},
        {"\xe2\x80\xae", 3, false},
        {"\xe2\x80\xaf", 3, true},
        {"\xe2\x81\xa6", 3, false},
        {"\xe2\x81\xa9", 3, false},
        {"\xe2\x81\xaa", 3, true},
        {"\xff", 1, false},
        {"\x80", 1, false},
        {"\xc3", 1, false},
        {"\xc3z", 1, false},
        {"\xc0\x9b", 1, false},     /* overlong */
        {"\xe0\x82\x9b", 1, false}, /* overlong */
        {"\xed\xa0\x80", 1, false}, /* a surrogate */
        {"\xf4\x90\x80\x80", 1, false},
        {"\xf8\x88\x80\x80\x80", 1, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool is_shown = !rows[i].is_shown;

        cr_assert_eq(weir_shown_first(weir_str(rows[i].text), &is_shown), rows[i].len, "row %zu",
                     i);
        cr_assert_eq(is_shown, rows[i].is_shown, "row %zu", i);
    }
}
