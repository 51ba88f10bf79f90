/* SPDX-License-Identifier: Apache-2.0 */
#include "service/replaces.h"

#include "base/str_set.h"
#include "service/distinct_rules.h"

static bool has_replaces(const struct wr_decision *decision)
{
    for (size_t i = 0; i < decision->n_layers; i++) {
        const struct wr_rule *const rule = decision->layers[i].rule;

        if (rule != NULL && rule->n_replaces > 0) {
            return true;
        }
    }
    return false;
}

/* Every name that a matched rule replaces, in the decision's arena. False when memory is out. */
static bool collect_replaced(struct wr_decision *decision, struct wr_str_set *out_names)
{
    struct wr_arena *const arena = decision->frame.arena;
    const size_t n = decision->n_layers;
    const struct wr_rule **const rules = wr_arena_calloc(arena, n, sizeof *rules);
    const struct wr_rule **const distinct = wr_arena_calloc(arena, n, sizeof *distinct);
    size_t n_distinct = 0, n_names = 0;

    if (rules == NULL || distinct == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        rules[i] = decision->layers[i].rule;
    }
    if (!wr_distinct_rules(arena, rules, n, distinct, &n_distinct)) {
        return false;
    }
    for (size_t i = 0; i < n_distinct; i++) {
        n_names += distinct[i]->n_replaces;
    }
    if (!wr_str_set_init(out_names, arena, n_names)) {
        return false;
    }
    for (size_t i = 0; i < n_distinct; i++) {
        for (size_t k = 0; k < distinct[i]->n_replaces; k++) {
            (void) wr_str_set_add(out_names, &distinct[i]->replaces[k]);
        }
    }
    return true;
}

/* A descriptor of which every limit is replaced has none. */
static void replace_layers(struct wr_subject *subject, const struct wr_str_set *names)
{
    size_t n_replaced = 0;

    for (size_t i = 0; i < subject->n_layers; i++) {
        struct wr_layer *const layer = &subject->layers[i];

        layer->is_replaced = layer->rule != NULL && layer->rule->name.len > 0 &&
                             wr_str_set_has(names, layer->rule->name);
        n_replaced += layer->is_replaced;
    }
    if (n_replaced == subject->n_layers) {
        subject->kind = WR_SUBJECT_BARE;
    }
}

bool wr_replaces_apply(struct wr_decision *decision)
{
    struct wr_str_set names;

    if (!has_replaces(decision)) {
        return true;
    }
    if (!collect_replaced(decision, &names)) {
        return false;
    }
    for (size_t i = 0; i < decision->request->n_descriptors; i++) {
        if (decision->subjects[i].kind == WR_SUBJECT_LIMITED) {
            replace_layers(&decision->subjects[i], &names);
        }
    }
    return true;
}
