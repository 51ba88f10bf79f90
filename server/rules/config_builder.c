/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_builder.h"

/* What nests besides descriptors and metadata (each level of descriptors is a list and a map): the
 * top, rate_limit, replaces and its entries. */
#define MORE_LEVELS 8

/* A list or map that is not closed yet. */
struct wr_config_open {
    struct wr_config_node *node;
    const struct wr_config_node *name; /* the key that it stands under; NULL: none */
    const struct wr_config_node *key;  /* of a map, waiting for its value */
    struct wr_config_open *parent;
    size_t depth; /* 1: the top */
};

void wr_config_builder_init(struct wr_config_builder *builder, struct wr_config_reader *reader)
{
    *builder = (struct wr_config_builder){
        .reader = reader,
        .max_height = 3 * reader->bounds->max_depth + MORE_LEVELS,
    };
}

void wr_config_builder_no_memory(struct wr_config_builder *builder)
{
    wr_config_no_memory(builder->reader);
    builder->has_failed = true;
}

/* What it is that nests: the innermost that may. NULL: neither of them. */
static const char *nested_name(const struct wr_config_open *open)
{
    static const struct wr_str descriptors = WR_STR("descriptors"), metadata = WR_STR("metadata");

    for (; open != NULL; open = open->parent) {
        if (open->name != NULL && wr_str_equal(open->name->text, descriptors)) {
            return "`descriptors` are";
        }
        if (open->name != NULL && wr_str_equal(open->name->text, metadata)) {
            return "`metadata` is";
        }
    }
    return NULL;
}

/* As whoever reads the tree says it: levels are those of rules, not of YAML. */
static void refuse_depth(struct wr_config_builder *builder, const struct wr_config_node *place)
{
    const char *const what = nested_name(builder->open);

    wr_config_error(builder->reader, place, NULL, "raise --max-rules-depth",
                    "%s nested deeper than %s%zu levels%s",
                    what == NULL ? "lists and maps are" : what, what == NULL ? "rules of " : "",
                    builder->reader->bounds->max_depth, what == NULL ? " can be" : "");
    builder->has_failed = true;
}

/* Counts a branch that is about to be added; false, with a note, when a bound is passed. */
static bool count(struct wr_config_builder *builder, const struct wr_config_node *node,
                  const struct wr_config_node *place)
{
    const struct wr_config_bounds *const bounds = builder->reader->bounds;
    const size_t depth = builder->open == NULL ? 0 : builder->open->depth;

    if (node->n_nodes > bounds->max_nodes - builder->n_nodes) {
        wr_config_error(builder->reader, place, NULL, "raise --max-rules-nodes, or split the file",
                        "more than %zu YAML nodes, aliases expanded", bounds->max_nodes);
        builder->has_failed = true;
    } else if (node->n_bytes > bounds->max_file_bytes - builder->n_bytes) {
        wr_config_error(builder->reader, place, NULL,
                        "raise --max-rules-file-bytes, or split the file",
                        "more than %zu bytes of text, aliases expanded", bounds->max_file_bytes);
        builder->has_failed = true;
    } else if (depth + node->height > builder->max_height) {
        refuse_depth(builder, place);
    } else {
        builder->n_nodes += node->n_nodes;
        builder->n_bytes += node->n_bytes;
    }
    return !builder->has_failed;
}

/* Puts a counted node where it belongs: into the innermost open list or map, or at the top. */
static void attach(struct wr_config_builder *builder, const struct wr_config_node *node)
{
    struct wr_config_open *const open = builder->open;

    if (open == NULL) {
        return;
    }
    if (open->node->kind == WR_CONFIG_MAP && open->key == NULL) {
        open->key = node;
        return;
    }

    struct wr_config_item *const item = wr_arena_alloc(builder->reader->arena, sizeof *item);

    if (item == NULL) {
        wr_config_builder_no_memory(builder);
        return;
    }
    *item = (struct wr_config_item){.key = open->key, .value = node};
    if (open->node->last == NULL) {
        open->node->first = item;
    } else {
        open->node->last->next = item;
    }
    open->node->last = item;
    open->node->n_items++;
    open->key = NULL;
}

