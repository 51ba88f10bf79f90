/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_reader.h"

#include <criterion/criterion.h>

#include "tests/unit/rules/texts.h"

Test(config_reader, notes_have_place_path_and_hint_and_are_counted)
{
    const struct wr_rule_path domain = {.key = WR_STR("d")};
    const struct wr_rule_path path = {.parent = &domain, .key = WR_STR("k")};
    const struct wr_config_node node = {.line = 4, .column = 2};
    struct texts texts;

    texts_init(&texts);

    struct wr_config_reader reader = texts_reader(&texts);

    wr_config_error(&reader, &node, &path, "do this", "%d things", 3);
    wr_config_warn(&reader, &node, NULL, NULL, "odd");
    wr_config_no_memory(&reader);
    cr_assert_str_eq(texts_notes(&texts), "f.yaml: error: out of memory\n"
                                          "f.yaml:4:2: error: 3 things (in d.k); do this\n"
                                          "f.yaml:4:2: warning: odd\n");
    cr_assert_eq(reader.n_errors, 2u);
    cr_assert_eq(reader.n_warnings, 1u);
    texts_fini(&texts);
}

Test(config_reader, a_long_text_is_shown_in_part)
{
    cr_assert_eq(wr_config_shown((struct wr_str){.ptr = "", .len = 100}), 100);
    cr_assert_eq(wr_config_shown((struct wr_str){.ptr = "", .len = (size_t) 1 << 40}), 100);
}
