/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/identity.h"

#include <criterion/criterion.h>

#include "limit/calendar.h"
#include "tests/unit/rules/texts.h"

#define MINUTE_US INT64_C(60000000)

static const struct wr_limit per_minute = {.requests = 5, .length_us = MINUTE_US};

struct fixture {
    struct wr_arena arena;
    struct wr_rules *rules;
};

static void init(struct fixture *fixture, const char *text)
{
    wr_arena_init(&fixture->arena, 1024);
    fixture->rules = text == NULL ? NULL : rules_of(text);
}

static void fini(struct fixture *fixture)
{
    wr_rules_release(fixture->rules);
    wr_arena_fini(&fixture->arena);
}

static struct wr_str identity(struct fixture *fixture, const char *domain,
                              const struct wr_entry *entries, size_t n,
                              const struct wr_limit *limit)
{
    const struct wr_node *node = NULL;
    struct wr_str key;

    if (fixture->rules != NULL) {
        node = wr_domain_match(wr_rules_domain(fixture->rules, wr_str_of(domain)), entries, n);
        cr_assert_not_null(node);
    }

    const struct wr_identity_parts parts = {.domain = wr_str_of(domain),
                                            .node = node,
                                            .entries = entries,
                                            .n_entries = n,
                                            .limit = limit};

    cr_assert(wr_identity_write(&fixture->arena, &parts, &key));
    return key;
}

static struct wr_str of_one(struct fixture *fixture, const char *key, const char *value)
{
    const struct wr_entry entry = entry_of(key, value);

    return identity(fixture, "d", &entry, 1, &per_minute);
}

static struct wr_str of_two(struct fixture *fixture, const char *key, const char *value,
                            const char *next_key, const char *next_value)
{
    const struct wr_entry entries[] = {entry_of(key, value), entry_of(next_key, next_value)};

    return identity(fixture, "d", entries, 2, &per_minute);
}

Test(identity, is_laid_out_as_written)
{
    static const char want[] = "\1\0\0\0d"
                               "\0\1\0\0\0k\2\0\0\0vw"
                               "\xff\x00\x87\x93\x03\0\0\0\0\0\0\0\0\0\0"
                               "\0\0\0\0";
    static const struct wr_str wanted = {.ptr = want, .len = sizeof want - 1};
    struct fixture fixture;

    init(&fixture, NULL);
    cr_assert(wr_str_equal(of_one(&fixture, "k", "vw"), wanted));
    fini(&fixture);
}

Test(identity, texts_that_join_alike_are_apart)
{
    struct fixture fixture;

    init(&fixture, NULL);

    const struct wr_entry z = entry_of("z", "1"), y_z = entry_of("y_z", "1");
    const struct wr_str all[] = {
        of_one(&fixture, "a", "b_c"),
        of_one(&fixture, "a_b", "c"),
        of_one(&fixture, "ab", "_c"),
        of_one(&fixture, "a", ""),
        of_one(&fixture, "", "a"),
        of_one(&fixture, "a", "x_b_y"),
        of_two(&fixture, "a", "x", "b", "y"),
        of_two(&fixture, "a", "x_b", "b", "y"),
        of_two(&fixture, "b", "y", "a", "x"),
        identity(&fixture, "x", &y_z, 1, &per_minute),
        identity(&fixture, "x_y", &z, 1, &per_minute),
        identity(&fixture, "d", NULL, 0, &per_minute),
    };
    const size_t n = sizeof all / sizeof all[0];

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            cr_assert_eq(wr_str_equal(all[i], all[k]), i == k, "%zu and %zu", i, k);
        }
    }
    fini(&fixture);
}

Test(identity, the_window_is_part_of_it_and_the_number_is_not)
{
    const struct wr_limit more = {.requests = 500, .length_us = MINUTE_US};
    const struct wr_limit per_hour = {.requests = 5, .length_us = 60 * MINUTE_US};
    const struct wr_entry entry = entry_of("k", "v");
    struct fixture fixture;

    init(&fixture, NULL);

    const struct wr_str it = identity(&fixture, "d", &entry, 1, &per_minute);

    cr_assert(wr_str_equal(it, identity(&fixture, "d", &entry, 1, &more)));
    cr_assert_not(wr_str_equal(it, identity(&fixture, "d", &entry, 1, &per_hour)));
    fini(&fixture);
}

