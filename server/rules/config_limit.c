/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_limit.h"

#include "rules/config_colon.h"
#include "rules/config_fields.h"
#include "rules/config_text.h"

static const char *element_of(enum wr_config_key key)
{
    switch ((int) key) {
    case WR_KEY_LIMITS:
        return "as in `- {unit: minute, requests_per_unit: 10}`";
    case WR_KEY_REPLACES:
        return "as in `- name: other`";
    case WR_KEY_DESCRIPTORS:
    default:
        return "as in `- key: user`";
    }
}

bool wr_config_is_list_of_maps(struct wr_config_reader *reader, const struct wr_config_node *list,
                               enum wr_config_key key, const struct wr_rule_path *path)
{
    bool is_good = true;
    char colon[WR_CONFIG_COLON_HINT_SIZE];

    if (list->kind != WR_CONFIG_LIST) {
        if (wr_config_is_null(list)) {
            return true;
        }
        wr_config_error(reader, list, path, "each element begins with `- `",
                        "`%s` must be a list, not %s", wr_config_key_name(key),
                        wr_config_kind_name(list->kind));
        return false;
    }
    for (const struct wr_config_item *item = list->first; item != NULL; item = item->next) {
        if (item->value->kind != WR_CONFIG_MAP) {
            wr_config_error(reader, item->value, path,
                            wr_config_colon_hint(item->value, element_of(key), colon),
                            "each element of `%s` must be a map, not %s", wr_config_key_name(key),
                            wr_config_is_null(item->value)
                                ? "nothing"
                                : wr_config_kind_name(item->value->kind));
            is_good = false;
        }
    }
    return is_good;
}

static void read_replace(struct wr_config_reader *reader, const struct wr_config_node *map,
                         const struct wr_rule_path *path, struct wr_draft_replace *replace)
{
    const struct wr_config_fields fields = wr_config_fields_of(reader, map, WR_LEVEL_REPLACE, path);

    replace->place = wr_config_place(reader, map);
    for (size_t i = 0; i < fields.n; i++) {
        (void) wr_config_text(reader, fields.all[i].value, WR_KEY_NAME, path, &replace->name);
    }
}

static void read_replaces(struct wr_config_reader *reader, const struct wr_config_node *list,
                          const struct wr_rule_path *path, struct wr_draft_limit *limit)
{
    if (!wr_config_is_list_of_maps(reader, list, WR_KEY_REPLACES, path)) {
        return;
    }

    struct wr_draft_replace *const replaces =
        wr_arena_calloc(reader->arena, list->n_items, sizeof *replaces);
    size_t n = 0;

    if (replaces == NULL) {
        wr_config_no_memory(reader);
        return;
    }
    for (const struct wr_config_item *item = list->first; item != NULL; item = item->next) {
        read_replace(reader, item->value, path, &replaces[n++]);
    }
    limit->replaces = replaces;
    limit->n_replaces = n;
}

static void read_warm_up(struct wr_config_reader *reader, const struct wr_config_node *map,
                         const struct wr_rule_path *path, struct wr_draft_limit *limit)
{
    char colon[WR_CONFIG_COLON_HINT_SIZE];

    limit->has_warm_up = !wr_config_is_null(map);
    limit->warm_up_place = wr_config_place(reader, map);
    limit->warm_up_duration = limit->warm_up_start = (struct wr_draft_text){0};
    if (!limit->has_warm_up) {
        return;
    }
    if (map->kind != WR_CONFIG_MAP) {
        wr_config_error(reader, map, path,
                        wr_config_colon_hint(map, "as in `{duration: 30s, start: 0.3}`", colon),
                        "`warm_up` must be a map, not %s", wr_config_kind_name(map->kind));
        return;
    }

    const struct wr_config_fields fields = wr_config_fields_of(reader, map, WR_LEVEL_WARM_UP, path);

    for (size_t i = 0; i < fields.n; i++) {
        const struct wr_config_field *const field = &fields.all[i];

        (void) wr_config_word(reader, field->value, field->key, path,
                              field->key == WR_KEY_START ? &limit->warm_up_start
                                                         : &limit->warm_up_duration);
    }
}

static struct wr_draft_text *word_of(struct wr_draft_limit *limit, enum wr_config_key key)
{
    switch ((int) key) {
    case WR_KEY_WINDOW:
        return &limit->window;
    case WR_KEY_ALGORITHM:
        return &limit->algorithm;
    case WR_KEY_ALIGN:
        return &limit->align;
    case WR_KEY_TIME_ZONE:
        return &limit->time_zone;
    case WR_KEY_HEADROOM:
    default:
        return &limit->headroom;
    }
}

