/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/draft_copy.h"

/* The copy being made. */
struct copy {
    struct wr_arena *arena;
    struct wr_str source; /* of all places */
};

/* In place: `text` borrows from the original before, and from the arena after. */
static bool own(const struct copy *copy, struct wr_str *text)
{
    return text->len == 0 || wr_arena_copy(copy->arena, *text, text);
}

/* A spot is left behind, as the header says. */
static void own_place(const struct copy *copy, struct wr_place *place)
{
    place->file = copy->source;
    place->spot = NULL;
}

static bool own_word(const struct copy *copy, struct wr_draft_text *word)
{
    own_place(copy, &word->place);
    return own(copy, &word->text);
}

static bool own_replaces(const struct copy *copy, struct wr_draft_limit *limit)
{
    struct wr_draft_replace *const replaces =
        wr_arena_calloc(copy->arena, limit->n_replaces, sizeof *replaces);

    if (replaces == NULL) {
        return false;
    }
    for (size_t i = 0; i < limit->n_replaces; i++) {
        replaces[i] = limit->replaces[i];
        own_place(copy, &replaces[i].place);
        if (!own(copy, &replaces[i].name)) {
            return false;
        }
    }
    limit->replaces = replaces;
    return true;
}

static bool own_limit(const struct copy *copy, struct wr_draft_limit *limit)
{
    own_place(copy, &limit->place);
    own_place(copy, &limit->unit_place);
    own_place(copy, &limit->name_place);
    own_place(copy, &limit->warm_up_place);
    own_place(copy, &limit->multiplier.place);
    own_place(copy, &limit->burst.place);
    own_place(copy, &limit->buckets.place);
    return own_word(copy, &limit->window) && own_word(copy, &limit->algorithm) &&
           own_word(copy, &limit->align) && own_word(copy, &limit->time_zone) &&
           own_word(copy, &limit->headroom) && own_word(copy, &limit->warm_up_duration) &&
           own_word(copy, &limit->warm_up_start) && own(copy, &limit->unit) &&
           own(copy, &limit->name) && (limit->n_replaces == 0 || own_replaces(copy, limit));
}

static bool own_layers(const struct copy *copy, struct wr_draft_rule *rule)
{
    struct wr_draft_limit *const layers =
        wr_arena_calloc(copy->arena, rule->n_layers, sizeof *layers);

    if (layers == NULL) {
        return false;
    }
    for (size_t i = 0; i < rule->n_layers; i++) {
        layers[i] = rule->layers[i];
        if (!own_limit(copy, &layers[i])) {
            return false;
        }
    }
    rule->layers = layers;
    return true;
}

static bool own_rules(const struct copy *copy, struct wr_draft_rule **rules, size_t n);

/* Recursion is as deep as rules are nested, which whoever makes drafts bounds. */
static bool own_rule(const struct copy *copy, struct wr_draft_rule *rule)
{
    const struct wr_value metadata = rule->metadata;

    own_place(copy, &rule->place);
    own_place(copy, &rule->layers_place);
    own_place(copy, &rule->group_ip_place);
    own_place(copy, &rule->ipv4_bits.place);
    own_place(copy, &rule->ipv6_bits.place);
    return own(copy, &rule->key) && own(copy, &rule->value) &&
           (!rule->has_limit || own_limit(copy, &rule->limit)) &&
           (rule->n_layers == 0 || own_layers(copy, rule)) &&
           (!rule->has_metadata || wr_value_copy(copy->arena, &metadata, &rule->metadata)) &&
           own_rules(copy, &rule->children, rule->n_children);
}

static bool own_rules(const struct copy *copy, struct wr_draft_rule **rules, size_t n)
{
    if (n == 0) {
        return true;
    }

    struct wr_draft_rule *const copies = wr_arena_calloc(copy->arena, n, sizeof *copies);

    if (copies == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        copies[i] = (*rules)[i];
        if (!own_rule(copy, &copies[i])) {
            return false;
        }
    }
    *rules = copies;
    return true;
}

bool wr_draft_copy(struct wr_arena *arena, const struct wr_draft *draft, struct wr_draft *out_copy)
{
    struct copy copy = {.arena = arena};
    struct wr_draft result = *draft;

    if (!wr_arena_copy(arena, draft->source, &copy.source)) {
        return false;
    }
    result.source = copy.source;
    own_place(&copy, &result.place);
    own_place(&copy, &result.count_place);
    if (!own(&copy, &result.domain) || !own_rules(&copy, &result.rules, result.n_rules)) {
        return false;
    }
    *out_copy = result;
    return true;
}
