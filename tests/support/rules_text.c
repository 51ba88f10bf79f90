/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/rules_text.h"

#include <stdio.h>

#include "base/assert.h"
#include "rules/config_yaml.h"

struct wr_rules *wr_rules_of_text(const char *yaml)
{
    const struct wr_config_bounds bounds = {
        .max_file_bytes = 1 << 25, .max_depth = 64, .max_nodes = 4000000};
    struct wr_arena arena;
    struct wr_diag diag;
    struct wr_draft draft = {0};
    struct wr_rules *rules = NULL;

    wr_arena_init(&arena, 4096);
    wr_diag_init(&diag, 10);
    wr_config_yaml_parse(wr_str_of(yaml), wr_str_of("text.yaml"), &bounds, &arena, &diag, &draft);
    wr_draft_check(&draft, 0, &diag);
    wr_diag_print(&diag, stderr);
    WR_ASSERT(diag.n_errors == 0);
    WR_ASSERT(wr_rules_new((struct wr_draft *const[]){&draft}, 1, &rules) == WR_OK);
    wr_diag_fini(&diag);
    wr_arena_fini(&arena);
    return rules;
}
