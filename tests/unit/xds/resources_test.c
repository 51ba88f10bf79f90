/* SPDX-License-Identifier: Apache-2.0 */
#include "xds/resources.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "tests/support/failing_malloc.h"
#include "tests/unit/xds/responses.h"

#define ROWS_MAX 4

struct bed {
    struct wr_load_options load;
    struct wr_xds_resources resources;
    struct wr_xds_change change; /* the last */
    struct wr_rules *rules;      /* in force */
    char *notes;                 /* of the last take */
};

static void init(struct bed *bed)
{
    *bed = (struct bed){.load = responses_load};
    wr_xds_resources_init(&bed->resources, &bed->load);
}

static void fini(struct bed *bed)
{
    wr_rules_release(bed->rules);
    free(bed->notes);
    wr_xds_resources_fini(&bed->resources);
}

static void print(struct bed *bed, struct wr_diag *diag)
{
    size_t len = 0;
    FILE *out;

    free(bed->notes);
    out = open_memstream(&bed->notes, &len);
    cr_assert_not_null(out);
    wr_diag_print(diag, out);
    cr_assert_eq(fclose(out), 0);
}

static enum wr_err take(struct bed *bed, const struct resource_row *rows, size_t n)
{
    struct wr_str messages[ROWS_MAX];
    struct wr_arena arena;
    struct wr_diag diag;

    wr_arena_init(&arena, 4096);
    wr_diag_init(&diag, 20);
    for (size_t i = 0; i < n; i++) {
        messages[i] = responses_message(&arena, &rows[i]);
    }

    const enum wr_err err =
        wr_xds_resources_take(&bed->resources, messages, n, &diag, &bed->change);

    print(bed, &diag);
    if (err == WR_OK && bed->change.rules != NULL) {
        wr_rules_release(bed->rules);
        bed->rules = bed->change.rules;
    }
    wr_diag_fini(&diag);
    wr_arena_fini(&arena);
    return err;
}

/* The number in force for `k` of a domain; 0: there is no such domain. */
static uint64_t limit_of(const struct bed *bed, const char *domain)
{
    const struct wr_entry entry = {.key = WR_STR("k"), .value = WR_STR("v")};
    const struct wr_domain *const found =
        bed->rules == NULL ? NULL : wr_rules_domain(bed->rules, wr_str_of(domain));

    return found == NULL ? 0 : wr_domain_match(found, &entry, 1)->rules[0].limit.requests;
}

static void expect_take(struct bed *bed, const struct resource_row *rows, size_t n,
                        size_t n_refused, bool has_rules)
{
    cr_assert_eq(take(bed, rows, n), WR_OK);
    cr_assert_eq(bed->change.n_resources, n);
    cr_assert_eq(bed->change.n_refused, n_refused, "%zu refused: %s", bed->change.n_refused,
                 bed->notes);
    cr_assert_eq(bed->change.rules != NULL, has_rules, "%s", bed->notes);
}

Test(resources, are_all_that_there_is)
{
    const struct resource_row two[] = {{"a", "A", 1, 5}, {"b", "B", 1, 6}};
    const struct resource_row one[] = {{"b", "B", 1, 7}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, two, 2, 0, true);
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    cr_assert_eq(limit_of(&bed, "B"), 6u);
    expect_take(&bed, one, 1, 0, true);
    cr_assert_eq(limit_of(&bed, "A"), 0u);
    cr_assert_eq(limit_of(&bed, "B"), 7u);
    expect_take(&bed, NULL, 0, 0, true);
    cr_assert_eq(wr_rules_domain_count(bed.rules), 0u);
    expect_take(&bed, NULL, 0, 0, false);
    fini(&bed);
}

Test(resources, none_at_all_is_a_configuration)
{
    struct bed bed;

    init(&bed);
    expect_take(&bed, NULL, 0, 0, true);
    cr_assert_not_null(bed.rules);
    fini(&bed);
}

Test(resources, that_have_not_changed_make_no_rules)
{
    const struct resource_row rows[] = {{"a", "A", 1, 5}, {"b", "B", 1, 6}};
    const struct resource_row turned[] = {{"b", "B", 1, 6}, {"a", "A", 1, 5}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, rows, 2, 0, true);
    expect_take(&bed, rows, 2, 0, false);
    expect_take(&bed, turned, 2, 0, false);
    fini(&bed);
}