Test(identity, the_zone_of_a_calendar_is_part_of_it)
{
    static const struct wr_calendar paris = {.zone_name = WR_STR("Europe/Paris")};
    static const struct wr_calendar tokyo = {.zone_name = WR_STR("Asia/Tokyo")};
    static const struct wr_calendar utc = {.unit = WR_UNIT_DAY};
    const struct wr_calendar *const calendars[] = {&paris, &tokyo, &utc};
    const struct wr_entry entry = entry_of("k", "v");
    const size_t n = sizeof calendars / sizeof calendars[0];
    struct fixture fixture;
    struct wr_str all[3];

    init(&fixture, NULL);
    for (size_t i = 0; i < n; i++) {
        struct wr_limit limit = per_minute;

        limit.alignment = WR_ALIGN_CALENDAR;
        limit.calendar = calendars[i];
        all[i] = identity(&fixture, "d", &entry, 1, &limit);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++) {
            cr_assert_eq(wr_str_equal(all[i], all[k]), i == k, "%zu and %zu", i, k);
        }
    }
    fini(&fixture);
}

/* So an override of the same unit goes on counting where the rule was. */
Test(identity, a_rule_without_sharing_counts_as_the_request_alone_does)
{
    struct fixture with_rule, without;

    init(&with_rule, "domain: d\n"
                     "descriptors:\n"
                     "  - key: a\n"
                     "    value: 'x*'\n"
                     "    descriptors: [{key: 'b*', rate_limit: {unit: minute}}]\n");
    init(&without, NULL);
    cr_assert(wr_str_equal(of_two(&with_rule, "a", "x1", "b1", "2"),
                           of_two(&without, "a", "x1", "b1", "2")));
    fini(&with_rule);
    fini(&without);
}

static const char sharing[] = "domain: d\n"
                              "descriptors:\n"
                              "  - key: org\n"
                              "    descriptors:\n"
                              "      - {key: p, value: 'v*', share_threshold: true}\n"
                              "  - key: tier\n"
                              "    value: 'g*'\n"
                              "    share_threshold: true\n"
                              "    descriptors: [{key: p}]\n";

Test(identity, a_shared_level_stands_for_all_its_values)
{
    struct fixture fixture;

    init(&fixture, sharing);
    cr_assert(wr_str_equal(of_two(&fixture, "org", "1", "p", "v1"),
                           of_two(&fixture, "org", "1", "p", "v2")));
    cr_assert_not(wr_str_equal(of_two(&fixture, "org", "1", "p", "v1"),
                               of_two(&fixture, "org", "2", "p", "v1")));
    cr_assert(wr_str_equal(of_two(&fixture, "tier", "gold", "p", "1"),
                           of_two(&fixture, "tier", "grey", "p", "1")));
    cr_assert_not(wr_str_equal(of_two(&fixture, "tier", "gold", "p", "1"),
                               of_two(&fixture, "tier", "gold", "p", "2")));
    fini(&fixture);
}

Test(identity, each_level_is_written_for_itself)
{
    static const char want[] = "\1\0\0\0d"
                               "\1\4\0\0\0tier\2\0\0\0g*"
                               "\0\1\0\0\0p\1\0\0\0"
                               "1"
                               "\xff\x00\x87\x93\x03\0\0\0\0\0\0\0\0\0\0"
                               "\0\0\0\0";
    static const struct wr_str wanted = {.ptr = want, .len = sizeof want - 1};
    struct fixture fixture;

    init(&fixture, sharing);
    cr_assert(wr_str_equal(of_two(&fixture, "tier", "gold", "p", "1"), wanted));
    fini(&fixture);
}

Test(identity, a_shared_pattern_is_not_the_literal_value_of_the_same_text)
{
    struct fixture with_rule, without;

    init(&with_rule, sharing);
    init(&without, NULL);
    cr_assert_not(wr_str_equal(of_two(&with_rule, "org", "1", "p", "v*"),
                               of_two(&without, "org", "1", "p", "v*")));
    fini(&with_rule);
    fini(&without);
}

Test(identity, addresses_count_by_their_first_bits_and_other_values_as_they_are)
{
    static const struct {
        const char *a, *b;
        bool is_same;
    } rows[] = {
        {"192.0.2.1", "192.0.2.200", true},
        {"192.0.2.1", "::ffff:192.0.2.9", true},
        {"192.0.2.1", "192.0.3.1", false},
        {"2001:db8::1", "2001:db8:0:0:ffff::", true},
        {"2001:db8::1", "2001:db8:0:1::1", false},
        {"192.0.2.0/24", "192.0.2.1", false},
        {"ann", "bob", false},
    };
    struct fixture fixture;

    init(&fixture, "domain: d\n"
                   "descriptors:\n"
                   "  - {key: ip, group_ip: {ipv4: 24, ipv6: 64}, descriptors: [{key: k}]}\n");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(
            wr_str_equal(of_one(&fixture, "ip", rows[i].a), of_one(&fixture, "ip", rows[i].b)),
            rows[i].is_same, "row %zu", i);
        cr_assert_eq(wr_str_equal(of_two(&fixture, "ip", rows[i].a, "k", "v"),
                                  of_two(&fixture, "ip", rows[i].b, "k", "v")),
                     rows[i].is_same, "row %zu, below", i);
    }
    fini(&fixture);
}

