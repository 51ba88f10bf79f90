/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_metadata.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "tests/unit/rules/texts.h"

#define RULE "domain: d\ndescriptors:\n  - key: k\n    rate_limit: {unit: hour}\n    metadata: "

/* The metadata of the one rule of `text`, good as long as `*out_rules` is held. */
static const struct wr_value *metadata_of(const char *text, struct wr_rules **out_rules)
{
    const struct wr_entry entry = entry_of("k", "");

    *out_rules = rules_of(text);
    return wr_domain_match(wr_rules_domain(*out_rules, wr_str_of("d")), &entry, 1)->rules->metadata;
}

static const struct wr_value *get(const struct wr_value *map, const char *key)
{
    const struct wr_value *const value = wr_value_get(map, wr_str_of(key));

    cr_assert_not_null(value, "%s", key);
    return value;
}

static void assert_number(const struct wr_value *value, double want)
{
    cr_assert_eq(value->kind, WR_VALUE_NUMBER);
    cr_assert_float_eq(value->as.number, want, 0.0);
}

static void assert_text(const struct wr_value *value, const char *want)
{
    cr_assert_eq(value->kind, WR_VALUE_STRING);
    cr_assert(wr_str_equal(value->as.string, wr_str_of(want)), "%s", want);
}

Test(config_metadata, values_of_every_kind)
{
    struct wr_rules *rules;
    const struct wr_value *const map =
        metadata_of(RULE "{t: text, q: '5', d: 2024-05-06, i: 5, n: -7, h: 0x10, o: 010, u: 1_000, "
                         "f: 1.5, e: 1e3, w: 1_0.2_5, b: 18446744073709551615, y: yes, z: ~, "
                         "l: [1, [x], {}], m: {a: {b: c}}}\n",
                    &rules);

    assert_text(get(map, "t"), "text");
    assert_text(get(map, "q"), "5");
    assert_text(get(map, "d"), "2024-05-06");
    assert_number(get(map, "i"), 5);
    assert_number(get(map, "n"), -7);
    assert_number(get(map, "h"), 16);
    assert_number(get(map, "o"), 8);
    assert_number(get(map, "u"), 1000);
    assert_number(get(map, "f"), 1.5);
    assert_number(get(map, "e"), 1000);
    assert_number(get(map, "w"), 10.25);
    assert_number(get(map, "b"), 18446744073709551615.0);
    cr_assert_eq(get(map, "y")->kind, WR_VALUE_BOOL);
    cr_assert(get(map, "y")->as.boolean);
    cr_assert_eq(get(map, "z")->kind, WR_VALUE_NULL);
    cr_assert_eq(get(map, "l")->as.list.n, 3u);
    assert_text(&get(map, "l")->as.list.items[1].as.list.items[0], "x");
    assert_text(get(get(get(map, "m"), "a"), "b"), "c");
    wr_rules_release(rules);
}

Test(config_metadata, keys_keep_their_spelling_on_every_level)
{
    struct wr_rules *rules;
    const struct wr_value *const map =
        metadata_of(RULE "{yes: 1, 07: 2, 1.50: 3, sub: {off: 4, 07: 5, ~: 6}}\n", &rules);

    assert_number(get(map, "yes"), 1);
    assert_number(get(map, "07"), 2);
    assert_number(get(map, "1.50"), 3);
    assert_number(get(get(map, "sub"), "off"), 4);
    assert_number(get(get(map, "sub"), "07"), 5);
    assert_number(get(get(map, "sub"), "~"), 6);
    wr_rules_release(rules);
}

Test(config_metadata, merges_and_keeps_the_order)
{
    struct wr_rules *rules;
    const struct wr_value *const map = metadata_of(RULE "{<<: {a: 1, b: 2}, c: 3, a: 4}\n", &rules);

    cr_assert_eq(map->as.map.n, 3u);
    assert_number(get(map, "a"), 4);
    cr_assert(wr_str_equal(map->as.map.members[0].key, wr_str_of("b")));
    cr_assert(wr_str_equal(map->as.map.members[1].key, wr_str_of("c")));
    cr_assert(wr_str_equal(map->as.map.members[2].key, wr_str_of("a")));
    wr_rules_release(rules);
}

Test(config_metadata, null_is_none_and_an_empty_map_is_one)
{
    struct wr_rules *rules;

    cr_assert_null(metadata_of(RULE "~\n", &rules));
    wr_rules_release(rules);
    cr_assert_eq(metadata_of(RULE "{}\n", &rules)->as.map.n, 0u);
    wr_rules_release(rules);
}

Test(config_metadata, what_does_not_fit_is_said)
{
    static const char *const rows[][2] = {
        {RULE "word\n", "f.yaml:5:15: error: `metadata` must be a map, not a text (in d.k)\n"},
        {RULE "[{a: 1}]\n", "f.yaml:5:15: error: `metadata` must be a map, not a list (in d.k)\n"},
        {RULE "{[a]: 1}\n",
         "f.yaml:5:16: error: a key in `metadata` must be a text, not a list (in d.k)\n"},
        {RULE "{a: !!int word}\n", "f.yaml:5:19: error: word is not what its tag "
                                   "`tag:yaml.org,2002:int` says (in d.k); leave the tag out\n"},
        {RULE "{a: 1, b: 2, a: 3}\n",
         "f.yaml:5:28: warning: `a` is repeated: first in line 5, again in line 5; the last one "
         "counts (in d.k); remove one of them\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *const notes = notes_of(rows[i][0]);

        cr_assert_str_eq(notes, rows[i][1]);
        free(notes);
    }
}

Test(config_metadata, numbers_that_json_lacks_draw_a_warning)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "f.yaml", RULE "{a: .inf, b: -.Inf, c: .nan}\n");
    cr_assert_eq(texts.diag.n_errors, 0u, "%s", texts_notes(&texts));
    cr_assert_eq(texts.diag.n_warnings, 3u);

    const struct wr_value *const map = &texts.drafts[0].rules[0].metadata;

    cr_assert(isinf(get(map, "a")->as.number) && get(map, "a")->as.number > 0);
    cr_assert(isinf(get(map, "b")->as.number) && get(map, "b")->as.number < 0);
    cr_assert(isnan(get(map, "c")->as.number));
    texts_fini(&texts);
}

Test(config_metadata, is_bounded_in_depth)
{
    struct texts texts;

    texts_init(&texts);
    texts.bounds.max_depth = 2;
    texts_add(&texts, "f.yaml", RULE "{a: {b: c}}\n");
    cr_assert_eq(texts.diag.n_errors, 1u);
    cr_assert_str_eq(
        texts_notes(&texts),
        "f.yaml:5:23: error: `metadata` is nested deeper than 2 levels (in d.k); raise "
        "--max-rules-depth\n");
    texts_fini(&texts);
}
