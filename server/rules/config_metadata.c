/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_metadata.h"

#include <math.h>
#include <stdlib.h>

#include "rules/config_pairs.h"
#include "rules/config_scalar.h"

struct walk {
    struct wr_config_reader *reader;
    const struct wr_rule_path *path;
};

static bool read_value(const struct walk *walk, const struct wr_config_node *node, size_t depth,
                       struct wr_value *out);

/* A fraction, or a whole number beyond 64 bits. Where '_' parts the digits it is left out. */
static bool read_float(const struct walk *walk, const struct wr_config_node *node, double *out)
{
    char *const digits = wr_arena_alloc(walk->reader->arena, node->text.len + 1);
    size_t n = 0;

    if (digits == NULL) {
        wr_config_no_memory(walk->reader);
        return false;
    }
    for (size_t i = 0; i < node->text.len; i++) {
        /* The one spelling that strtod does not know: .inf and .nan begin with a point. */
        const bool is_word_point = node->text.ptr[i] == '.' && i + 1 < node->text.len &&
                                   (node->text.ptr[i + 1] | 0x20) >= 'a';

        if (node->text.ptr[i] != '_' && !is_word_point) {
            digits[n++] = node->text.ptr[i];
        }
    }
    digits[n] = '\0';
    *out = strtod(digits, NULL);
    if (!isfinite(*out)) {
        wr_config_warn(walk->reader, node, walk->path, "JSON has no such number",
                       "%.*s in `metadata`", wr_config_shown(node->text), node->text.ptr);
    }
    return true;
}

static bool read_scalar(const struct walk *walk, const struct wr_config_node *node,
                        struct wr_value *out)
{
    const struct wr_scalar scalar = wr_scalar_of(node);

    switch (scalar.kind) {
    case WR_SCALAR_NULL:
        *out = (struct wr_value){.kind = WR_VALUE_NULL};
        return true;
    case WR_SCALAR_BOOL:
        *out = (struct wr_value){.kind = WR_VALUE_BOOL, .as.boolean = scalar.boolean};
        return true;
    case WR_SCALAR_INT:
    case WR_SCALAR_BIG:
        *out = (struct wr_value){.kind = WR_VALUE_NUMBER,
                                 .as.number = scalar.is_negative ? -(double) scalar.magnitude
                                                                 : (double) scalar.magnitude};
        return true;
    case WR_SCALAR_FLOAT:
        out->kind = WR_VALUE_NUMBER;
        return read_float(walk, node, &out->as.number);
    case WR_SCALAR_BAD:
        wr_config_error(walk->reader, node, walk->path, "leave the tag out",
                        "%.*s is not what its tag `%.*s` says", wr_config_shown(node->text),
                        node->text.ptr, wr_config_shown(node->tag), node->tag.ptr);
        return false;
    case WR_SCALAR_TEXT:
    default:
        *out = (struct wr_value){.kind = WR_VALUE_STRING, .as.string = node->text};
        return true;
    }
}

static bool read_list(const struct walk *walk, const struct wr_config_node *list, size_t depth,
                      struct wr_value *out)
{
    struct wr_value *const items =
        wr_arena_calloc(walk->reader->arena, list->n_items, sizeof *items);
    size_t n = 0;
    bool is_good = true;

    if (items == NULL) {
        wr_config_no_memory(walk->reader);
        return false;
    }
    for (const struct wr_config_item *item = list->first; item != NULL; item = item->next) {
        is_good = read_value(walk, item->value, depth + 1, &items[n++]) && is_good;
    }
    *out = (struct wr_value){.kind = WR_VALUE_LIST, .as.list = {items, n}};
    return is_good;
}

static void drop_bad_keys(const struct walk *walk, struct wr_config_pairs *pairs)
{
    size_t n = 0;

    for (size_t i = 0; i < pairs->n; i++) {
        const struct wr_config_node *const key = pairs->all[i].key;

        if (key->kind == WR_CONFIG_SCALAR) {
            pairs->all[n++] = pairs->all[i];
        } else {
            wr_config_error(walk->reader, key, walk->path, NULL,
                            "a key in `metadata` must be a text, not %s",
                            wr_config_kind_name(key->kind));
        }
    }
    pairs->n = n;
}

static int compare_keys(const void *a, const void *b)
{
    const struct wr_config_pair *const x = a, *const y = b;
    const int keys = wr_str_compare(x->key->text, y->key->text);

    return keys != 0 ? keys : (x->index > y->index) - (x->index < y->index);
}

static int compare_indexes(const void *a, const void *b)
{
    const struct wr_config_pair *const x = a, *const y = b;

    return (x->index > y->index) - (x->index < y->index);
}

/* Leaves the last of each key, in order. */
static void drop_repeated(const struct walk *walk, struct wr_config_pairs *pairs)
{
    size_t n = 0;

    qsort(pairs->all, pairs->n, sizeof *pairs->all, compare_keys);
    for (size_t i = 0; i < pairs->n; i++) {
        const struct wr_config_pair *const pair = &pairs->all[i];

        if (i + 1 == pairs->n || !wr_str_equal(pair->key->text, pair[1].key->text)) {
            pairs->all[n++] = *pair;
        } else if (!pair->is_merged) {
            wr_config_warn(walk->reader, pair[1].key, walk->path, "remove one of them",
                           "`%.*s` is repeated: first in line %zu, again in line %zu; the last one "
                           "counts",
                           wr_config_shown(pair->key->text), pair->key->text.ptr, pair->key->line,
                           pair[1].key->line);
        }
    }
    pairs->n = n;
    qsort(pairs->all, pairs->n, sizeof *pairs->all, compare_indexes);
}

static bool read_map(const struct walk *walk, const struct wr_config_node *map, size_t depth,
                     struct wr_value *out)
{
    const size_t n_errors = walk->reader->n_errors;
    struct wr_config_pairs pairs = wr_config_pairs_of(walk->reader, map, walk->path);

    drop_bad_keys(walk, &pairs);
    drop_repeated(walk, &pairs);

    struct wr_value_member *const members =
        wr_arena_calloc(walk->reader->arena, pairs.n, sizeof *members);

    if (members == NULL) {
        wr_config_no_memory(walk->reader);
        return false;
    }
    for (size_t i = 0; i < pairs.n; i++) {
        members[i].key = pairs.all[i].key->text;
        (void) read_value(walk, pairs.all[i].value, depth + 1, &members[i].value);
    }
    *out = (struct wr_value){.kind = WR_VALUE_MAP, .as.map = {members, pairs.n}};
    return walk->reader->n_errors == n_errors;
}

static bool read_value(const struct walk *walk, const struct wr_config_node *node, size_t depth,
                       struct wr_value *out)
{
    if (depth > walk->reader->bounds->max_depth) {
        wr_config_error(walk->reader, node, walk->path, "raise --max-rules-depth",
                        "`metadata` is nested deeper than %zu levels",
                        walk->reader->bounds->max_depth);
        return false;
    }
    switch (node->kind) {
    case WR_CONFIG_LIST:
        return read_list(walk, node, depth, out);
    case WR_CONFIG_MAP:
        return read_map(walk, node, depth, out);
    case WR_CONFIG_SCALAR:
    default:
        return read_scalar(walk, node, out);
    }
}

bool wr_config_metadata_read(struct wr_config_reader *reader, const struct wr_config_node *map,
                             const struct wr_rule_path *path, struct wr_value *out_map)
{
    const struct walk walk = {.reader = reader, .path = path};

    return read_value(&walk, map, 1, out_map);
}
