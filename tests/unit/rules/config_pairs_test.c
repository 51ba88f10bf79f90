/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_pairs.h"

#include <criterion/criterion.h>

#include "tests/unit/rules/texts.h"

/* How many requests the rule for key `key` allows. */
static uint64_t requests(const struct wr_rules *rules, const char *key)
{
    const struct wr_entry entry = entry_of(key, "");
    const struct wr_node *const node =
        wr_domain_match(wr_rules_domain(rules, wr_str_of("d")), &entry, 1);

    cr_assert_not_null(node, "%s", key);
    cr_assert_gt(node->n_rules, 0u, "%s", key);
    return node->rules->limit.requests;
}

Test(config_pairs, a_merge_brings_in_what_the_map_then_sets_anew)
{
    struct wr_rules *const rules =
        rules_of("domain: d\n"
                 "descriptors:\n"
                 "  - &base {key: a, rate_limit: {unit: hour, requests_per_unit: 1}}\n"
                 "  - {<<: *base, key: b}\n"
                 "  - {<<: *base, key: c, rate_limit: {requests_per_unit: 3}}\n"
                 "  - {<<: {key: d, rate_limit: {unit: day, requests_per_unit: 4}}}\n");

    cr_assert_eq(requests(rules, "b"), 1u);
    cr_assert_eq(requests(rules, "c"), 3u);
    cr_assert_eq(requests(rules, "d"), 4u);
    wr_rules_release(rules);
}

Test(config_pairs, of_a_list_the_first_map_counts_most)
{
    struct wr_rules *const rules =
        rules_of("domain: d\n"
                 "descriptors:\n"
                 "  - key: a\n"
                 "    rate_limit:\n"
                 "      <<: [{requests_per_unit: 1}, {requests_per_unit: 2, unit: hour}]\n"
                 "  - key: b\n"
                 "    rate_limit:\n"
                 "      <<: {<<: {unit: hour, requests_per_unit: 3}, unit: day}\n");
    const struct wr_entry b = entry_of("b", "");

    cr_assert_eq(requests(rules, "a"), 1u);
    cr_assert_eq(requests(rules, "b"), 3u);
    cr_assert_eq(wr_domain_match(wr_rules_domain(rules, wr_str_of("d")), &b, 1)->rules->unit,
                 WR_UNIT_DAY);
    wr_rules_release(rules);
}

Test(config_pairs, what_is_no_map_cannot_be_merged)
{
    const char *const texts[] = {
        "<<: word\ndomain: d\n",
        "<<: [{domain: e}, word]\ndomain: d\n",
        "<<: [[]]\ndomain: d\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct texts one;

        texts_init(&one);
        texts_add(&one, "f.yaml", texts[i]);
        cr_assert_eq(one.diag.n_errors, 1u, "%s\n%s", texts[i], texts_notes(&one));
        texts_fini(&one);
    }
}

Test(config_pairs, a_quoted_merge_key_is_an_unknown_key)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "f.yaml", "'<<': {}\ndomain: d\n");
    cr_assert_eq(texts.diag.n_errors, 1u);
    cr_assert_str_eq(texts_notes(&texts), "f.yaml:1:1: error: unknown key `<<`; the top of a file "
                                          "has `domain`, `descriptors`, `count`\n");
    texts_fini(&texts);
}