Test(resources, a_bad_one_stays_and_the_others_go_on)
{
    const struct resource_row good[] = {{"a", "A", 1, 5}, {"b", "B", 1, 6}};
    const struct resource_row mixed[] = {{"a", "A", 0, 8}, {"b", "B", 1, 9}};
    const struct resource_row repaired[] = {{"a", "A", 1, 8}, {"b", "B", 1, 9}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, good, 2, 0, true);
    expect_take(&bed, mixed, 2, 1, true);
    cr_assert_str_eq(
        bed.notes,
        "resource a: descriptors[0].rate_limit.unit: error: `rate_limit` has no `unit` (in "
        "A.k); one of second, minute, hour, day, week, month, year\n");
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    cr_assert_eq(limit_of(&bed, "B"), 9u);
    expect_take(&bed, mixed, 2, 1, false);
    expect_take(&bed, repaired, 2, 0, true);
    cr_assert_eq(limit_of(&bed, "A"), 8u);
    fini(&bed);
}

Test(resources, when_none_is_good_all_stays)
{
    const struct resource_row good[] = {{"a", "A", 1, 5}};
    const struct resource_row bad[] = {{"b", "B", 0, 6}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, bad, 1, 1, false);
    cr_assert_null(bed.rules);
    expect_take(&bed, good, 1, 0, true);
    expect_take(&bed, bad, 1, 1, false);
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    expect_take(&bed, good, 1, 0, false);
    fini(&bed);
}

#define TWICE                                                                                      \
    "resource c: domain: error: domain `A` has its rules already, at resource a: domain; join "    \
    "the resources, or set --merge-domain-config\n"

Test(resources, one_domain_has_one_resource)
{
    const struct resource_row first[] = {{"c", "A", 1, 6}, {"a", "A", 1, 5}};
    const struct resource_row later[] = {{"b", "A", 1, 7}, {"a", "A", 1, 8}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, first, 2, 1, true);
    cr_assert_str_eq(bed.notes, TWICE);
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    expect_take(&bed, later, 2, 1, true);
    cr_assert_eq(limit_of(&bed, "A"), 8u);
    fini(&bed);
}

/* b would take the domain that a keeps because its new content is bad. */
Test(resources, what_is_in_force_wins)
{
    const struct resource_row first[] = {{"b", "A", 1, 5}};
    const struct resource_row later[] = {{"a", "A", 1, 7}, {"b", "B", 0, 8}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, first, 1, 0, true);
    expect_take(&bed, later, 2, 2, false);
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    fini(&bed);
}

Test(resources, a_domain_may_be_spread_when_asked_for)
{
    const struct resource_row rows[] = {{"a", "A", 1, 5}, {"b", "A", 1, 6}};
    struct bed bed;

    init(&bed);
    bed.load.merges_domains = true;
    expect_take(&bed, rows, 2, 1, true);
    cr_assert_not_null(strstr(bed.notes, "is already defined at resource a: descriptors[0]"));
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    fini(&bed);
}

Test(resources, without_names_or_with_the_same_are_fine)
{
    const struct resource_row nameless[] = {{"", "A", 1, 5}, {"", "B", 1, 6}};
    const struct resource_row same[] = {{"x", "A", 1, 7}, {"x", "B", 1, 8}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, nameless, 2, 0, true);
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    expect_take(&bed, same, 2, 0, true);
    cr_assert_eq(limit_of(&bed, "A"), 7u);
    cr_assert_eq(limit_of(&bed, "B"), 8u);
    expect_take(&bed, same, 2, 0, false);
    fini(&bed);
}

Test(resources, without_a_name_a_bad_one_stays_by_its_domain)
{
    const struct resource_row good[] = {{"", "A", 1, 5}, {"", "B", 1, 6}};
    const struct resource_row bad[] = {{"", "A", 0, 7}, {"", "B", 1, 8}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, good, 2, 0, true);
    expect_take(&bed, bad, 2, 1, true);
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    cr_assert_eq(limit_of(&bed, "B"), 8u);
    fini(&bed);
}

/* Else a domain whose resource cannot be read would have no limits any more. */
Test(resources, when_a_bad_one_does_not_say_which_it_is_all_stays)
{
    const struct resource_row good[] = {{"a", "A", 1, 5}, {"b", "B", 1, 6}};
    const struct resource_row bad[] = {{"a", "A", 1, 7}, {"", "", 1, 8}};
    struct bed bed;

    init(&bed);
    expect_take(&bed, good, 2, 0, true);
    expect_take(&bed, bad, 2, 1, false);
    cr_assert_eq(limit_of(&bed, "A"), 5u);
    cr_assert_eq(limit_of(&bed, "B"), 6u);
    expect_take(&bed, bad, 1, 0, true);
    cr_assert_eq(limit_of(&bed, "A"), 7u);
    cr_assert_eq(limit_of(&bed, "B"), 0u);
    fini(&bed);
}

