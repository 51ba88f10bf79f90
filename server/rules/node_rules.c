/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/node_rules.h"

#include "limit/calendar.h"
#include "rules/duration.h"
#include "rules/terms.h"

#define PLACE_SIZE 512

static bool copy_replaces(struct wr_arena *arena, const struct wr_draft_limit *limit,
                          struct wr_rule *rule)
{
    struct wr_str *const names = wr_arena_calloc(arena, limit->n_replaces, sizeof *names);

    if (names == NULL) {
        return false;
    }
    for (size_t i = 0; i < limit->n_replaces; i++) {
        if (!wr_arena_copy(arena, limit->replaces[i].name, &names[i])) {
            return false;
        }
    }
    rule->replaces = names;
    rule->n_replaces = limit->n_replaces;
    return true;
}

static bool copy_metadata(struct wr_arena *arena, const struct wr_draft_rule *draft,
                          struct wr_rule *rule)
{
    if (!draft->has_metadata) {
        return true;
    }

    struct wr_value *const metadata = wr_arena_alloc(arena, sizeof *metadata);

    rule->metadata = metadata;
    return metadata != NULL && wr_value_copy(arena, &draft->metadata, metadata);
}

/* How many of `n` rules count as `limit` does. */
static uint32_t count_alike(const struct wr_rule *rules, size_t n, const struct wr_limit *limit)
{
    uint32_t n_alike = 0;

    for (size_t i = 0; i < n; i++) {
        n_alike += wr_limit_is_alike(&rules[i].limit, limit);
    }
    return n_alike;
}

/* A hit that does not fit is counted on a plain window, as in the incumbent; layers stand or fall
 * together, whatever the domain says. */
static enum wr_count count_of(const struct wr_tree_builder *builder,
                              const struct wr_draft_limit *draft, size_t n_layers,
                              enum wr_algorithm algorithm)
{
    if (draft->policy.has_count) {
        return draft->policy.count;
    }
    if (n_layers > 1) {
        return WR_COUNT_ALL_OR_NOTHING;
    }
    if (builder->has_count) {
        return builder->count;
    }
    return algorithm == WR_ALGORITHM_FIXED_WINDOW ? WR_COUNT_ALL : WR_COUNT_ADMITTED;
}

/* What a unit alone does not say. */
static bool write_window(struct wr_arena *arena, struct wr_rule *rule)
{
    char text[WR_DURATION_TEXT_SIZE];

    if (rule->is_unlimited || rule->limit.length_us == wr_unit_length_us(rule->unit)) {
        return true;
    }
    wr_duration_write(rule->limit.length_us, text);
    return wr_arena_copy(arena, wr_str_of(text), &rule->window);
}

/* A calendar for each unit, so that a request can bring another one along. */
static bool add_calendars(struct wr_tree_builder *builder, const struct wr_draft_limit *draft,
                          struct wr_rule *rule)
{
    const struct wr_str said = wr_terms_zone(draft);
    const struct wr_zone *zone = NULL;
    struct wr_str name = {0};

    if (rule->limit.alignment != WR_ALIGN_CALENDAR) {
        return true;
    }
    if (said.len > 0) {
        zone = wr_zone_set_get(builder->zones, said);
        if (zone == NULL || !wr_arena_copy(builder->arena, said, &name)) {
            return false;
        }
    }

    struct wr_calendar *const calendars =
        wr_arena_calloc(builder->arena, WR_CALENDAR_UNITS, sizeof *calendars);

    if (calendars == NULL) {
        return false;
    }
    for (size_t i = 0; i < WR_CALENDAR_UNITS; i++) {
        calendars[i] = (struct wr_calendar){
            .unit = wr_terms_calendar_unit(i), .zone = zone, .zone_name = name};
    }
    rule->calendars = calendars;
    rule->limit.calendar = wr_terms_calendar(calendars, rule->unit);
    return true;
}

