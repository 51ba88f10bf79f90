/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_grammar.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/unit/rules/texts.h"

static void assert_str(struct wr_str got, const char *want)
{
    cr_assert(wr_str_equal(got, wr_str_of(want)), "%.*s is not %s", (int) got.len, got.ptr, want);
}

Test(config_grammar, every_key_arrives_in_the_draft)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "f.yaml",
              "domain: d\n"
              "descriptors:\n"
              "  - key: a\n"
              "    value: 404\n"
              "    shadow_mode: true\n"
              "    quota_mode: yes\n"
              "    detailed_metric: on\n"
              "    value_to_metric: true\n"
              "    share_threshold: true\n"
              "    metadata: {team: red}\n"
              "    rate_limit:\n"
              "      unit: Hour\n"
              "      requests_per_unit: 5\n"
              "      unlimited: false\n"
              "      name: n\n"
              "      replaces: [{name: x}, {name: 'y'}]\n"
              "      count: admitted\n"
              "      failure_mode: deny\n"
              "    descriptors:\n"
              "      - key: b\n"
              "        rate_limit: {unlimited: true}\n"
              "  - key: c\n"
              "count: all_or_nothing\n");
    cr_assert_str_eq(texts_notes(&texts), "");

    const struct wr_draft *const draft = &texts.drafts[0];

    assert_str(draft->source, "f.yaml");
    assert_str(draft->domain, "d");
    cr_assert_eq(draft->place.line, 1u);
    cr_assert_eq(draft->place.column, 9u);
    cr_assert_eq(draft->n_rules, 2u);
    cr_assert(draft->policy.has_count && !draft->policy.has_failure_mode);
    cr_assert_eq(draft->policy.count, WR_COUNT_ALL_OR_NOTHING);
    cr_assert_eq(draft->count_place.line, 23u);
    cr_assert_eq(draft->count_place.column, 8u);

    const struct wr_draft_rule *const a = &draft->rules[0];

    assert_str(a->key, "a");
    assert_str(a->value, "404");
    cr_assert_eq(a->place.line, 3u);
    cr_assert_eq(a->place.column, 5u);
    cr_assert(a->is_shadow && a->is_quota && a->has_detailed_metric && a->has_value_to_metric);
    cr_assert(a->has_share_threshold && a->has_metadata && a->has_limit && !a->is_broken);
    assert_str(a->limit.unit, "Hour");
    cr_assert_eq(a->limit.unit_place.line, 12u);
    cr_assert_eq(a->limit.place.line, 12u);
    cr_assert_eq(a->limit.requests_per_unit, 5u);
    cr_assert_not(a->limit.is_unlimited);
    assert_str(a->limit.name, "n");
    cr_assert_eq(a->limit.n_replaces, 2u);
    assert_str(a->limit.replaces[1].name, "y");
    cr_assert(a->limit.policy.has_count && a->limit.policy.has_failure_mode);
    cr_assert_eq(a->limit.policy.count, WR_COUNT_ADMITTED);
    cr_assert_eq(a->limit.policy.failure_mode, WR_FAILURE_DENY);
    cr_assert_eq(a->n_children, 1u);
    cr_assert(a->children[0].limit.is_unlimited);
    cr_assert_not(a->children[0].limit.policy.has_count);
    cr_assert_not(a->children[0].limit.policy.has_failure_mode);
    cr_assert_not(draft->rules[1].has_limit);
    texts_fini(&texts);
}

Test(config_grammar, null_is_as_if_it_was_not_there)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "f.yaml",
              "domain: d\n"
              "descriptors:\n"
              "  - {key: a, value: ~, rate_limit: ~, descriptors: ~, metadata: ~, shadow_mode: ~}\n"
              "  - {key: b, rate_limit: {unit: hour, requests_per_unit: ~, unlimited: ~, name: ~, "
              "replaces: ~, count: ~, failure_mode: ~}}\n");
    texts_add(&texts, "g.yaml", "domain: e\ndescriptors:\ncount: ~\n");
    cr_assert_str_eq(texts_notes(&texts), "");
    cr_assert_eq(texts.drafts[0].rules[0].value.len, 0u);
    cr_assert_not(texts.drafts[0].rules[0].has_limit);
    cr_assert_not(texts.drafts[0].rules[0].has_metadata);
    cr_assert_eq(texts.drafts[0].rules[1].limit.n_replaces, 0u);
    cr_assert_not(texts.drafts[0].rules[1].limit.policy.has_count);
    cr_assert_not(texts.drafts[0].rules[1].limit.policy.has_failure_mode);
    cr_assert_eq(texts.drafts[1].n_rules, 0u);
    cr_assert_not(texts.drafts[1].policy.has_count);
    texts_fini(&texts);
}