Test(resources, out_of_memory_takes_nothing)
{
    const struct resource_row first[] = {{"a", "A", 1, 5}};
    const struct resource_row later[] = {{"a", "A", 1, 6}, {"b", "B", 1, 7}};
    struct wr_str messages[2];
    struct wr_arena arena;
    struct bed bed;
    unsigned n_failed = 0;

    wr_arena_init(&arena, 4096);
    messages[0] = responses_message(&arena, &later[0]);
    messages[1] = responses_message(&arena, &later[1]);
    init(&bed);
    expect_take(&bed, first, 1, 0, true);
    for (;; n_failed++) {
        struct wr_xds_change change = {0};
        struct wr_diag diag;

        wr_diag_init(&diag, 0);
        failing_malloc_start(n_failed);

        const enum wr_err err = wr_xds_resources_take(&bed.resources, messages, 2, &diag, &change);

        failing_malloc_stop();
        wr_diag_fini(&diag);
        if (err == WR_OK) {
            wr_rules_release(bed.rules);
            bed.rules = change.rules;
            break;
        }
        cr_assert_eq(err, WR_ERR_NO_MEMORY);
        expect_take(&bed, first, 1, 0, false);
    }
    cr_assert_gt(n_failed, 5u);
    cr_assert_eq(limit_of(&bed, "A"), 6u);
    fini(&bed);
    wr_arena_fini(&arena);
}

/* Domain d with a limit that replaces x, which is not there. */
static const struct wr_str doubtful = WR_STR("\x0a\x01"
                                             "a\x12\x01"
                                             "d\x1a\x0e\x0a\x01"
                                             "k\x1a\x09\x08\x01\x10\x05\x2a\x03\x0a\x01"
                                             "x");

Test(resources, what_is_hardly_meant_is_told_and_refused_only_when_strict)
{
    for (int is_strict = 0; is_strict < 2; is_strict++) {
        struct wr_xds_change change = {0};
        struct wr_diag diag;
        struct bed bed;

        init(&bed);
        bed.load.is_strict = is_strict;
        wr_diag_init(&diag, 20);
        cr_assert_eq(wr_xds_resources_take(&bed.resources, &doubtful, 1, &diag, &change), WR_OK);
        print(&bed, &diag);
        cr_assert_not_null(strstr(bed.notes, "resource a: descriptors[0].rate_limit.replaces[0]: "),
                           "%s", bed.notes);
        cr_assert_not_null(strstr(bed.notes, "there is no limit `x` to be replaced"));
        cr_assert_eq(change.n_refused, (size_t) is_strict);
        cr_assert_eq(change.rules == NULL, is_strict);
        wr_rules_release(change.rules);
        wr_diag_fini(&diag);
        fini(&bed);
    }
}

/* Domain d with a pattern for any value of k, and one behind it. */
static const struct wr_str any_value = WR_STR("\x0a\x01"
                                              "a\x12\x01"
                                              "d\x1a\x06\x0a\x01"
                                              "k\x12\x01*");
static const struct wr_str some_values = WR_STR("\x0a\x01"
                                                "b\x12\x01"
                                                "d\x1a\x07\x0a\x01"
                                                "k\x12\x02x*");

Test(resources, what_several_make_doubtful_is_told_and_refuses_none)
{
    const struct wr_str messages[] = {any_value, some_values};
    struct wr_xds_change change = {0};
    struct wr_diag diag;
    struct bed bed;

    init(&bed);
    bed.load.is_strict = bed.load.merges_domains = true;
    for (size_t n = 1; n <= 2; n++) {
        wr_diag_init(&diag, 20);
        cr_assert_eq(wr_xds_resources_take(&bed.resources, messages, n, &diag, &change), WR_OK);
        cr_assert_eq(diag.n_errors, 0u);
        cr_assert_eq(diag.n_warnings, n - 1);
        cr_assert_eq(change.n_refused, 0u);
        cr_assert_not_null(change.rules);
        wr_rules_release(change.rules);
        print(&bed, &diag);
        wr_diag_fini(&diag);
    }
    cr_assert_not_null(
        strstr(bed.notes, "resource b: descriptors[0]: warning: this rule is never "), "%s",
        bed.notes);
    fini(&bed);
}
