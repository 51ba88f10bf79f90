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

static size_t skip_stars(struct wr_str text, size_t at)
{
    while (at < text.len && text.ptr[at] == '*') {
        at++;
    }
    return at;
}

/* Whether two texts are the same but for how many '*' stand side by side. */
static bool are_alike(struct wr_str a, struct wr_str b)
{
    size_t i = 0, k = 0;

    while (i < a.len && k < b.len && a.ptr[i] == b.ptr[k]) {
        const bool is_star = a.ptr[i] == '*';

        i = is_star ? skip_stars(a, i) : i + 1;
        k = is_star ? skip_stars(b, k) : k + 1;
    }
    return i == a.len && k == b.len;
}

/* Whether a rule takes all that another one takes which does the same to it. */
static bool takes(const struct wr_draft_rule *rule, const struct wr_draft_rule *other)
{
    static const struct wr_str any = WR_STR("*");

    return are_alike(rule->key, other->key) && are_alike(rule->value.len > 0 ? rule->value : any,
                                                         other->value.len > 0 ? other->value : any);
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

/* Patterns that a rule is held against. */
struct held {
    size_t n, len;
    size_t n_inner, inner_len; /* of those with text between two '*', which is sought everywhere */
};

/* From the first '*' to the last. */
static size_t inner_len_of(struct wr_str text)
{
    const size_t first = wr_str_find(text, '*');
    size_t last = text.len;

    if (first == text.len) {
        return 0;
    }
    while (text.ptr[last - 1] != '*') {
        last--;
    }
    return last - 1 - first;
}

static size_t len_of(const struct wr_draft_rule *rule)
{
    return rule->key.len + rule->value.len;
}

static void hold(struct held *held, const struct wr_draft_rule *rule)
{
    const size_t inner_len = inner_len_of(rule->key) + inner_len_of(rule->value);

    held->n++;
    held->len += len_of(rule);
    held->n_inner += inner_len > 0;
    held->inner_len += inner_len;
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* What it may take to hold a rule against them, before it is done: each has its ends compared, and
 * text between two '*' at every byte of the rule, nearly all of it each time. */
static size_t work_of(const struct held *held, const struct wr_draft_rule *rule)
{
    const size_t len = len_of(rule);

    return 1 + held->n + (len + min(held->len, held->n * len)) / 64 + held->n_inner * len / 8 +
           min(held->inner_len, held->n_inner * len) * len / 1024;
}

/* Whether a rule may be found instead of by itself: exact pairs go first. */
static bool is_held(const struct wr_draft_rule *rule)
{
    return is_pattern(rule) || rule->value.len == 0;
}

bool wr_reach_check(const struct wr_doubt_pass *pass, const struct wr_doubt_rule *rules, size_t n,
                    const struct wr_rule_path *parent)
{
    struct level level = {0};
    struct held all = {0}, before = {0};

    for (size_t i = 0; i < n; i++) {
        if (is_pattern(rules[i].rule)) {
            hold(&all, rules[i].rule);
        }
    }
    if (all.n == 0) {
        return true;
    }
    level.n = all.n;
    if (!gather(pass, rules, n, &level)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        const struct wr_draft_rule *const rule = rules[i].rule;
        /* A pattern is held against those before it at most, and found by itself then. */
        const size_t work = work_of(is_pattern(rule) ? &before : &all, rule);

        if (is_held(rule) && work <= WR_DOUBTS_MAX_WORK - *pass->work) {
            const struct wr_doubt_rule *const found = find(pass, &level, rule);

            *pass->work += work;
            if (found != NULL && found != &rules[i] &&
                (found->draft != rules[i].draft) == pass->check->is_between) {
                warn(pass, &rules[i], found, parent);
            }
        }
        if (is_pattern(rule)) {
            hold(&before, rule);
        }
    }
    return true;
}