/* As the incumbent's library does it: what is set again goes over what is there. */
Test(config_grammar, a_repeated_rate_limit_goes_over_the_first_field_by_field)
{
    struct texts texts;

    texts_init(&texts);
    texts_add(&texts, "f.yaml",
              "domain: d\n"
              "descriptors:\n"
              "  - {key: a, rate_limit: {unit: hour, name: n, count: admitted}, rate_limit: "
              "{requests_per_unit: 6}}\n"
              "  - {key: b, rate_limit: {unit: hour}, rate_limit: ~}\n");
    cr_assert_eq(texts.diag.n_warnings, 2u);
    cr_assert_eq(texts.diag.n_errors, 0u);
    assert_str(texts.drafts[0].rules[0].limit.unit, "hour");
    assert_str(texts.drafts[0].rules[0].limit.name, "n");
    cr_assert_eq(texts.drafts[0].rules[0].limit.requests_per_unit, 6u);
    cr_assert_eq(texts.drafts[0].rules[0].limit.policy.count, WR_COUNT_ADMITTED);
    cr_assert_not(texts.drafts[0].rules[1].has_limit);
    texts_fini(&texts);
}

Test(config_grammar, all_errors_of_a_text_are_found_at_once)
{
    char *const notes = notes_of("domain: d\n"
                                 "descriptors:\n"
                                 "  - {key: a, colour: red}\n"
                                 "  - word\n"
                                 "  - key: b\n"
                                 "    rate_limit: {unit: hours, requests_per_unit: -1}\n"
                                 "    descriptors:\n"
                                 "      - {value: x}\n"
                                 "      - {key: c, shadow_mode: sometimes}\n"
                                 "      - {key: e, rate_limit: {unit: days}}\n"
                                 "  - {key: a}\n");

    cr_assert_str_eq(
        notes,
        "f.yaml:3:14: error: unknown key `colour` (in d.a); a descriptor has `key`, `value`, "
        "`rate_limit`, `limits`, `descriptors`, `shadow_mode`, `quota_mode`, `share_threshold`, "
        "`group_ip`, `detailed_metric`, `value_to_metric`, `metadata`\n"
        "f.yaml:4:5: error: each element of `descriptors` must be a map, not a text (in d); as in "
        "`- key: user`\n"
        "f.yaml:6:50: error: `requests_per_unit` must be a whole number from 0 to 4294967295, not "
        "-1 (in d.b); `unlimited: true` is a limit that refuses nothing\n"
        "f.yaml:8:10: error: a descriptor has no `key` (in d.b.(descriptor 1)_x); as in `- key: "
        "user`\n"
        "f.yaml:9:31: error: `shadow_mode` must be true or false, not sometimes (in "
        "d.b.c)\n"
        "f.yaml:10:37: error: `days` is not a unit (in d.b.e); did you mean `day`?\n"
        "f.yaml:11:6: error: key `a` with no value is already defined at f.yaml:3:6 (in d.a); "
        "join the two into one rule, and their `descriptors` into one list of children\n");
    free(notes);
}

struct row {
    const char *text, *notes;
};

