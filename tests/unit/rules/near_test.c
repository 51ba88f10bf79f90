/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/near.h"

#include <criterion/criterion.h>
#include <string.h>

Test(near, a_slip_is_led_to_the_name_that_was_meant)
{
    static const struct wr_str names[] = {WR_STR("all"), WR_STR("admitted"),
                                          WR_STR("all_or_nothing")};
    static const struct {
        const char *name;
        size_t place;
    } rows[] = {
        {"admited", 1}, {"ADMITTED", 1},    {"all-or-nothing", 2}, {"AllOrNothing", 2},
        {"al", 3},      {"alll", 0},        {"some", 3},           {"", 3},
        {"-", 3},       {"all_nothing", 2}, {"nothing", 3},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_near_place(names, 3, wr_str_of(rows[i].name)), rows[i].place, "%s",
                     rows[i].name);
    }
}

Test(near, a_hint_names_it_or_all_there_are)
{
    static const char few[] = "one of hour, day; or `window: 90s` in its place";
    static const struct {
        const char *name, *list, *hint;
    } rows[] = {
        {"hours", few, "did you mean `hour`?"},
        {"Day", few, "did you mean `day`?"},
        {"window", few, few},
        {"hour; o", few, few},
        {"alow", "one of error, allow, deny, local", "did you mean `allow`?"},
        {"locale", "one of error, allow, deny, local", "did you mean `local`?"},
        {"open", "one of error, allow, deny, local", "one of error, allow, deny, local"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char hint[WR_NEAR_HINT_SIZE];

        cr_assert_str_eq(wr_near_hint(wr_str_of(rows[i].name), rows[i].list, hint), rows[i].hint,
                         "%s", rows[i].name);
    }
}
