/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rule_path.h"

#include <criterion/criterion.h>
#include <string.h>

Test(rule_path, joins_domain_keys_and_values)
{
    const struct wr_rule_path domain = {.key = WR_STR("edge")};
    const struct wr_rule_path user = {
        .parent = &domain, .key = WR_STR("user"), .value = WR_STR("ann")};
    const struct wr_rule_path path = {.parent = &user, .key = WR_STR("path")};
    static const struct wr_str want = WR_STR("edge.user_ann.path");
    struct wr_arena arena;
    struct wr_str text;

    wr_arena_init(&arena, 1024);
    cr_assert(wr_rule_path_write(&path, &arena, &text));
    cr_assert(wr_str_equal(text, want), "%.*s", (int) text.len, text.ptr);
    wr_arena_fini(&arena);
}

Test(rule_path, is_cut_where_it_grows_too_long)
{
    static char name[WR_RULE_PATH_MAX];
    const struct wr_rule_path domain = {.key = {.ptr = name, .len = sizeof name - 2}};
    const struct wr_rule_path path = {.parent = &domain, .key = WR_STR("key")};
    struct wr_arena arena;
    struct wr_str text;

    memset(name, 'd', sizeof name);
    wr_arena_init(&arena, 1024);
    cr_assert(wr_rule_path_write(&path, &arena, &text));
    cr_assert_eq(text.len, (size_t) WR_RULE_PATH_MAX);
    cr_assert_eq(memcmp(text.ptr + text.len - 2, ".k", 2), 0);
    wr_arena_fini(&arena);
}

Test(rule_path, is_written_only_for_notes_that_are_kept)
{
    const struct wr_rule_path path = {.key = WR_STR("edge")};
    struct wr_diag diag;

    wr_diag_init(&diag, 1);
    cr_assert_eq(wr_rule_path_note(NULL, &diag, WR_SEVERITY_WARNING).len, 0u);
    cr_assert_eq(wr_rule_path_note(&path, &diag, WR_SEVERITY_WARNING).len, 4u);
    wr_diag_add(&diag, WR_SEVERITY_WARNING, (struct wr_place){0}, (struct wr_str){0}, NULL, "odd");
    cr_assert_eq(wr_rule_path_note(&path, &diag, WR_SEVERITY_WARNING).len, 0u);
    cr_assert_eq(wr_rule_path_note(&path, &diag, WR_SEVERITY_ERROR).len, 4u);
    wr_diag_add(&diag, WR_SEVERITY_ERROR, (struct wr_place){0}, (struct wr_str){0}, NULL, "bad");
    cr_assert_eq(wr_rule_path_note(&path, &diag, WR_SEVERITY_ERROR).len, 0u);
    wr_diag_fini(&diag);
}
