/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_fields.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/rules/texts.h"

#define RULE(more) "domain: d\ndescriptors:\n  - key: k\n" more

Test(config_fields, an_unknown_key_is_refused_with_the_one_that_was_meant)
{
    static const struct notes_row rows[] = {
        {RULE("    rateLimit: {requestsPerUnit: 1, unit: minute}\n"),
         "f.yaml:4:5: error: unknown key `rateLimit` (in d.k); did you mean `rate_limit`?\n"
         "f.yaml:4:17: error: unknown key `requestsPerUnit` (in d.k); did you mean "
         "`requests_per_unit`?\n"},
        {RULE("    rate_limits: [{unit: minute}]\n"),
         "f.yaml:4:5: error: unknown key `rate_limits` (in d.k); did you mean `limits`?\n"},
        {RULE("    rate_limits: {unit: minute}\n"),
         "f.yaml:4:5: error: unknown key `rate_limits` (in d.k); did you mean `rate_limit`?\n"},
        {RULE("    rate_limit: {unit: hour, requests_per_unit: 1, colour: 5}\n"),
         "f.yaml:4:52: error: unknown key `colour` (in d.k); a limit has `requests_per_unit`, "
         "`unit`, `unit_multiplier`, `window`, `unlimited`, `name`, `replaces`, `algorithm`, "
         "`align`, `time_zone`, `burst`, `buckets`, `headroom`, `warm_up`, `count`, "
         "`failure_mode`\n"},
        {"domain: d\nowner: {name: me, since: {then: 1.5}}\n",
         "f.yaml:2:1: error: unknown key `owner`; the top of a file has `domain`, "
         "`descriptors`, `count`\n"},
    };

    EXPECT_NOTES("", rows, "");
}

Test(config_fields, a_key_is_a_word)
{
    static const struct notes_row rows[] = {
        {"domain: d\n7: seven\n", "f.yaml:2:1: error: a key must be a word, not 7; the top of a "
                                  "file has `domain`, `descriptors`, `count`\n"},
        {"domain: d\non: x\n", "f.yaml:2:1: error: a key must be a word, not on; the top of a "
                               "file has `domain`, `descriptors`, `count`\n"},
        {"domain: d\n? [a]\n: x\n", "f.yaml:2:3: error: a key must be a word, not a list; the top "
                                    "of a file has `domain`, `descriptors`, `count`\n"},
    };

    EXPECT_NOTES("", rows, "");
}

