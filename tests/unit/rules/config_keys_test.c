/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_keys.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

Test(config_keys, every_key_is_found_by_its_name_and_has_a_home)
{
    for (unsigned i = 0; i < WR_KEY_COUNT; i++) {
        const enum wr_config_key key = (enum wr_config_key) i;
        const char *const name = wr_config_key_name(key);

        cr_assert_eq(wr_config_key_of(wr_str_of(name)), key, "%s", name);
        cr_assert_eq(wr_config_key_near(wr_str_of(name)), key, "%s", name);
        cr_assert_gt(strlen(wr_config_key_home(key, WR_LEVEL_TOP)), 0u, "%s", name);
        cr_assert_not(wr_config_key_belongs(key, WR_LEVEL_IGNORED), "%s", name);
    }
}

Test(config_keys, each_level_lists_the_keys_that_belong_to_it)
{
    const enum wr_config_level levels[] = {WR_LEVEL_TOP,     WR_LEVEL_RULE,    WR_LEVEL_LIMIT,
                                           WR_LEVEL_REPLACE, WR_LEVEL_WARM_UP, WR_LEVEL_GROUP_IP};

    for (size_t l = 0; l < sizeof levels / sizeof levels[0]; l++) {
        const char *const list = wr_config_level_keys(levels[l]);

        for (unsigned i = 0; i < WR_KEY_COUNT; i++) {
            const enum wr_config_key key = (enum wr_config_key) i;
            char quoted[64];

            (void) snprintf(quoted, sizeof quoted, "`%s`", wr_config_key_name(key));
            /* The list begins with where it is about, which is a name in quotes too. */
            if (wr_config_key_belongs(key, levels[l])) {
                cr_assert_not_null(strstr(list, quoted), "%s in %s", quoted, list);
            }
        }
    }
}

/* Who lists whole `rate_limit`s in `limits` is told to leave the word out. */
Test(config_keys, a_limit_in_a_limit_has_its_home_there)
{
    cr_assert_str_eq(wr_config_key_home(WR_KEY_RATE_LIMIT, WR_LEVEL_TOP),
                     "it belongs to a descriptor, beside `key`");
    cr_assert_str_eq(wr_config_key_home(WR_KEY_RATE_LIMIT, WR_LEVEL_LIMIT),
                     "what it holds stands here, without it");
}

Test(config_keys, an_example_is_there_for_what_is_not_any_text)
{
    cr_assert_str_eq(wr_config_key_example(WR_KEY_WINDOW), "as in 30s");
    cr_assert_null(wr_config_key_example(WR_KEY_NAME));
}

Test(config_keys, names_are_compared_by_case)
{
    cr_assert_eq(wr_config_key_of(wr_str_of("Descriptors")), WR_KEY_COUNT);
    cr_assert_eq(wr_config_key_of(wr_str_of("unit ")), WR_KEY_COUNT);
}

Test(config_keys, a_slip_is_led_to_the_key_that_was_meant)
{
    static const struct {
        const char *name;
        enum wr_config_key meant;
    } rows[] = {
        {"rateLimit", WR_KEY_RATE_LIMIT},
        {"ratelimit", WR_KEY_RATE_LIMIT},
        {"rate-limit", WR_KEY_RATE_LIMIT},
        {"requestsPerUnit", WR_KEY_REQUESTS_PER_UNIT},
        {"request_per_unit", WR_KEY_REQUESTS_PER_UNIT},
        {"units", WR_KEY_UNIT},
        {"Descriptors", WR_KEY_DESCRIPTORS},
        {"descriptor", WR_KEY_DESCRIPTORS},
        {"desciptors", WR_KEY_DESCRIPTORS},
        {"domian", WR_KEY_DOMAIN},
        {"shadowMode", WR_KEY_SHADOW_MODE},
        {"replace", WR_KEY_REPLACES},
        {"keys", WR_KEY_KEY},
        {"counts", WR_KEY_COUNTS},
        {"failureMode", WR_KEY_FAILURE_MODE},
        {"colour", WR_KEY_COUNT},
        {"owner", WR_KEY_COUNT},
        {"x", WR_KEY_COUNT},
        {"", WR_KEY_COUNT},
        {"_", WR_KEY_COUNT},
        {"a_name_that_is_far_longer_than_any_key_there_is", WR_KEY_COUNT},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(wr_config_key_near(wr_str_of(rows[i].name)), rows[i].meant, "%s",
                     rows[i].name);
    }
}
