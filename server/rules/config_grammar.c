/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_grammar.h"

#include "rules/config_colon.h"
#include "rules/config_fields.h"
#include "rules/config_limit.h"
#include "rules/config_metadata.h"
#include "rules/config_text.h"

/* The text under `key`, without a note when there is none: for the path in messages. */
static struct wr_str peek_text(const struct wr_config_node *map, struct wr_str key)
{
    struct wr_str text = {0};

    for (const struct wr_config_item *item = map->first; item != NULL; item = item->next) {
        if (item->key->kind == WR_CONFIG_SCALAR && wr_str_equal(item->key->text, key) &&
            item->value->kind == WR_CONFIG_SCALAR && !wr_config_is_null(item->value)) {
            text = item->value->text;
        }
    }
    return text;
}

static void read_metadata(struct wr_config_reader *reader, const struct wr_config_node *map,
                          const struct wr_rule_path *path, struct wr_draft_rule *rule)
{
    if (wr_config_is_null(map)) {
        rule->has_metadata = false;
    } else if (map->kind != WR_CONFIG_MAP) {
        wr_config_error(reader, map, path, NULL, "`metadata` must be a map, not %s",
                        wr_config_kind_name(map->kind));
    } else {
        rule->has_metadata = wr_config_metadata_read(reader, map, path, &rule->metadata);
    }
}

/* A family that is not named counts by whole addresses. */
static void read_group_ip(struct wr_config_reader *reader, const struct wr_config_node *map,
                          const struct wr_rule_path *path, struct wr_draft_rule *rule)
{
    char colon[WR_CONFIG_COLON_HINT_SIZE];

    rule->has_group_ip = !wr_config_is_null(map);
    rule->group_ip_place = wr_config_place(reader, map);
    rule->ipv4_bits = (struct wr_draft_number){.number = 32};
    rule->ipv6_bits = (struct wr_draft_number){.number = 128};
    if (!rule->has_group_ip) {
        return;
    }
    if (map->kind != WR_CONFIG_MAP) {
        wr_config_error(reader, map, path,
                        wr_config_colon_hint(map, "as in `{ipv4: 32, ipv6: 64}`", colon),
                        "`group_ip` must be a map, not %s", wr_config_kind_name(map->kind));
        return;
    }

    const struct wr_config_fields fields =
        wr_config_fields_of(reader, map, WR_LEVEL_GROUP_IP, path);

    for (size_t i = 0; i < fields.n; i++) {
        const struct wr_config_field *const field = &fields.all[i];

        (void) wr_config_placed_number(reader, field->value, field->key, path,
                                       field->key == WR_KEY_IPV4 ? &rule->ipv4_bits
                                                                 : &rule->ipv6_bits);
    }
}

static bool *switch_of(struct wr_draft_rule *rule, enum wr_config_key key)
{
    switch ((int) key) {
    case WR_KEY_SHADOW_MODE:
        return &rule->is_shadow;
    case WR_KEY_QUOTA_MODE:
        return &rule->is_quota;
    case WR_KEY_DETAILED_METRIC:
        return &rule->has_detailed_metric;
    case WR_KEY_VALUE_TO_METRIC:
        return &rule->has_value_to_metric;
    case WR_KEY_SHARE_THRESHOLD:
    default:
        return &rule->has_share_threshold;
    }
}

static void read_rules(struct wr_config_reader *reader, const struct wr_config_node *list,
                       const struct wr_rule_path *path, size_t depth,
                       struct wr_draft_rule **out_rules, size_t *out_n);

static void read_rule_field(struct wr_config_reader *reader, const struct wr_config_field *field,
                            const struct wr_rule_path *path, struct wr_draft_rule *rule)
{
    switch ((int) field->key) {
    case WR_KEY_KEY:
        (void) wr_config_text(reader, field->value, field->key, path, &rule->key);
        break;
    case WR_KEY_VALUE:
        (void) wr_config_text(reader, field->value, field->key, path, &rule->value);
        break;
    case WR_KEY_RATE_LIMIT:
        wr_config_limit_read(reader, field->value, path, rule);
        break;
    case WR_KEY_LIMITS:
        wr_config_limits_read(reader, field->value, path, rule);
        break;
    case WR_KEY_GROUP_IP:
        read_group_ip(reader, field->value, path, rule);
        break;
    case WR_KEY_METADATA:
        read_metadata(reader, field->value, path, rule);
        break;
    default:
        (void) wr_config_switch(reader, field->value, field->key, path,
                                switch_of(rule, field->key));
        break;
    }
}

/* Nothing at all, where `~` would say that nothing is meant. */
static bool is_left_empty(const struct wr_config_node *node)
{
    return node->kind == WR_CONFIG_SCALAR && node->is_plain && node->text.len == 0;
}

/* Whether `map`, a rule, has what belongs into a limit beside one. */
static bool has_keys_of_limit(const struct wr_config_node *map)
{
    for (const struct wr_config_item *item = map->first; item != NULL; item = item->next) {
        const enum wr_config_key key =
            item->key->kind == WR_CONFIG_SCALAR ? wr_config_key_of(item->key->text) : WR_KEY_COUNT;

        if (key != WR_KEY_COUNT && wr_config_key_belongs(key, WR_LEVEL_LIMIT) &&
            !wr_config_key_belongs(key, WR_LEVEL_RULE)) {
            return true;
        }
    }
    return false;
}