Test(config_fields, a_blank_that_is_missing_behind_a_colon_is_told_of)
{
    static const struct notes_row rows[] = {
        {RULE("    rate_limit: {unit:hour, requests_per_unit: 1}\n"),
         "f.yaml:4:18: error: unknown key `unit:hour` (in d.k); a blank is missing behind the "
         "colon of `unit:`\n"},
        {RULE("    colour:red: x\n"),
         "f.yaml:4:5: error: unknown key `colour:red` (in d.k); a descriptor has `key`"},
        {"domain: d\ndescriptors:\n- key:k\n", "f.yaml:3:3: error: each element of `descriptors` "
                                               "must be a map, not a text (in d); a blank "
                                               "is missing behind the colon of `key:`\n"},
        {"domain:edge\n", "f.yaml:1:1: error: the top of the file must be a map, not a text; a "
                          "blank is missing behind the colon of `domain:`\n"},
        {RULE("    rate_limit:\n      unit:hour\n      requests_per_unit:3\n"),
         "f.yaml:5:7: error: `rate_limit` must be a map, not a text (in d.k); a blank is missing "
         "behind the colon of `unit:`\n"},
        {RULE("    group_ip: ipv4:24\n"),
         "f.yaml:4:15: error: `group_ip` must be a map, not a text (in d.k); a blank is missing "
         "behind the colon of `ipv4:`\n"},
        {RULE("    limits:\n      - unit:hour\n"),
         "f.yaml:5:9: error: each element of `limits` must be a map, not a text (in d.k); a blank "
         "is missing behind the colon of `unit:`\n"},
        {RULE("    rate_limit: {unit: hour, warm_up: duration:30s}\n"),
         "f.yaml:4:39: error: `warm_up` must be a map, not a text (in d.k); a blank is missing "
         "behind the colon of `duration:`\n"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *const notes = notes_of(rows[i].text);

        cr_assert_eq(strncmp(notes, rows[i].notes, strlen(rows[i].notes)), 0, "%s\n%s",
                     rows[i].text, notes);
        free(notes);
    }
}

Test(config_fields, a_comma_within_a_number_is_told_of)
{
#define COMMA "write a number without commas: in braces they part keys\n"
    static const struct notes_row rows[] = {
        {RULE("    rate_limit: {unit: hour, requests_per_unit: 1,000}\n"),
         "f.yaml:4:51: error: a key must be a word, not 000 (in d.k); " COMMA},
        {RULE("    rate_limit: {unit: hour, requests_per_unit: 1,500,000}\n"),
         "f.yaml:4:51: error: a key must be a word, not 500 (in d.k); " COMMA
         "f.yaml:4:55: error: a key must be a word, not 000 (in d.k); " COMMA},
        {RULE("    rate_limit:\n      unit: hour\n      requests_per_unit: 1,000\n"),
         "f.yaml:6:26: error: `requests_per_unit` must be a whole number from 0 to 4294967295, not "
         "1,000 (in d.k); digits alone, as in 1000\n"},
        {RULE("    rate_limit: {unit: hour, requests_per_unit: '1,000'}\n"),
         "f.yaml:4:49: error: `requests_per_unit` must be a whole number from 0 to 4294967295, not "
         "the text \"1,000\" (in d.k); without quotes and without a tag\n"},
    };
#undef COMMA

    EXPECT_NOTES("", rows, "");
}

Test(config_fields, a_key_without_effect_draws_a_warning)
{
    static const struct notes_row rows[] = {
        {RULE("    unit: minute\n    rate_limit: {unit: hour}\n"),
         "f.yaml:4:5: warning: `unit` has no effect here (in d.k); it belongs into "
         "`rate_limit`\n"},
        {"domain: d\nrate_limit: {unit: hour, domain: x}\n",
         "f.yaml:2:1: warning: `rate_limit` has no effect here; it belongs to a descriptor, beside "
         "`key`\n"},
        {"domain: d\nmetadata: [1.5, {any: thing}]\n",
         "f.yaml:2:1: warning: `metadata` has no effect here; it belongs to a descriptor, beside "
         "`key`\n"},
        {RULE("    rate_limit: {unit: hour, shadow_mode: true}\n"),
         "f.yaml:4:30: warning: `shadow_mode` has no effect here (in d.k); it belongs to a "
         "descriptor, beside `key`\n"},
    };

    EXPECT_NOTES("", rows, "");
}

/* Files of the incumbent cannot have them, and what they ask for must not be left out in silence.
 */
Test(config_fields, a_key_of_ours_without_effect_is_an_error)
{
    static const struct notes_row rows[] = {
        {RULE("    count: all\n"),
         "f.yaml:4:5: error: `count` does not belong here (in d.k); it belongs into `rate_limit`, "
         "or to the top of the file\n"},
        {"domain: d\nfailure_mode: any\n",
         "f.yaml:2:1: error: `failure_mode` does not belong here; it belongs into "
         "`rate_limit`\n"},
        {RULE("    failure_mode: deny\n    rate_limit: {unit: hour, group_ip: {}}\n"),
         "f.yaml:4:5: error: `failure_mode` does not belong here (in d.k); it belongs into "
         "`rate_limit`\n"
         "f.yaml:5:30: error: `group_ip` does not belong here (in d.k); it belongs to a "
         "descriptor, beside `key`\n"},
        {"domain: d\nrate_limit: {count: all}\n",
         "f.yaml:2:1: warning: `rate_limit` has no effect here; it belongs to a descriptor, beside "
         "`key`\n"
         "f.yaml:2:14: error: `count` does not belong here; it belongs into `rate_limit`, or to "
         "the top of the file\n"},
        {RULE("    limits: [{rate_limit: {unit: hour}, unit: day}]\n"),
         "f.yaml:4:15: warning: `rate_limit` has no effect here (in d.k); what it holds stands "
         "here, without it\n"},
    };

    EXPECT_NOTES("", rows, "");
}

/* The incumbent looks through what has no effect for unknown keys and fractions, too. */
Test(config_fields, below_a_key_without_effect_errors_are_errors)
{
    static const struct notes_row rows[] = {
        {"domain: d\nrate_limit: {unit: 1.5}\n",
         "f.yaml:2:1: warning: `rate_limit` has no effect here; it belongs to a descriptor, beside "
         "`key`\n"
         "f.yaml:2:20: error: `unit` is a number with a fraction, 1.5; quote it if it is meant as "
         "a "
         "text: \"1.5\"\n"},
        {"domain: d\nunit: [x]\n",
         "f.yaml:2:1: warning: `unit` has no effect here; it belongs into `rate_limit`\n"
         "f.yaml:2:8: error: a list must hold maps, not a text\n"},
        {"domain: d\nname: [{colour: red}]\n",
         "f.yaml:2:1: warning: `name` has no effect here; it belongs into `rate_limit`, or an "
         "entry "
         "of `replaces`\n"
         "f.yaml:2:9: error: unknown key `colour`; what stands here has no effect\n"},
    };

    EXPECT_NOTES("", rows, "");
}

Test(config_fields, a_repeated_key_draws_a_warning_with_both_lines)
{
    static const struct notes_row rows[] = {
        {RULE("    rate_limit: {unit: hour}\n    rate_limit: {unit: day}\n"),
         "f.yaml:5:5: warning: `rate_limit` is repeated: first in line 4, again in line 5; the "
         "last "
         "one counts (in d.k); remove one of them\n"},
        {"domain: e\ndomain: d\n", "f.yaml:2:1: warning: `domain` is repeated: first in line 1, "
                                   "again in line 2; the last one "
                                   "counts; remove one of them\n"},
        {"domain: d\n<<: {domain: e}\n", "f.yaml:2:6: warning: `domain` is repeated: first in line "
                                         "1, again in line 2; the last one "
                                         "counts; remove one of them\n"},
        {"<<: {domain: e}\ndomain: d\n", ""},
        {"<<: [{domain: e}, {domain: d}]\n", ""},
    };

    EXPECT_NOTES("", rows, "");
}
