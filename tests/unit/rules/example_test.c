/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/example.h"

#include <criterion/criterion.h>
#include <stdio.h>

#include "rules/config_yaml.h"
#include "tests/unit/rules/texts.h"

#define MAX_ENTRIES 4

/* What is found in a file with those descriptors, as KEY=VALUE,KEY=VALUE. */
static void find(const char *descriptors, bool is_typed, char *out_text, size_t size)
{
    const struct wr_example_bounds bounds = {.max_entries = MAX_ENTRIES, .is_typed = is_typed};
    struct wr_entry entries[MAX_ENTRIES];
    struct wr_draft draft = {0};
    struct wr_arena arena;
    struct wr_diag diag;
    char yaml[1024];
    FILE *const out = fmemopen(out_text, size, "w");

    wr_arena_init(&arena, 4096);
    wr_diag_init(&diag, 10);
    (void) snprintf(yaml, sizeof yaml, "domain: d\ndescriptors:\n%s", descriptors);
    wr_config_yaml_parse(wr_str_of(yaml), wr_str_of("f.yaml"), &texts_bounds, &arena, &diag,
                         &draft);
    wr_draft_check(&draft, 0, &diag);
    cr_assert_not(draft.is_refused, "%s", yaml);

    const size_t n = wr_example_find(&draft, &bounds, &arena, entries);

    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s%.*s=%.*s", i == 0 ? "" : ",", (int) entries[i].key.len, entries[i].key.ptr,
                (int) entries[i].value.len, entries[i].value.ptr);
    }
    fputc('\0', out);
    fclose(out);
    wr_diag_fini(&diag);
    wr_arena_fini(&arena);
}

#define LIMIT "rate_limit: {unit: hour, requests_per_unit: 5}"

Test(example, meets_the_first_limit_that_one_can)
{
    static const struct {
        const char *descriptors, *found;
    } rows[] = {
        {"- {key: k, " LIMIT "}", "k=any"},
        {"- {key: k, value: v, " LIMIT "}", "k=v"},
        {"- {key: k}\n- {key: l, value: v}", ""},
        {"- {key: k, rate_limit: {unlimited: true}}\n- {key: l, " LIMIT "}", "l=any"},
        {"- {key: k, descriptors: [{key: l}, {key: m, value: n, " LIMIT "}]}", "k=any,m=n"},
        {"- {key: k, value: a*b, " LIMIT "}", "k=ab"},
        {"- {key: k, value: '*', " LIMIT "}", "k=any"},
        {"- {key: k*, value: v, " LIMIT "}", "k=v"},
        /* What has a value of its own goes before. */
        {"- {key: k, value: any}\n- {key: k, " LIMIT "}", "k=any-other"},
        {"- {key: k, value: a}\n- {key: k, value: a*, " LIMIT "}", "k=aany"},
        {"- {key: k, value: any, " LIMIT "}\n- {key: k, " LIMIT "}", "k=any"},
        {"- {key: k, value: '*'}\n- {key: k, " LIMIT "}\n- {key: l, " LIMIT "}", "l=any"},
        {"- {key: k, shadow_mode: true, limits: [{unit: hour, requests_per_unit: 5}]}", "k=any"},
        /* Deeper than allowed. */
        {"- {key: a, descriptors: [{key: b, descriptors: [{key: c, descriptors: [{key: d, "
         "descriptors: [{key: e, " LIMIT "}]}]}]}]}\n- {key: k, " LIMIT "}",
         "k=any"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char found[256];

        find(rows[i].descriptors, true, found, sizeof found);
        cr_assert_str_eq(found, rows[i].found, "%s", rows[i].descriptors);
    }
}

Test(example, is_one_that_can_be_typed_where_that_matters)
{
    static const char descriptors[] =
        "- {key: k, value: \"a\\tb\", " LIMIT "}\n- {key: l, " LIMIT "}";
    char found[256];

    find(descriptors, true, found, sizeof found);
    cr_assert_str_eq(found, "l=any");
    find(descriptors, false, found, sizeof found);
    cr_assert_str_eq(found, "k=a\tb");
}
