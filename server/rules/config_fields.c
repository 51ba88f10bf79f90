/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_fields.h"

#include <stdio.h>

#include "base/number.h"
#include "rules/config_colon.h"
#include "rules/config_pairs.h"
#include "rules/config_scalar.h"
#include "rules/config_text.h"

/* The first place where each key was found, and whether a merge brought it. */
struct seen {
    const struct wr_config_node *key;
    bool is_merged;
};

struct walk {
    struct wr_config_reader *reader;
    enum wr_config_level level;
    const struct wr_rule_path *path;
    struct seen seen[WR_KEY_COUNT];
    struct wr_config_field *fields;
    size_t n;
};

static void check_ignored(struct wr_config_reader *reader, enum wr_config_key key,
                          const struct wr_config_node *value, const struct wr_rule_path *path);

/* What an unknown key may have been meant to be. */
static enum wr_config_key meant(const struct wr_config_node *key,
                                const struct wr_config_node *value)
{
    const enum wr_config_key near = wr_config_key_near(key->text);

    return near == WR_KEY_RATE_LIMIT && value->kind == WR_CONFIG_LIST ? WR_KEY_LIMITS : near;
}

static void check_unknown(const struct walk *walk, const struct wr_config_node *key,
                          const struct wr_config_node *value)
{
    const enum wr_config_key near = meant(key, value);
    char colon[WR_CONFIG_COLON_HINT_SIZE], suggestion[64];
    const char *hint = wr_config_colon_hint(key, wr_config_level_keys(walk->level), colon);

    if (hint != colon && near != WR_KEY_COUNT) {
        (void) snprintf(suggestion, sizeof suggestion, "did you mean `%s`?",
                        wr_config_key_name(near));
        hint = suggestion;
    }
    wr_config_error(walk->reader, key, walk->path, hint, "unknown key `%.*s`",
                    wr_config_shown(key->text), key->text.ptr);
    if (hint != colon && near != WR_KEY_COUNT && near != WR_KEY_METADATA &&
        !wr_config_key_is_own(near)) {
        check_ignored(walk->reader, near, value, walk->path);
    }
}

/* What is left of a number behind a comma: in {a: 1,000} a key 000 without a value. */
static bool is_behind_comma(const struct wr_config_pair *pair)
{
    return pair->key->kind == WR_CONFIG_SCALAR && wr_config_is_null(pair->value) &&
           pair->key->text.len == 3 && wr_number_digits(pair->key->text) == 3;
}

static bool is_text_key(struct walk *walk, const struct wr_config_pair *pair)
{
    const struct wr_config_node *const key = pair->key;

    if (key->kind == WR_CONFIG_SCALAR && wr_scalar_of(key).kind == WR_SCALAR_TEXT) {
        return true;
    }
    wr_config_error(walk->reader, key, walk->path,
                    is_behind_comma(pair) ? "write a number without commas: in braces they part "
                                            "keys"
                                          : wr_config_level_keys(walk->level),
                    "a key must be a word, not %s%.*s",
                    key->kind == WR_CONFIG_SCALAR ? "" : wr_config_kind_name(key->kind),
                    wr_config_shown(key->text), key->text.ptr == NULL ? "" : key->text.ptr);
    return false;
}

/* Defaults that are merged in first and then set anew are no repetition. */
static void note_repeated(struct walk *walk, const struct wr_config_node *node,
                          enum wr_config_key key, bool is_merged)
{
    struct seen *const seen = &walk->seen[key];

    if (seen->key != NULL && !seen->is_merged) {
        wr_config_warn(
            walk->reader, node, walk->path, "remove one of them",
            "`%s` is repeated: first in line %zu, again in line %zu; the last one counts",
            wr_config_key_name(key), seen->key->line, node->line);
    }
    if (seen->key == NULL || !is_merged) {
        *seen = (struct seen){.key = node, .is_merged = is_merged};
    }
}

static void on_pair(struct walk *walk, const struct wr_config_pair *pair)
{
    if (!is_text_key(walk, pair)) {
        return;
    }

    const enum wr_config_key key = wr_config_key_of(pair->key->text);

    if (key == WR_KEY_COUNT) {
        check_unknown(walk, pair->key, pair->value);
        return;
    }
    if (!wr_config_key_belongs(key, walk->level)) {
        if (wr_config_key_is_own(key)) {
            wr_config_error(walk->reader, pair->key, walk->path,
                            wr_config_key_home(key, walk->level), "`%s` does not belong here",
                            wr_config_key_name(key));
            return;
        }
        if (walk->level != WR_LEVEL_IGNORED) {
            wr_config_warn(walk->reader, pair->key, walk->path,
                           wr_config_key_home(key, walk->level), "`%s` has no effect here",
                           wr_config_key_name(key));
        }
        if (key != WR_KEY_METADATA) {
            check_ignored(walk->reader, key, pair->value, walk->path);
        }
        return;
    }
    note_repeated(walk, pair->key, key, pair->is_merged);
    walk->fields[walk->n++] = (struct wr_config_field){.key = key, .value = pair->value};
}

struct wr_config_fields wr_config_fields_of(struct wr_config_reader *reader,
                                            const struct wr_config_node *map,
                                            enum wr_config_level level,
                                            const struct wr_rule_path *path)
{
    struct walk walk = {.reader = reader, .level = level, .path = path};
    const struct wr_config_pairs pairs = wr_config_pairs_of(reader, map, path);

    walk.fields = wr_arena_calloc(reader->arena, pairs.n, sizeof *walk.fields);
    if (walk.fields == NULL) {
        wr_config_no_memory(reader);
        return (struct wr_config_fields){0};
    }
    for (size_t i = 0; i < pairs.n; i++) {
        on_pair(&walk, &pairs.all[i]);
    }
    return (struct wr_config_fields){.all = walk.fields, .n = walk.n};
}

/* What stands under a key without effect must still be made of known keys and texts. */
static void check_ignored(struct wr_config_reader *reader, enum wr_config_key key,
                          const struct wr_config_node *value, const struct wr_rule_path *path)
{
    if (value->kind == WR_CONFIG_MAP) {
        (void) wr_config_fields_of(reader, value, WR_LEVEL_IGNORED, path);
        return;
    }
    if (value->kind == WR_CONFIG_SCALAR) {
        (void) wr_config_is_allowed(reader, value, key, path);
        return;
    }
    for (const struct wr_config_item *item = value->first; item != NULL; item = item->next) {
        if (item->value->kind == WR_CONFIG_MAP) {
            check_ignored(reader, key, item->value, path);
        } else {
            wr_config_error(reader, item->value, path, NULL, "a list must hold maps, not %s",
                            wr_config_kind_name(item->value->kind));
        }
    }
}
