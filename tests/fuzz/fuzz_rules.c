/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a rule file: it is refused with a note or comes into force, and then each rule whose
 * pairs are spelt out is found by them and its counter has an identity. What other pairs find is
 * what a slow obvious matcher finds.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/diag.h"
#include "rules/config_yaml.h"
#include "rules/doubts.h"
#include "rules/draft.h"
#include "rules/identity.h"
#include "rules/rules.h"
#include "rules/wildcard.h"
#include "tests/fuzz/slow_match.h"

#define MAX_DEPTH 8
#define MAX_ASKED 200 /* questions to the slow matcher, whose cost is no concern here */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct wr_config_bounds bounds = {
    .max_file_bytes = 1 << 16, .max_depth = MAX_DEPTH, .max_nodes = 1 << 12};

struct walk {
    struct wr_arena *arena;
    struct wr_str domain_name;
    const struct wr_domain *domain;
    const struct wr_draft *draft;
    struct wr_entry entries[MAX_DEPTH];
    size_t n_asked;
};

/* What the first `n` entries find is what they have to find. */
static void check_asked(struct walk *walk, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (walk->entries[i].key.len > SLOW_TEXT_MAX ||
            walk->entries[i].value.len > SLOW_TEXT_MAX) {
            return;
        }
    }
    if (walk->n_asked++ >= MAX_ASKED) {
        return;
    }

    const struct wr_node *const node = wr_domain_match(walk->domain, walk->entries, n);
    const struct wr_draft_rule *const want =
        slow_match_rules(walk->draft->rules, walk->draft->n_rules, walk->entries, n);

    WR_ASSERT((node == NULL) == (want == NULL));
    if (node != NULL) {
        WR_ASSERT(wr_str_equal(node->key, want->key) && wr_str_equal(node->value, want->value));
        WR_ASSERT((node->n_rules > 0) == (wr_draft_limits_of(want).n > 0));
    }
}

/* What the first `n` entries reach is the rule that spells them. */
static void check_found(struct walk *walk, const struct wr_draft_rule *rule, size_t n)
{
    static const struct wr_limit limit = {.requests = 1, .length_us = 1};
    const struct wr_node *const node = wr_domain_match(walk->domain, walk->entries, n);
    struct wr_str key;

    WR_ASSERT(node != NULL);
    WR_ASSERT(wr_str_equal(node->key, rule->key) && wr_str_equal(node->value, rule->value));
    WR_ASSERT((node->n_rules > 0) == (wr_draft_limits_of(rule).n > 0));
    WR_ASSERT((node->parent != NULL) == (n > 1));
    WR_ASSERT(wr_identity_write(walk->arena,
                                &(struct wr_identity_parts){.domain = walk->domain_name,
                                                            .node = node,
                                                            .entries = walk->entries,
                                                            .n_entries = n,
                                                            .limit = &limit},
                                &key));
    WR_ASSERT(key.len > walk->domain_name.len);
}

/* `text` with an x for each star. */
static struct wr_str without_stars(struct wr_arena *arena, struct wr_str text)
{
    char *const copy = wr_arena_alloc(arena, text.len);

    WR_ASSERT(copy != NULL);
    for (size_t i = 0; i < text.len; i++) {
        copy[i] = text.ptr[i] == '*' ? 'x' : text.ptr[i];
    }
    return (struct wr_str){.ptr = copy, .len = text.len};
}

/* Entries that fit rule after rule, whether by spelling, pattern or any value; rules of one level
 * can take them from each other, so that what they find is not always this rule. */
static void check_fitting(struct walk *walk, const struct wr_draft_rule *rules, size_t n_rules,
                          size_t depth)
{
    for (size_t i = 0; i < n_rules && walk->n_asked < MAX_ASKED; i++) {
        walk->entries[depth] = (struct wr_entry){
            .key = without_stars(walk->arena, rules[i].key),
            .value = without_stars(walk->arena, rules[i].value),
        };
        check_asked(walk, depth + 1);
        check_fitting(walk, rules[i].children, rules[i].n_children, depth + 1);
        walk->entries[depth].value = (struct wr_str) WR_STR("/api/v1/users");
        check_asked(walk, depth + 1);
        check_fitting(walk, rules[i].children, rules[i].n_children, depth + 1);
    }
}

static void check_rules(struct walk *walk, const struct wr_draft_rule *rules, size_t n_rules,
                        size_t depth)
{
    WR_ASSERT(n_rules == 0 || depth < MAX_DEPTH);
    for (size_t i = 0; i < n_rules; i++) {
        const struct wr_draft_rule *const rule = &rules[i];

        WR_ASSERT(rule->key.len > 0);
        if (rule->value.len == 0 || wr_wildcard_is(rule->key)) {
            continue;
        }
        walk->entries[depth] = (struct wr_entry){.key = rule->key, .value = rule->value};
        check_found(walk, rule, depth + 1);
        check_rules(walk, rule->children, rule->n_children, depth + 1);
    }
}

static void check_snapshot(struct wr_arena *arena, struct wr_draft *draft)
{
    struct wr_rules *rules = NULL;

    WR_ASSERT(wr_rules_new(&draft, 1, &rules) == WR_OK);
    WR_ASSERT(wr_rules_domain_count(rules) == (draft->is_refused ? 0 : 1));
    if (!draft->is_refused) {
        struct walk walk = {.arena = arena,
                            .domain_name = draft->domain,
                            .draft = draft,
                            .domain = wr_rules_domain(rules, draft->domain)};

        WR_ASSERT(walk.domain != NULL);
        check_rules(&walk, draft->rules, draft->n_rules, 0);
        check_fitting(&walk, draft->rules, draft->n_rules, 0);
    }
    wr_rules_release(rules);
}

/* Doubts warn and refuse nothing; those of a draft alone mark it, those between drafts do not. */
static void check_doubts(struct wr_draft *draft, struct wr_diag *diag)
{
    struct wr_draft *const drafts[] = {draft};
    const size_t n_errors = diag->n_errors;

    WR_ASSERT(wr_draft_doubt(draft, false, diag));
    WR_ASSERT(draft->has_warning == (diag->n_warnings > 0));
    draft->has_warning = false;
    draft->is_fresh = true;
    WR_ASSERT(wr_drafts_doubt(drafts, 1, diag));
    WR_ASSERT(diag->n_errors == n_errors && !draft->is_refused && !draft->has_warning);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct wr_str text = {.ptr = (const char *) data, .len = size};
    static const struct wr_str name = WR_STR("f.yaml");
    struct wr_arena arena;
    struct wr_diag diag;
    struct wr_draft draft;

    wr_arena_init(&arena, 4096);
    wr_diag_init(&diag, 16);
    wr_config_yaml_parse(text, name, &bounds, &arena, &diag, &draft);
    wr_draft_check(&draft, 0, &diag);
    WR_ASSERT(draft.is_refused == (diag.n_errors > 0));
    WR_ASSERT(draft.has_warning == (diag.n_warnings > 0));
    WR_ASSERT(!diag.is_incomplete);
    if (!draft.is_refused) {
        check_doubts(&draft, &diag);
    }
    check_snapshot(&arena, &draft);
    wr_diag_fini(&diag);
    wr_arena_fini(&arena);
    return 0;
}