static struct wr_config_node *new_node(struct wr_arena *arena, const struct wr_config_node *model)
{
    struct wr_config_node *const node = wr_arena_calloc(arena, 1, sizeof *node);

    if (node == NULL || !wr_arena_copy(arena, model->text, &node->text) ||
        !wr_arena_copy(arena, model->tag, &node->tag)) {
        return NULL;
    }
    node->kind = model->kind;
    node->line = model->line;
    node->column = model->column;
    node->is_plain = model->is_plain;
    node->n_nodes = 1;
    node->n_bytes = model->text.len;
    node->height = 1;
    return node;
}

/* Makes `node`, which is in place already, the innermost open one. */
static void open_node(struct wr_config_builder *builder, struct wr_config_node *node,
                      const struct wr_config_node *name)
{
    struct wr_config_open *const open = wr_arena_alloc(builder->reader->arena, sizeof *open);

    if (open == NULL) {
        wr_config_builder_no_memory(builder);
        return;
    }
    *open = (struct wr_config_open){
        .node = node,
        .name = name,
        .parent = builder->open,
        .depth = builder->open == NULL ? 1 : builder->open->depth + 1,
    };
    builder->open = open;
}

void wr_config_builder_add(struct wr_config_builder *builder, const struct wr_config_node *node,
                           struct wr_str anchor)
{
    struct wr_arena *const arena = builder->reader->arena;
    const struct wr_config_node *const name = builder->open == NULL ? NULL : builder->open->key;
    struct wr_config_node *const added = new_node(arena, node);

    if (added == NULL) {
        wr_config_builder_no_memory(builder);
        return;
    }
    if (!count(builder, added, added)) {
        return;
    }
    if (builder->root == NULL) {
        builder->root = added;
    }
    if (anchor.len > 0 && !wr_config_anchors_add(&builder->anchors, arena, anchor, added)) {
        wr_config_builder_no_memory(builder);
        return;
    }
    attach(builder, added);
    if (added->kind != WR_CONFIG_SCALAR && !builder->has_failed) {
        open_node(builder, added, name);
    }
}

static void add_branch(struct wr_config_node *node, const struct wr_config_node *child)
{
    if (child == NULL) {
        return;
    }
    node->n_nodes += child->n_nodes;
    node->n_bytes += child->n_bytes;
    if (child->height + 1 > node->height) {
        node->height = child->height + 1;
    }
}

void wr_config_builder_close(struct wr_config_builder *builder)
{
    struct wr_config_node *const node = builder->open->node;

    for (const struct wr_config_item *item = node->first; item != NULL; item = item->next) {
        add_branch(node, item->key);
        add_branch(node, item->value);
    }
    builder->open = builder->open->parent;
}

static bool is_open(const struct wr_config_builder *builder, const struct wr_config_node *node)
{
    for (const struct wr_config_open *open = builder->open; open != NULL; open = open->parent) {
        if (open->node == node) {
            return true;
        }
    }
    return false;
}

void wr_config_builder_add_alias(struct wr_config_builder *builder,
                                 const struct wr_config_node *place, struct wr_str name)
{
    const struct wr_config_node *const named = wr_config_anchors_find(&builder->anchors, name);

    if (named == NULL) {
        wr_config_error(
            builder->reader, place, NULL,
            "quote a text that begins with `*`; an anchor must stand before its aliases",
            "alias *%.*s refers to an unknown anchor", wr_config_shown(name), name.ptr);
        builder->has_failed = true;
    } else if (is_open(builder, named)) {
        wr_config_error(builder->reader, place, NULL, NULL,
                        "alias *%.*s stands within its own anchor", wr_config_shown(name),
                        name.ptr);
        builder->has_failed = true;
    } else if (count(builder, named, place)) {
        attach(builder, named);
    }
}