/* Who rotates addresses within a group gains nothing by a limit of the request's own. */
Test(identity, an_override_counts_addresses_together_and_shares_no_pattern)
{
    static const struct {
        const char *key, *value, *as;
    } rows[] = {
        {"ip", "192.0.2.7", "192.0.2.0"},
        {"ip", "2001:db8::1", "2001:db8::"},
        {"ip", "ann", "ann"},
        {"p", "v1", "v1"},
        {"other", "192.0.2.7", "192.0.2.7"},
    };
    struct fixture with_rules, without;

    init(&with_rules, "domain: d\n"
                      "descriptors:\n"
                      "  - {key: ip, group_ip: {ipv4: 24, ipv6: 64}}\n"
                      "  - {key: p, value: 'v*', share_threshold: true}\n");
    init(&without, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_entry entry = entry_of(rows[i].key, rows[i].value);
        const struct wr_identity_parts parts = {
            .domain = wr_str_of("d"),
            .node = wr_domain_match(wr_rules_domain(with_rules.rules, wr_str_of("d")), &entry, 1),
            .is_override = true,
            .entries = &entry,
            .n_entries = 1,
            .limit = &per_minute,
        };
        struct wr_str key;

        cr_assert(wr_identity_write(&with_rules.arena, &parts, &key));
        cr_assert(wr_str_equal(key, of_one(&without, rows[i].key, rows[i].as)), "row %zu", i);
    }
    fini(&with_rules);
    fini(&without);
}

/* The rules go as far as the first entry, or to `path` below it. */
Test(identity, an_override_counts_addresses_together_where_its_path_goes_beyond_the_rules)
{
    static const struct {
        const char *key, *value, *next_key, *as;
    } rows[] = {
        {"ip", "192.0.2.7", "path", "192.0.2.0"},
        {"ip", "192.0.2.7", "user", "192.0.2.0"},
        {"ip", "ann", "user", "ann"},
        {"other", "192.0.2.7", "path", "192.0.2.7"},
    };
    struct fixture with_rules, without;

    init(&with_rules, "domain: d\n"
                      "descriptors:\n"
                      "  - {key: ip, group_ip: {ipv4: 24}, descriptors: [{key: path}]}\n");
    init(&without, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_entry entries[] = {entry_of(rows[i].key, rows[i].value),
                                           entry_of(rows[i].next_key, "x"), entry_of("ip", "::1")};
        size_t n_matched;
        const struct wr_identity_parts parts = {
            .domain = wr_str_of("d"),
            .node = wr_domain_reach(wr_rules_domain(with_rules.rules, wr_str_of("d")), entries, 3,
                                    &n_matched),
            .is_override = true,
            .entries = entries,
            .n_entries = 3,
            .limit = &per_minute,
        };
        const struct wr_entry as[] = {entry_of(rows[i].key, rows[i].as), entries[1], entries[2]};
        struct wr_str key;

        cr_assert(wr_identity_write(&with_rules.arena, &parts, &key));
        cr_assert(wr_str_equal(key, identity(&without, "d", as, 3, &per_minute)), "row %zu", i);
    }
    fini(&with_rules);
    fini(&without);
}

Test(identity, what_counts_in_another_way_has_another_counter)
{
    static const struct wr_limit all[] = {
        {.length_us = MINUTE_US},
        {.length_us = MINUTE_US, .alignment = WR_ALIGN_FIRST_HIT},
        {.length_us = MINUTE_US, .alignment = WR_ALIGN_CALENDAR},
        {.length_us = MINUTE_US, .algorithm = WR_ALGORITHM_SLIDING_WINDOW},
        {.length_us = MINUTE_US, .algorithm = WR_ALGORITHM_TOKEN_BUCKET},
        {.length_us = MINUTE_US, .warm_up_us = 1},
        {.length_us = MINUTE_US, .algorithm = WR_ALGORITHM_TOKEN_BUCKET, .warm_up_us = 1},
    };
    const size_t n = sizeof all / sizeof all[0];
    const struct wr_entry entry = entry_of("k", "v");
    struct wr_str keys[2 * sizeof all / sizeof all[0]];
    struct fixture fixture;

    init(&fixture, NULL);
    for (size_t i = 0; i < 2 * n; i++) {
        const struct wr_identity_parts parts = {.domain = wr_str_of("d"),
                                                .entries = &entry,
                                                .n_entries = 1,
                                                .limit = &all[i / 2],
                                                .layer = i % 2};

        cr_assert(wr_identity_write(&fixture.arena, &parts, &keys[i]));
        for (size_t k = 0; k < i; k++) {
            cr_assert_not(wr_str_equal(keys[i], keys[k]), "%zu and %zu", i, k);
        }
    }
    fini(&fixture);
}
