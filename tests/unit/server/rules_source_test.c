/* SPDX-License-Identifier: Apache-2.0 */
#include "rules_source.h"

#include <criterion/criterion.h>
#include <string.h>

static const struct wr_options nothing = {
    .runtime_root = "", .runtime_subdirectory = "", .runtime_appdirectory = "config"};

Test(rules_source, rules_beat_the_runtime_variables)
{
    struct wr_options options = nothing;
    struct wr_rules_source source;

    options.rules = (struct wr_option_list){.items = {"a", "b"}, .n = 2};
    options.runtime_root = "/root";
    cr_assert(wr_rules_source_init(&source, &options, stderr));
    cr_assert_eq(source.load.n_paths, 2);
    cr_assert_str_eq(source.load.paths[1], "b");
    cr_assert_not(source.load.any_name);
    cr_assert_not(source.may_be_absent);
}

Test(rules_source, the_runtime_variables_make_a_path_whose_every_file_is_read)
{
    static const char *const rows[][4] = {
        {"/data", "", "config", "/data/config"},
        {"/data", "limits", "config", "/data/limits/config"},
        {"/data", "limits", "", "/data/limits"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_options options = nothing;
        struct wr_rules_source source;

        options.runtime_root = rows[i][0];
        options.runtime_subdirectory = rows[i][1];
        options.runtime_appdirectory = rows[i][2];
        cr_assert(wr_rules_source_init(&source, &options, stderr));
        cr_assert_eq(source.load.n_paths, 1);
        cr_assert_str_eq(source.load.paths[0], rows[i][3], "row %zu", i);
        cr_assert(source.load.any_name);
        cr_assert(source.load.is_recursive);
        cr_assert(source.may_be_absent);
        cr_assert_null(source.load.name);
    }
}

Test(rules_source, with_a_watched_root_the_app_directory_is_a_name_in_it)
{
    struct wr_options options = nothing;
    struct wr_rules_source source;

    options.runtime_root = "/data";
    options.runtime_subdirectory = "limits";
    options.is_runtime_root_watched = true;
    cr_assert(wr_rules_source_init(&source, &options, stderr));
    cr_assert_eq(source.load.n_paths, 1);
    cr_assert_str_eq(source.load.paths[0], "/data/limits");
    cr_assert_str_eq(source.load.name, "config");
    options.runtime_appdirectory = "";
    cr_assert(wr_rules_source_init(&source, &options, stderr));
    cr_assert_str_eq(source.load.paths[0], "/data/limits");
    cr_assert_null(source.load.name);
}

Test(rules_source, none_at_all_is_an_error_that_says_what_to_give)
{
    struct wr_rules_source source;
    char said[256] = "";
    FILE *const err = fmemopen(said, sizeof said, "w");

    cr_assert_not(wr_rules_source_init(&source, &nothing, err));
    fclose(err);
    cr_assert_not_null(strstr(said, "--rules"));
    cr_assert_not_null(strstr(said, "RUNTIME_ROOT"));
}

Test(rules_source, with_redis_windows_are_no_shorter_than_the_way_there)
{
    struct wr_options options = nothing;

    options.store = WR_STORE_LOCAL;
    cr_assert_eq(wr_load_options_of(&options).min_window_us, 0);
    options.store = WR_STORE_REDIS;
    cr_assert_eq(wr_load_options_of(&options).min_window_us, 10000);
}
