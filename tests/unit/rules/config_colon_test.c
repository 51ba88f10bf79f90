/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_colon.h"

#include <criterion/criterion.h>
#include <string.h>

Test(config_colon, a_known_key_and_no_blank)
{
    static const struct {
        const char *text;
        enum wr_config_key key;
    } rows[] = {
        {"unit:hour", WR_KEY_UNIT},
        {"  - key:user", WR_KEY_KEY},
        {"- - key:'u'", WR_KEY_KEY},
        {"domain:edge\n", WR_KEY_DOMAIN},
        {"unit::hour", WR_KEY_UNIT},
        {"unit: hour", WR_KEY_COUNT},
        {"unit:\n", WR_KEY_COUNT},
        {"unit:\r\n", WR_KEY_COUNT},
        {"unit:", WR_KEY_COUNT},
        {"unit", WR_KEY_COUNT},
        {"http://unit", WR_KEY_COUNT},
        {"Unit:hour", WR_KEY_COUNT},
        {"x unit:hour", WR_KEY_COUNT},
        {"-unit:hour", WR_KEY_COUNT},
        {":hour", WR_KEY_COUNT},
        {":", WR_KEY_COUNT},
        {"-", WR_KEY_COUNT},
        {" ", WR_KEY_COUNT},
        {"", WR_KEY_COUNT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_config_colon_key(wr_str_of(rows[i].text)), rows[i].key, "'%s'",
                     rows[i].text);
    }
    cr_assert_eq(wr_config_colon_key((struct wr_str){0}), WR_KEY_COUNT);
}

Test(config_colon, only_plain_texts_are_slips)
{
    static const char other[] = "other";
    struct wr_config_node node = {.text = WR_STR("unit:hour"), .is_plain = true};
    char hint[WR_CONFIG_COLON_HINT_SIZE];

    cr_assert_str_eq(wr_config_colon_hint(&node, other, hint),
                     "a blank is missing behind the colon of `unit:`");
    node.is_plain = false;
    cr_assert_eq(wr_config_colon_hint(&node, other, hint), other);
    node = (struct wr_config_node){.kind = WR_CONFIG_LIST, .is_plain = true};
    cr_assert_eq(wr_config_colon_hint(&node, other, hint), other);
}

Test(config_colon, of_a_text_the_line_or_the_one_before_it)
{
    static const char text[] = "domain:d\n\n # none\nkey: a\nvalue:b\nunit: c";
    static const struct {
        size_t line;
        const char *hint;
    } rows[] = {
        {0, "`domain:` in line 1"}, {1, "`domain:` in line 1"}, {2, "`domain:` in line 1"},
        {3, "`domain:` in line 1"}, {4, "`value:` in line 5"},  {5, "`value:` in line 5"},
        {6, "`value:` in line 5"},
    };
    char hint[WR_CONFIG_COLON_HINT_SIZE];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *const got = wr_config_colon_hint_at(wr_str_of(text), rows[i].line, hint);

        cr_assert_not_null(got, "line %zu", rows[i].line);
        cr_assert_not_null(strstr(got, rows[i].hint), "line %zu: %s", rows[i].line, got);
    }
    cr_assert_null(wr_config_colon_hint_at(wr_str_of("unit:a\nunit: b\nx: c"), 2, hint));
    cr_assert_null(wr_config_colon_hint_at(wr_str_of("# unit:a"), 0, hint));
    cr_assert_null(wr_config_colon_hint_at((struct wr_str){0}, 3, hint));
}
