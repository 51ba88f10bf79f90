/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pattern takes all that another one takes exactly if it fits the other's text, in which each '*'
 * is a letter like others: no '*' is spelt out in a pattern, so those of the text fall to its own.
 * So a rule is found by what it looks like itself, or never. (It is still found by a request that
 * spells its pattern letter by letter, as exact pairs go first.)
 */
#include "rules/reach_check.h"

#include "rules/doubts.h"
#include "rules/level_wildcards.h"
#include "rules/pair_table.h"
#include "rules/wildcard.h"

static bool is_pattern(const struct wr_draft_rule *rule)
{
    return wr_wildcard_is(rule->key) || wr_wildcard_is(rule->value);
}

/* The patterns of one level. */
struct level {
    const struct wr_level_wildcards *wildcards;
    struct wr_node *nodes; /* of the patterns, in order */
    const struct wr_doubt_rule **rules;
    size_t n;
};

static bool gather(const struct wr_doubt_pass *pass, const struct wr_doubt_rule *rules, size_t n,
                   struct level *level)
{
    const struct wr_node **const nodes =
        wr_arena_calloc(pass->arena, level->n, sizeof(const struct wr_node *));
    size_t k = 0;

    level->nodes = wr_arena_calloc(pass->arena, level->n, sizeof *level->nodes);
    level->rules = wr_arena_calloc(pass->arena, level->n, sizeof(const struct wr_doubt_rule *));
    if (nodes == NULL || level->nodes == NULL || level->rules == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (is_pattern(rules[i].rule)) {
            level->nodes[k] =
                (struct wr_node){.key = rules[i].rule->key, .value = rules[i].rule->value};
            level->rules[k] = &rules[i];
            nodes[k] = &level->nodes[k];
            k++;
        }
    }
    return wr_level_wildcards_build(pass->arena, &pass->hash_key, nodes, level->n,
                                    &level->wildcards);
}

/* The rule that is found by what `rule` looks like; NULL: none of the patterns. */
static const struct wr_doubt_rule *find(const struct wr_doubt_pass *pass, const struct level *level,
                                        const struct wr_draft_rule *rule)
{
    static const struct wr_str nothing = WR_STR(""); /* as an entry has it, not without bytes */
    const struct wr_entry entry = {.key = rule->key,
                                   .value = rule->value.len > 0 ? rule->value : nothing};
    const struct wr_node *const node = wr_level_wildcards_find(
        level->wildcards, wr_pair_hash_first(&pass->hash_key, rule->key), &entry);

    return node == NULL ? NULL : level->rules[node - level->nodes];
}

static bool takes(const struct wr_draft_rule *rule, const struct wr_draft_rule *other)
{
    return wr_wildcard_match(rule->key, other->key) &&
           (rule->value.len == 0 || wr_wildcard_match(rule->value, other->value));
}

static void warn(const struct wr_doubt_pass *pass, const struct wr_doubt_rule *rule,
                 const struct wr_doubt_rule *before, const struct wr_rule_path *parent)
{
    const struct wr_draft_rule *const own = rule->rule;
    const struct wr_rule_path path = {.parent = parent, .key = own->key, .value = own->value};
    const struct wr_check_subject subject = {
        .draft = rule->draft, .place = own->place, .path = &path};
    char where[WR_DOUBT_PLACE_SIZE];

    wr_place_format(&before->rule->place, where, sizeof where);
    if (is_pattern(own)) {
        wr_check_warn(pass->check, &subject,
                      takes(own, before->rule) ? "remove one of the two"
                                               : "move it above that one, or remove it",
                      "this rule is never found: the one at %s comes first, and takes all that it "
                      "would",
                      where);
    } else {
        wr_check_warn(pass->check, &subject, "remove one of the two",
                      "this rule is never found: the one at %s takes every value, and a `*` goes "
                      "before a rule without a value",
                      where);
    }
}

bool wr_reach_check(const struct wr_doubt_pass *pass, const struct wr_doubt_rule *rules, size_t n,
                    const struct wr_rule_path *parent)
{
    struct level level = {0};

    for (size_t i = 0; i < n; i++) {
        level.n += is_pattern(rules[i].rule);
    }
    if (level.n == 0 || *pass->work > WR_DOUBTS_MAX_WORK) {
        return true;
    }
    if (!gather(pass, rules, n, &level)) {
        return false;
    }
    for (size_t i = 0, before = 0; i < n && *pass->work <= WR_DOUBTS_MAX_WORK; i++) {
        if (!is_pattern(rules[i].rule) && rules[i].rule->value.len > 0) {
            continue; /* exact pairs go first */
        }

        const struct wr_doubt_rule *const found = find(pass, &level, rules[i].rule);

        /* A pattern is held against those before it at most, and found by itself then. */
        before += is_pattern(rules[i].rule);
        *pass->work += is_pattern(rules[i].rule) ? before : level.n;
        if (found != NULL && found != &rules[i] &&
            (found->draft != rules[i].draft) == pass->check->is_between) {
            warn(pass, &rules[i], found, parent);
        }
    }
    return true;
}