Test(config_grammar, wrong_kinds_are_refused)
{
    static const struct row rows[] = {
        {"word\n", "f.yaml:1:1: error: the top of the file must be a map, not a text; begin with "
                   "`domain: NAME`\n"},
        {"- domain: d\n", "f.yaml:1:1: error: the top of the file must be a map, not a list; begin "
                          "with `domain: NAME`\n"},
        {"domain: {name: d}\n", "f.yaml:1:9: error: `domain` must be a text, not a map\n"},
        {"domain: 1.5\n", "f.yaml:1:9: error: `domain` is a number with a fraction, 1.5; quote it "
                          "if it is meant as a text: \"1.5\"\n"},
        {"domain: d\ndescriptors: none\n",
         "f.yaml:2:14: error: `descriptors` must be a list, not a text (in d); each element begins "
         "with `- `\n"},
        {"domain: d\ndescriptors: ''\n",
         "f.yaml:2:14: error: `descriptors` must be a list, not a text (in d); each element begins "
         "with `- `\n"},
        {"domain: d\ndescriptors: {key: a}\n",
         "f.yaml:2:14: error: `descriptors` must be a list, not a map (in d); each element begins "
         "with `- `\n"},
        {"domain: d\ndescriptors: [{key: a}, ]\n", ""},
        {"domain: d\ndescriptors: [{key: a}, ~]\n",
         "f.yaml:2:25: error: each element of `descriptors` must be a map, not nothing (in d); as "
         "in `- key: user`\n"},
        {"domain: d\ndescriptors: [{key: a, rate_limit: 5}]\n",
         "f.yaml:2:36: error: `rate_limit` must be a map, not a text (in d.a); as in `{unit: "
         "minute, requests_per_unit: 10}`\n"},
        {"domain: d\ndescriptors: [{key: a, rate_limit: {unit: hour, replaces: {name: x}}}]\n",
         "f.yaml:2:59: error: `replaces` must be a list, not a map (in d.a); each element begins "
         "with `- `\n"},
        {"domain: d\ncount: most\n",
         "f.yaml:2:8: error: `most` is not a `count` (in d); one of all, admitted, "
         "all_or_nothing\n"},
        {"domain: d\ncount: [all]\n",
         "f.yaml:2:8: error: `count` must be a text, not a list (in d); as in admitted\n"},
        {"domain: d\ndescriptors: [{key: a, rate_limit: {unit: hour, count: All}}]\n",
         "f.yaml:2:56: error: `All` is not a `count` (in d.a); did you mean `all`?\n"},
        {"domain: d\ndescriptors: [{key: a, rate_limit: {unit: hour, failure_mode: open}}]\n",
         "f.yaml:2:63: error: `open` is not a `failure_mode` (in d.a); one of error, allow, deny, "
         "local\n"},
        {"domain: d\ndescriptors: [{key: a, rate_limit: {unit: hour, failure_mode: 1.5}}]\n",
         "f.yaml:2:63: error: `failure_mode` is a number with a fraction, 1.5 (in d.a); quote it "
         "if it is meant as a text: \"1.5\"\n"},
        {"domain: d\ndescriptors: [{key: a, value: [x]}]\n",
         "f.yaml:2:31: error: `value` must be a text, not a list (in d.a)\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *const notes = notes_of(rows[i].text);

        cr_assert_str_eq(notes, rows[i].notes);
        free(notes);
    }
}

/* The commonest slip of indentation: what belongs to the limit stands beside it. */
Test(config_grammar, a_limit_that_is_empty_is_told_of)
{
#define EMPTY "warning: `rate_limit` is empty: this descriptor has no limit (in d.k); "
#define ASIDE "indent what belongs to it further than `rate_limit` itself\n"
#define ALONE "write a limit there, or remove it\n"
#define BESIDE "has no effect here (in d.k); it belongs into `rate_limit`\n"
    static const struct notes_row rows[] = {
        {"    rate_limit:\n    unit: hour\n    requests_per_unit: 3\n",
         "f.yaml:4:16: " EMPTY ASIDE "f.yaml:5:5: warning: `unit` " BESIDE
         "f.yaml:6:5: warning: `requests_per_unit` " BESIDE},
        {"    rate_limit:\n", "f.yaml:4:16: " EMPTY ALONE},
        {"    rate_limit:\n    descriptors: [{key: x}]\n", "f.yaml:4:16: " EMPTY ALONE},
        {"    limits:\n",
         "f.yaml:4:12: warning: `limits` is empty: this descriptor has no limit (in d.k); " ALONE},
        {"    rate_limit: ~\n", ""},
        {"    rate_limit: null\n", ""},
        {"    limits:\n    rate_limit: {unit: hour}\n", ""},
        {"    rate_limit:\n    limits: [{unit: hour}]\n", ""},
    };
#undef EMPTY
#undef ASIDE
#undef ALONE
#undef BESIDE

    EXPECT_NOTES("domain: d\ndescriptors:\n  - key: k\n", rows, "");
}
