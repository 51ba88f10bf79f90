/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_limit.h"

#include <criterion/criterion.h>

#include "tests/unit/rules/texts.h"

/* Around more of a rule of domain d. */
#define BEFORE "domain: d\ndescriptors: [{key: a, "
#define BEHIND "}]\n"

#define UNITS "one of second, minute, hour, day, week, month, year; or `window: 90s` in its place"

Test(config_limit, layers_and_groups_of_addresses)
{
    static const struct notes_row rows[] = {
        {"limits: [{unit: hour, requests_per_unit: 4}, {window: 2s, requests_per_unit: 2}]", ""},
        {"limits: [{unit: hour, requests_per_unit: 4}]", ""},
        {"limits: [{unit: hour, failure_mode: deny}, {unit: hour, failure_mode: allow}]", ""},
        {"limits: [{unit: hour, failure_mode: error}, {unit: hour}]", ""},
        {"limits: [{unit: hour, name: x}, {unit: hour, name: y}]", ""},
        {"limits: [{unit: hour}, {unit: hour, replaces: [{name: x}]}]", ""},
        {"limits: ~, rate_limit: {unit: hour}", ""},
        {"limits: [{unit: hour}, {unit: hour, align: first_hit}, {unit: hour, algorithm: "
         "token_bucket}]",
         ""},
        {"limits: [{unit: day, align: calendar}, {unit: day, align: calendar, time_zone: "
         "Asia/Tokyo}, {unit: day, align: calendar, time_zone: Europe/Paris}]",
         ""},
        /* a low rate and a small burst, and what else makes both of two limits decide */
        {"limits: [{unit: second, requests_per_unit: 9, burst: 90, algorithm: token_bucket}, "
         "{unit: second, requests_per_unit: 90, burst: 9, algorithm: token_bucket}]",
         ""},
        {"limits: [{unit: hour, algorithm: sliding_buckets}, {unit: hour, algorithm: "
         "sliding_buckets, buckets: 1}]",
         ""},
        {"limits: [{unit: hour, warm_up: {duration: 1h, start: 0.5}}, {unit: hour}]", ""},
        {"limits: [{unit: hour, requests_per_unit: 9, warm_up: {duration: 1h, start: 0.9}}, {unit: "
         "hour, requests_per_unit: 20, warm_up: {duration: 1h, start: 0.1}}]",
         ""},
        {"limits: [{unit: hour, count: all}, {unit: hour}]", ""},
        {"limits: [{unlimited: true}]", ""},
        {"group_ip: {ipv4: 24, ipv6: 64}, rate_limit: {unit: hour}", ""},
        {"group_ip: {}, rate_limit: {unit: hour}", ""},
        {"group_ip: {ipv4: 24}, value: '10.*', rate_limit: {unit: hour}", ""},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}

Test(config_limit, what_is_wrong_with_layers_and_groups_is_refused)
{
    static const struct notes_row rows[] = {
        {"limits: []",
         "f.yaml:2:32: error: `limits` is empty (in d.a); a descriptor without it has no limit\n"},
        {"limits: {unit: hour}", "f.yaml:2:32: error: `limits` must be a list, not a map (in d.a); "
                                 "each element begins with `- `\n"},
        {"limits: [hour, ~]",
         "f.yaml:2:33: error: each element of `limits` must be a map, not a text (in d.a); as in "
         "`- {unit: minute, requests_per_unit: 10}`\n"
         "f.yaml:2:39: error: each element of `limits` must be a map, not nothing (in d.a); as in "
         "`- {unit: minute, requests_per_unit: 10}`\n"},
        {"limits: [{unit: hour, requests_per_unit: 4}, {unit: hours}, {}]",
         "f.yaml:2:76: error: `hours` is not a unit (in d.a); did you mean `hour`?\n"
         "f.yaml:2:84: error: an element of `limits` has no `unit` (in d.a); " UNITS "\n"},
        {"limits: [{requests_per_unit: 4}]",
         "f.yaml:2:33: error: an element of `limits` has no `unit` (in d.a); " UNITS "\n"},
        {"rate_limit: [{unit: hour}, {unit: day}]",
         "f.yaml:2:36: error: `rate_limit` must be a map, not a list (in d.a); `limits` is for "
         "several limits\n"},
        {"rate_limit: {unit: hour, replaces: [other]}",
         "f.yaml:2:60: error: each element of `replaces` must be a map, not a text (in d.a); as in "
         "`- name: other`\n"},
        {"limits: [{unit: hour}], rate_limit: {unit: hour}",
         "f.yaml:2:32: error: `limits` must not stand beside `rate_limit` (in d.a); move the one "
         "into the list of the other\n"},
        {"limits: [{unit: hour, requests_per_unit: 4}, {window: 60m, requests_per_unit: 9}]",
         "f.yaml:2:69: warning: this limit counts as the one at f.yaml:2:33 does, of which the "
         "tighter "
         "alone decides (in d.a); remove one of the two\n"},
        {"limits: [{unit: second, requests_per_unit: 9, burst: 9, algorithm: token_bucket}, "
         "{unit: second, requests_per_unit: 90, burst: 9, algorithm: token_bucket}]",
         "f.yaml:2:106: warning: this limit counts as the one at f.yaml:2:33 does, of which the "
         "tighter "
         "alone decides (in d.a); remove one of the two\n"},
        {"limits: [{unit: hour, requests_per_unit: 20, warm_up: {duration: 1h, start: 0.5}}, "
         "{unit: hour, requests_per_unit: 9, warm_up: {duration: 1h, start: 0.1}}]",
         "f.yaml:2:107: warning: this limit counts as the one at f.yaml:2:33 does, of which the "
         "tighter "
         "alone decides (in d.a); remove one of the two\n"},
        {"limits: [{unit: day, align: calendar}, {unit: day, align: calendar, time_zone: UTC}]",
         "f.yaml:2:63: warning: this limit counts as the one at f.yaml:2:33 does, of which the "
         "tighter "
         "alone decides (in d.a); remove one of the two\n"},
        {"limits: [{unit: hour, failure_mode: deny}, {unit: hour, failure_mode: deny}]",
         "f.yaml:2:67: warning: this limit counts as the one at f.yaml:2:33 does, of which the "
         "tighter alone decides (in d.a); remove one of the two\n"},
        {"limits: [{window: 5s, requests_per_unit: 1, algorithm: sliding_log}, {window: 20s, "
         "requests_per_unit: 5, algorithm: sliding_log, warm_up: {duration: 3s, start: 0.2}}]",
         "f.yaml:2:173: warning: `duration` is no longer than a wait for the limit at f.yaml:2:33: "
         "this one falls back to its `start` meanwhile, and may refuse who waited as told (in "
         "d.a); make it longer\n"},
        {"limits: [{window: 20s, requests_per_unit: 50, burst: 50, algorithm: token_bucket, "
         "warm_up: {duration: 5s, start: 0.2}}, {window: 5s, requests_per_unit: 1}]",
         "f.yaml:2:126: warning: `duration` is no longer than a wait for the limit at "
         "f.yaml:2:144: this one falls back to its `start` meanwhile, and may refuse who waited as "
         "told (in d.a); make it longer\n"},
        {"limits: [{window: 20s, requests_per_unit: 50, algorithm: sliding_window, warm_up: "
         "{duration: 30s, start: 0.2}}, {unit: minute, requests_per_unit: 9}]",
         "f.yaml:2:117: warning: `duration` is no longer than a wait for the limit at "
         "f.yaml:2:136: this one falls back to its `start` meanwhile, and may refuse who waited as "
         "told (in d.a); make it longer\n"},
        {"limits: [{window: 5s, requests_per_unit: 1}, {window: 20s, requests_per_unit: 5, "
         "algorithm: sliding_log, warm_up: {duration: 6s, start: 0.2}}]",
         ""},
        {"limits: [{unit: hour, requests_per_unit: 1}, {window: 1s, requests_per_unit: 50, "
         "algorithm: sliding_log, warm_up: {duration: 30s, start: 0.2}}]",
         ""},
        {"limits: [{unit: minute, requests_per_unit: 60, algorithm: token_bucket, burst: 60}, "
         "{window: 20s, requests_per_unit: 5, algorithm: sliding_log, warm_up: {duration: 3s, "
         "start: 0.2}}]",
         ""},
        {"limits: [{unit: hour}, {unlimited: true}]",
         "f.yaml:2:47: error: `unlimited: true` must not stand among other limits (in d.a); remove "
         "it, or the others\n"},
        {"limits: [{window: 1s}, {window: 2s}, {window: 3s}, {window: 4s}, {window: 5s}, {window: "
         "6s}, {window: 7s}, {window: 8s}, {window: 9s}, {window: 10s}, {window: 11s}, {window: "
         "12s}, {window: 13s}, {window: 14s}, {window: 15s}, {window: 16s}, {window: 17s}]",
         "f.yaml:2:32: error: more than 16 `limits` (in d.a); split them over several descriptors "
         "of the request\n"},
        {"group_ip: {ipv4: 33, ipv6: 129}, rate_limit: {unit: hour}",
         "f.yaml:2:41: error: `ipv4` must be a number from 0 to 32, not 33 (in d.a); how many bits "
         "of the address are the prefix\n"
         "f.yaml:2:51: error: `ipv6` must be a number from 0 to 128, not 129 (in d.a); how many "
         "bits of the address are the prefix\n"},
        {"group_ip: 24, rate_limit: {unit: hour}",
         "f.yaml:2:34: error: `group_ip` must be a map, not a text (in d.a); as in `{ipv4: 32, "
         "ipv6: 64}`\n"},
        {"group_ip: {ipv5: 24}, rate_limit: {unit: hour}",
         "f.yaml:2:35: error: unknown key `ipv5` (in d.a); did you mean `ipv4`?\n"},
        {"group_ip: {ipv4: 24}, value: 10.0.0.1, rate_limit: {unit: hour}",
         "f.yaml:2:34: warning: `group_ip` has no effect on a rule for one value (in "
         "d.a_10.0.0.1); remove it, or `value`\n"},
        {"group_ip: {ipv4: 24}, value: '10.*', share_threshold: true, rate_limit: {unit: hour}",
         "f.yaml:2:34: error: `group_ip` must not stand beside `share_threshold` (in d.a_10.*); "
         "remove one of the two\n"},
        {"rate_limit: {unit: hour}, window: 5m", "f.yaml:2:50: error: `window` does not belong "
                                                 "here (in d.a); it belongs into `rate_limit`\n"},
        {"rate_limit: {unit: hour, requests_per_unit: 4}}, {key: a, rate_limit: {unit: second, "
         "requests_per_unit: 2}",
         "f.yaml:2:74: error: key `a` with no value is already defined at f.yaml:2:16 (in d.a); "
         "several limits of one rule stand in a list, as in `limits: [{unit: hour, "
         "requests_per_unit: 4}, {unit: second, requests_per_unit: 2}]`\n"},
        {"rate_limit: {window: 1s}}, {key: a, limits: [{unit: hour}]",
         "f.yaml:2:52: error: key `a` with no value is already defined at f.yaml:2:16 (in d.a); "
         "join the two into one rule, their limits into one list of `limits`, and their "
         "`descriptors` into one list of children\n"},
        {"rate_limit: {unit: hour}}, {key: a, descriptors: []",
         "f.yaml:2:52: error: key `a` with no value is already defined at f.yaml:2:16 (in d.a); "
         "join the two into one rule, and their `descriptors` into one list of children\n"},
    };

    EXPECT_NOTES(BEFORE, rows, BEHIND);
}