static void check_empty_limit(struct wr_config_reader *reader, const struct wr_config_node *map,
                              const struct wr_config_fields *fields,
                              const struct wr_rule_path *path, const struct wr_draft_rule *rule)
{
    for (size_t i = 0; i < fields->n && wr_draft_limits_of(rule).n == 0; i++) {
        const struct wr_config_field *const field = &fields->all[i];

        if ((field->key == WR_KEY_RATE_LIMIT || field->key == WR_KEY_LIMITS) &&
            is_left_empty(field->value)) {
            wr_config_warn(reader, field->value, path,
                           has_keys_of_limit(map)
                               ? "indent what belongs to it further than `rate_limit` itself"
                               : "write a limit there, or remove it",
                           "`%s` is empty: this descriptor has no limit",
                           wr_config_key_name(field->key));
        }
    }
}

static void read_rule(struct wr_config_reader *reader, const struct wr_config_item *item,
                      const struct wr_rule_path *parent, size_t depth, size_t number,
                      struct wr_draft_rule *rule)
{
    static const struct wr_str key_name = WR_STR("key"), value_name = WR_STR("value");
    const struct wr_config_node *const map = item->value;
    const struct wr_rule_path path = {.parent = parent,
                                      .number = number,
                                      .key = peek_text(map, key_name),
                                      .value = peek_text(map, value_name)};
    const size_t n_errors = reader->n_errors;
    const struct wr_config_fields fields = wr_config_fields_of(reader, map, WR_LEVEL_RULE, &path);
    const struct wr_config_node *children = NULL;

    rule->place = wr_config_place(reader, map->first == NULL ? map : map->first->key);
    for (size_t i = 0; i < fields.n; i++) {
        if (fields.all[i].key == WR_KEY_DESCRIPTORS) {
            children = fields.all[i].value;
        } else {
            read_rule_field(reader, &fields.all[i], &path, rule);
        }
    }
    check_empty_limit(reader, map, &fields, &path, rule);
    rule->is_broken = reader->n_errors > n_errors;
    if (children != NULL) {
        read_rules(reader, children, &path, depth + 1, &rule->children, &rule->n_children);
    }
}

/* Recursion is bounded by max_depth. */
static void read_rules(struct wr_config_reader *reader, const struct wr_config_node *list,
                       const struct wr_rule_path *path, size_t depth,
                       struct wr_draft_rule **out_rules, size_t *out_n)
{
    (void) wr_config_is_list_of_maps(reader, list, WR_KEY_DESCRIPTORS, path);
    if (list->kind != WR_CONFIG_LIST) {
        return;
    }
    if (depth > reader->bounds->max_depth) {
        wr_config_error(reader, list, path, "raise --max-rules-depth",
                        "`descriptors` are nested deeper than %zu levels",
                        reader->bounds->max_depth);
        return;
    }

    struct wr_draft_rule *const rules =
        wr_arena_calloc(reader->arena, list->n_items, sizeof *rules);
    size_t n = 0;

    if (rules == NULL) {
        wr_config_no_memory(reader);
        return;
    }
    for (const struct wr_config_item *item = list->first; item != NULL; item = item->next) {
        if (item->value->kind == WR_CONFIG_MAP) {
            read_rule(reader, item, path, depth, n + 1, &rules[n]);
            n++;
        }
    }
    *out_rules = rules;
    *out_n = n;
}

static void read_domain(struct wr_config_reader *reader, const struct wr_config_node *node,
                        struct wr_draft *draft)
{
    if (wr_config_text(reader, node, WR_KEY_DOMAIN, NULL, &draft->domain)) {
        draft->place = wr_config_place(reader, node);
    } else {
        draft->is_broken = true;
    }
}

static void read_top(struct wr_config_reader *reader, const struct wr_config_node *root,
                     const struct wr_rule_path *path, struct wr_draft *draft)
{
    const struct wr_config_fields fields = wr_config_fields_of(reader, root, WR_LEVEL_TOP, NULL);
    const struct wr_config_node *rules = NULL;

    for (size_t i = 0; i < fields.n; i++) {
        const struct wr_config_field *const field = &fields.all[i];

        if (field->key == WR_KEY_DESCRIPTORS) {
            rules = field->value;
        } else if (field->key == WR_KEY_COUNTS) {
            (void) wr_config_count(reader, field->value, path, &draft->policy);
            draft->count_place = wr_config_place(reader, field->value);
        } else {
            read_domain(reader, field->value, draft);
        }
    }
    if (rules != NULL) {
        read_rules(reader, rules, path, 1, &draft->rules, &draft->n_rules);
    }
}

void wr_config_grammar_read(struct wr_config_reader *reader, const struct wr_config_node *root,
                            bool is_cut, struct wr_draft *out_draft)
{
    static const struct wr_str domain_name = WR_STR("domain");
    static const struct wr_config_node top = {.line = 1, .column = 1};
    struct wr_draft draft = {.source = reader->source, .place = wr_config_place(reader, &top)};
    struct wr_rule_path path = {0};
    char colon[WR_CONFIG_COLON_HINT_SIZE];

    if (root != NULL && root->kind == WR_CONFIG_MAP) {
        path.key = peek_text(root, domain_name);
    }
    if (is_cut) {
        draft.domain = path.key;
        draft.is_broken = true;
    } else if (root == NULL || wr_config_is_null(root)) {
        wr_config_error(reader, root == NULL ? &top : root, NULL, "begin with `domain: NAME`",
                        "the file is empty, it has no `domain`");
        draft.is_broken = true;
    } else if (root->kind != WR_CONFIG_MAP) {
        wr_config_error(
            reader, root, NULL, wr_config_colon_hint(root, "begin with `domain: NAME`", colon),
            "the top of the file must be a map, not %s", wr_config_kind_name(root->kind));
        draft.is_broken = true;
    } else {
        read_top(reader, root, &path, &draft);
    }
    draft.is_refused = reader->n_errors > 0;
    draft.has_warning = reader->n_warnings > 0;
    draft.lacks_memory = reader->lacks_memory;
    *out_draft = draft;
}
