/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as a rule file: it is refused with a note or comes into force, and then each rule whose
 * pairs are spelt out is found by them and its counter has an identity.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/diag.h"
#include "rules/config_yaml.h"
#include "rules/draft.h"
#include "rules/identity.h"
#include "rules/rules.h"
#include "rules/wildcard.h"

#define MAX_DEPTH 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct wr_config_bounds bounds = {
    .max_file_bytes = 1 << 16, .max_depth = MAX_DEPTH, .max_nodes = 1 << 12};

struct walk {
    struct wr_arena *arena;
    struct wr_str domain_name;
    const struct wr_domain *domain;
    struct wr_entry entries[MAX_DEPTH];
};

/* What the first `n` entries reach is the rule that spells them. */
static void check_found(struct walk *walk, const struct wr_draft_rule *rule, size_t n)
{
    static const struct wr_limit limit = {.requests = 1, .length_us = 1};
    const struct wr_node *const node = wr_domain_match(walk->domain, walk->entries, n);
    struct wr_str key;

    WR_ASSERT(node != NULL);
    WR_ASSERT(wr_str_equal(node->key, rule->key) && wr_str_equal(node->value, rule->value));
    WR_ASSERT((node->rule != NULL) == rule->has_limit);
    WR_ASSERT((node->parent != NULL) == (n > 1));
    WR_ASSERT(
        wr_identity_write(walk->arena, walk->domain_name, node, walk->entries, n, &limit, &key));
    WR_ASSERT(key.len > walk->domain_name.len);
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
                            .domain = wr_rules_domain(rules, draft->domain)};

        WR_ASSERT(walk.domain != NULL);
        check_rules(&walk, draft->rules, draft->n_rules, 0);
    }
    wr_rules_release(rules);
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
    wr_draft_check(&draft, &diag);
    WR_ASSERT(draft.is_refused == (diag.n_errors > 0));
    WR_ASSERT(draft.has_warning == (diag.n_warnings > 0));
    WR_ASSERT(!diag.is_incomplete);
    check_snapshot(&arena, &draft);
    wr_diag_fini(&diag);
    wr_arena_fini(&arena);
    return 0;
}