/* What a rule says of itself; what it shares with the other layers of its node comes on top. */
static bool build_rule(struct wr_tree_builder *builder, const struct wr_draft_rule *draft,
                       const struct wr_draft_limit *limit, struct wr_rule *rule)
{
    struct wr_arena *const arena = builder->arena;
    const size_t n_layers = wr_draft_limits_of(draft).n;

    *rule = (struct wr_rule){
        .limit = limit->is_unlimited ? (struct wr_limit){0} : wr_terms_limit(limit),
        .has_burst = limit->burst.is_set,
        .policy = limit->policy,
        .is_unlimited = limit->is_unlimited,
        .is_shadow = draft->is_shadow,
        .is_quota = draft->is_quota,
        .has_detailed_metric = draft->has_detailed_metric,
    };
    rule->limit.count = count_of(builder, limit, n_layers, rule->limit.algorithm);
    if (!rule->is_unlimited) {
        rule->unit = wr_terms_unit(rule->limit.length_us);
    }
    builder->n_limits++;
    builder->has_group |= limit->policy.has_count && limit->policy.count == WR_COUNT_ALL_OR_NOTHING;
    builder->has_bookings |= wr_policy_must_book(&rule->policy);
    return wr_arena_copy(arena, limit->name, &rule->name) && write_window(arena, rule) &&
           add_calendars(builder, limit, rule) && copy_replaces(arena, limit, rule);
}

static bool write_place(struct wr_tree_builder *builder, const struct wr_draft_rule *draft,
                        struct wr_str *out_where)
{
    char where[PLACE_SIZE];

    wr_place_format(&draft->place, where, sizeof where);
    return wr_arena_copy(builder->arena, wr_str_of(where), out_where);
}

static bool keep_trial(struct wr_tree_builder *builder, const struct wr_draft_rule *draft,
                       const struct wr_rule *rule, struct wr_trial *out_trial)
{
    *out_trial = (struct wr_trial){.path = rule->path, .is_shadow = rule->is_shadow};
    return write_place(builder, draft, &out_trial->where);
}

/* Keeps the first limit that is charged with others or not at all. */
static bool note_bound(struct wr_tree_builder *builder, const struct wr_draft_rule *draft,
                       const struct wr_rule *rule)
{
    if (builder->bound.where.len > 0 || rule->is_unlimited ||
        rule->limit.count != WR_COUNT_ALL_OR_NOTHING) {
        return true;
    }
    builder->bound.path = rule->path;
    return write_place(builder, draft, &builder->bound.where);
}

/* Keeps the first limit that may be over without refusing its request, and the first that needs no
 * quota beside it for that. */
static bool note_trial(struct wr_tree_builder *builder, const struct wr_draft_rule *draft,
                       const struct wr_rule *rule)
{
    builder->n_quotas += rule->is_quota;
    if (rule->is_unlimited || (!rule->is_shadow && !rule->is_quota)) {
        return true;
    }
    if (builder->trial.where.len == 0 && !keep_trial(builder, draft, rule, &builder->trial)) {
        return false;
    }
    return builder->shadow.where.len > 0 || !rule->is_shadow ||
           keep_trial(builder, draft, rule, &builder->shadow);
}

bool wr_node_rules_build(struct wr_tree_builder *builder, const struct wr_rule_path *path,
                         const struct wr_draft_rule *draft, struct wr_node *node)
{
    const struct wr_draft_limits limits = wr_draft_limits_of(draft);

    if (limits.n == 0) {
        return true;
    }

    struct wr_rule *const rules = wr_arena_calloc(builder->arena, limits.n, sizeof *rules);
    struct wr_rule shared = {0};

    if (rules == NULL || !wr_rule_path_write(path, builder->arena, &shared.path) ||
        !copy_metadata(builder->arena, draft, &shared)) {
        return false;
    }
    for (size_t i = 0; i < limits.n; i++) {
        if (!build_rule(builder, draft, &limits.all[i], &rules[i])) {
            return false;
        }
        rules[i].layer = count_alike(rules, i, &rules[i].limit);
        rules[i].path = shared.path;
        rules[i].metadata = shared.metadata;
        if (!note_trial(builder, draft, &rules[i]) || !note_bound(builder, draft, &rules[i])) {
            return false;
        }
    }
    node->rules = rules;
    node->n_rules = limits.n;
    return true;
}
