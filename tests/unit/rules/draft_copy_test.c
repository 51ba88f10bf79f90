/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/draft_copy.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/rules/texts.h"

static const char text[] =
    "domain: d\n"
    "count: admitted\n"
    "descriptors:\n"
    "  - {key: k, value: 'x*', share_threshold: true, metadata: {a: [1, {b: c}]},\n"
    "     rate_limit: {unit: day, requests_per_unit: 7, name: n, replaces: [{name: m}],\n"
    "     count: all, failure_mode: deny}}\n"
    "  - {key: l, shadow_mode: true, descriptors: [{key: m, rate_limit: {unlimited: true}}]}\n"
    "  - {key: n, group_ip: {ipv4: 24}, limits: [{unit: day, unit_multiplier: 2, name: two},\n"
    "     {unit: day, align: calendar, time_zone: Asia/Tokyo, headroom: 0.7,\n"
    "     warm_up: {duration: 30s, start: 0.3}},\n"
    "     {window: 90m, algorithm: token_bucket, burst: 5, replaces: [{name: m}]}]}\n";

static void assert_text(struct wr_str got, const char *want)
{
    cr_assert(wr_str_equal(got, wr_str_of(want)), "%.*s", (int) got.len, got.ptr);
}

static void assert_place(struct wr_place place, size_t line, size_t column)
{
    assert_text(place.file, "f.yaml");
    cr_assert_eq(place.line, line);
    cr_assert_eq(place.column, column);
}

Test(draft_copy, it_outlives_what_it_was_made_of)
{
    struct wr_arena arena;
    struct wr_draft copy;
    struct texts texts;

    wr_arena_init(&arena, 64);
    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);
    texts_check(&texts, false);
    cr_assert(wr_draft_copy(&arena, &texts.drafts[0], &copy));
    texts_fini(&texts);

    assert_text(copy.source, "f.yaml");
    assert_text(copy.domain, "d");
    assert_place(copy.place, 1, 9);
    cr_assert_eq(copy.n_rules, 3u);
    assert_place(copy.count_place, 2, 8);
    cr_assert_eq(copy.policy.count, WR_COUNT_ADMITTED);

    const struct wr_draft_rule *const first = &copy.rules[0], *const second = &copy.rules[1];

    assert_place(first->place, 4, 6);
    assert_text(first->key, "k");
    assert_text(first->value, "x*");
    cr_assert(first->has_share_threshold);
    assert_text(first->limit.unit, "day");
    assert_text(first->limit.name, "n");
    cr_assert_eq(first->limit.requests_per_unit, 7u);
    cr_assert_eq(first->limit.n_replaces, 1u);
    assert_text(first->limit.replaces[0].name, "m");
    assert_place(first->limit.replaces[0].place, 5, 72);

    const struct wr_value *const list = wr_value_get(&first->metadata, wr_str_of("a"));

    assert_text(wr_value_get(&list->as.list.items[1], wr_str_of("b"))->as.string, "c");
    cr_assert(first->limit.policy.has_count && first->limit.policy.has_failure_mode);
    cr_assert_eq(first->limit.policy.failure_mode, WR_FAILURE_DENY);
    cr_assert(second->is_shadow);
    cr_assert_eq(second->n_children, 1u);
    assert_text(second->children[0].key, "m");
    cr_assert(second->children[0].limit.is_unlimited);
    wr_arena_fini(&arena);
}

Test(draft_copy, layers_outlive_what_they_were_made_of)
{
    struct wr_arena arena;
    struct wr_draft copy;
    struct texts texts;

    wr_arena_init(&arena, 64);
    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);
    cr_assert(wr_draft_copy(&arena, &texts.drafts[0], &copy));
    texts_fini(&texts);

    const struct wr_draft_rule *const rule = &copy.rules[2];
    const struct wr_draft_limit *const layers = rule->layers;

    cr_assert(rule->has_group_ip);
    cr_assert_eq(rule->n_layers, 3u);
    assert_place(rule->layers_place, 8, 44);
    assert_place(rule->group_ip_place, 8, 24);
    assert_place(rule->ipv4_bits.place, 8, 31);
    assert_text(layers[0].name, "two");
    assert_place(layers[0].multiplier.place, 8, 74);
    assert_text(layers[1].align.text, "calendar");
    assert_text(layers[1].time_zone.text, "Asia/Tokyo");
    assert_place(layers[1].time_zone.place, 9, 46);
    assert_text(layers[1].headroom.text, "0.7");
    assert_text(layers[1].warm_up_duration.text, "30s");
    assert_text(layers[1].warm_up_start.text, "0.3");
    assert_place(layers[1].warm_up_place, 10, 15);
    assert_text(layers[2].window.text, "90m");
    assert_text(layers[2].algorithm.text, "token_bucket");
    assert_place(layers[2].burst.place, 11, 52);
    assert_text(layers[2].replaces[0].name, "m");
    wr_arena_fini(&arena);
}

Test(draft_copy, memory_that_runs_out_is_no_half_copy)
{
    struct texts texts;
    size_t n = 0;

    texts_init(&texts);
    texts_add(&texts, "f.yaml", text);
    texts_check(&texts, false);
    for (bool is_copied = false; !is_copied; n++) {
        struct wr_draft copy = {.n_rules = 99};
        struct wr_arena arena;

        wr_arena_init(&arena, 16);
        failing_malloc_start(n);
        is_copied = wr_draft_copy(&arena, &texts.drafts[0], &copy);
        failing_malloc_stop();
        cr_assert_eq(copy.n_rules, is_copied ? 3u : 99u, "%zu", n);
        wr_arena_fini(&arena);
    }
    cr_assert_gt(n, 3u);
    texts_fini(&texts);
}