static void read_limit_field(struct wr_config_reader *reader, const struct wr_config_field *field,
                             const struct wr_rule_path *path, struct wr_draft_limit *limit)
{
    const struct wr_config_node *const value = field->value;

    switch ((int) field->key) {
    case WR_KEY_REQUESTS_PER_UNIT:
        limit->lacks_requests = wr_config_is_null(value);
        (void) wr_config_number(reader, value, field->key, path, &limit->requests_per_unit);
        break;
    case WR_KEY_UNIT:
        limit->unit_place = wr_config_place(reader, value);
        (void) wr_config_text(reader, value, field->key, path, &limit->unit);
        break;
    case WR_KEY_UNLIMITED:
        (void) wr_config_switch(reader, value, field->key, path, &limit->is_unlimited);
        break;
    case WR_KEY_NAME:
        limit->name_place = wr_config_place(reader, value);
        (void) wr_config_text(reader, value, field->key, path, &limit->name);
        break;
    case WR_KEY_REPLACES:
        read_replaces(reader, value, path, limit);
        break;
    case WR_KEY_UNIT_MULTIPLIER:
        (void) wr_config_placed_number(reader, value, field->key, path, &limit->multiplier);
        break;
    case WR_KEY_BURST:
        (void) wr_config_placed_number(reader, value, field->key, path, &limit->burst);
        break;
    case WR_KEY_BUCKETS:
        (void) wr_config_placed_number(reader, value, field->key, path, &limit->buckets);
        break;
    case WR_KEY_WARM_UP:
        read_warm_up(reader, value, path, limit);
        break;
    case WR_KEY_COUNTS:
        (void) wr_config_count(reader, value, path, &limit->policy);
        break;
    case WR_KEY_FAILURE_MODE:
        (void) wr_config_failure_mode(reader, value, path, &limit->policy);
        break;
    default:
        (void) wr_config_word(reader, value, field->key, path, word_of(limit, field->key));
        break;
    }
}

/* Every field of `map` goes over what `limit` has. */
static void read_limit(struct wr_config_reader *reader, const struct wr_config_node *map,
                       const struct wr_rule_path *path, struct wr_draft_limit *limit)
{
    const struct wr_config_fields fields = wr_config_fields_of(reader, map, WR_LEVEL_LIMIT, path);

    limit->place = wr_config_place(reader, map);
    for (size_t i = 0; i < fields.n; i++) {
        read_limit_field(reader, &fields.all[i], path, limit);
    }
}

void wr_config_limit_read(struct wr_config_reader *reader, const struct wr_config_node *map,
                          const struct wr_rule_path *path, struct wr_draft_rule *rule)
{
    char colon[WR_CONFIG_COLON_HINT_SIZE];

    if (wr_config_is_null(map)) {
        rule->has_limit = false;
        rule->limit = (struct wr_draft_limit){0};
        return;
    }
    if (map->kind != WR_CONFIG_MAP) {
        wr_config_error(
            reader, map, path,
            map->kind == WR_CONFIG_LIST
                ? "`limits` is for several limits"
                : wr_config_colon_hint(map, "as in `{unit: minute, requests_per_unit: 10}`", colon),
            "`rate_limit` must be a map, not %s", wr_config_kind_name(map->kind));
        return;
    }
    rule->limit.lacks_requests = !rule->has_limit || rule->limit.lacks_requests;
    rule->has_limit = true;
    read_limit(reader, map, path, &rule->limit);
}

void wr_config_limits_read(struct wr_config_reader *reader, const struct wr_config_node *list,
                           const struct wr_rule_path *path, struct wr_draft_rule *rule)
{
    struct wr_draft_limit *const layers =
        wr_arena_calloc(reader->arena, list->n_items, sizeof *layers);
    size_t n = 0;

    rule->layers = layers;
    rule->n_layers = 0;
    rule->layers_place = wr_config_place(reader, list);
    if (layers == NULL) {
        wr_config_no_memory(reader);
        return;
    }
    if (!wr_config_is_list_of_maps(reader, list, WR_KEY_LIMITS, path)) {
        return;
    }
    if (list->kind == WR_CONFIG_LIST && list->n_items == 0) {
        wr_config_error(reader, list, path, "a descriptor without it has no limit",
                        "`limits` is empty");
        return;
    }
    for (const struct wr_config_item *item = list->first; item != NULL; item = item->next) {
        layers[n].lacks_requests = true;
        read_limit(reader, item->value, path, &layers[n++]);
    }
    rule->n_layers = n;
}
