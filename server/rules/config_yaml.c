/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_yaml.h"

#include <stdio.h>
#include <string.h>

#include "rules/config_anchors.h"
#include "rules/config_grammar.h"
#include "rules/config_tree.h"

#include <yaml.h>

/* What nests besides descriptors and metadata (each level of descriptors is a list and a map): the
 * top, rate_limit, replaces and its entries. */
#define MORE_LEVELS 8

/* A list or map that is not closed yet. */
struct open_node {
    struct wr_config_node *node;
    const struct wr_config_node *key; /* of a map, waiting for its value */
    struct open_node *parent;
    size_t depth; /* 1: the top */
};

/* From events to one tree. With `has_failed` its error is noted and the tree ends where it was. */
struct builder {
    struct wr_config_reader *reader;
    yaml_parser_t parser;
    struct wr_config_node *root; /* NULL: none yet */
    struct open_node *open;      /* the innermost; NULL: none */
    struct wr_config_anchors anchors;
    size_t n_nodes, n_bytes; /* aliases expanded */
    size_t max_height;
    size_t n_documents;
    bool has_failed, is_done;
};

static void fail_memory(struct builder *builder)
{
    wr_config_no_memory(builder->reader);
    builder->has_failed = true;
}

static const struct wr_config_node *place_of(const yaml_mark_t *mark, struct wr_config_node *node)
{
    *node = (struct wr_config_node){.line = mark->line + 1, .column = mark->column + 1};
    return node;
}

/* Line and column of a byte offset, for what the library finds before it counts lines. */
static yaml_mark_t mark_of_offset(struct wr_str text, size_t offset)
{
    yaml_mark_t mark = {0};

    for (size_t i = 0; i < offset && i < text.len; i++) {
        mark.column++;
        if (text.ptr[i] == '\n') {
            mark.line++;
            mark.column = 0;
        }
    }
    return mark;
}

/* A tab where blanks must be is the commonest slip, and the library's words do not name it. */
static bool is_tab_at(struct wr_str text, const yaml_mark_t *mark)
{
    return mark->index < text.len && text.ptr[mark->index] == '\t';
}

static void fail_syntax(struct builder *builder, struct wr_str text)
{
    const yaml_parser_t *const parser = &builder->parser;
    struct wr_config_node node;
    const bool is_bytes = parser->error == YAML_READER_ERROR;
    const yaml_mark_t mark =
        is_bytes ? mark_of_offset(text, parser->problem_offset) : parser->problem_mark;
    char begun[48] = "";

    if (parser->context != NULL && parser->context_mark.line < mark.line) {
        (void) snprintf(begun, sizeof begun, " that begins in line %zu",
                        parser->context_mark.line + 1);
    }

    if (parser->error == YAML_MEMORY_ERROR) {
        fail_memory(builder);
        return;
    }
    if (is_bytes) {
        wr_config_error(builder->reader, place_of(&mark, &node), NULL,
                        "the file must be text in UTF-8", "not readable as YAML: %s",
                        parser->problem);
    } else {
        wr_config_error(builder->reader, place_of(&mark, &node), NULL,
                        is_tab_at(text, &mark) ? "indent with blanks, not with tabs" : NULL,
                        "not readable as YAML: %s%s%s%s",
                        parser->problem == NULL ? "syntax error" : parser->problem,
                        parser->context == NULL ? "" : " ",
                        parser->context == NULL ? "" : parser->context, begun);
    }
    builder->has_failed = true;
}

/* Counts a branch that stands below `depth` levels; false, with a note, when a bound is passed. */
static bool count(struct builder *builder, const struct wr_config_node *node,
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
        wr_config_error(builder->reader, place, NULL, "raise --max-rules-depth",
                        "nested deeper than %zu levels", builder->max_height);
        builder->has_failed = true;
    } else {
        builder->n_nodes += node->n_nodes;
        builder->n_bytes += node->n_bytes;
    }
    return !builder->has_failed;
}

/* Puts a counted node where it belongs: into the innermost open list or map, or at the top. */
static void attach(struct builder *builder, const struct wr_config_node *node)
{
    struct open_node *const open = builder->open;

    if (open == NULL) {
        return;
    }
    if (open->node->kind == WR_CONFIG_MAP && open->key == NULL) {
        open->key = node;
        return;
    }

    struct wr_config_item *const item = wr_arena_alloc(builder->reader->arena, sizeof *item);

    if (item == NULL) {
        fail_memory(builder);
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

static struct wr_config_node *new_node(struct builder *builder, const yaml_event_t *event,
                                       enum wr_config_kind kind)
{
    struct wr_config_node *const node = wr_arena_calloc(builder->reader->arena, 1, sizeof *node);

    if (node == NULL) {
        fail_memory(builder);
        return NULL;
    }
    node->kind = kind;
    node->line = event->start_mark.line + 1;
    node->column = event->start_mark.column + 1;
    node->n_nodes = 1;
    node->height = 1;
    if (builder->root == NULL) {
        builder->root = node;
    }
    return node;
}

static struct wr_str bytes_of(const yaml_char_t *text, size_t len)
{
    return (struct wr_str){.ptr = (const char *) text, .len = len};
}

static struct wr_str text_of(const yaml_char_t *text)
{
    return text == NULL ? (struct wr_str){0} : wr_str_of((const char *) text);
}

static void define_anchor(struct builder *builder, const yaml_char_t *name,
                          const struct wr_config_node *node)
{
    if (name != NULL &&
        !wr_config_anchors_add(&builder->anchors, builder->reader->arena, text_of(name), node)) {
        fail_memory(builder);
    }
}

static bool copy_terminated(struct wr_arena *arena, struct wr_str text, struct wr_str *out)
{
    char *const copy = wr_arena_alloc(arena, text.len + 1);

    if (copy == NULL) {
        return false;
    }
    if (text.len > 0) {
        memcpy(copy, text.ptr, text.len);
    }
    copy[text.len] = '\0';
    *out = (struct wr_str){.ptr = copy, .len = text.len};
    return true;
}

static void on_scalar(struct builder *builder, const yaml_event_t *event)
{
    struct wr_config_node *const node = new_node(builder, event, WR_CONFIG_SCALAR);

    if (node == NULL) {
        return;
    }
    node->is_plain = event->data.scalar.plain_implicit;
    node->n_bytes = event->data.scalar.length;
    if (!copy_terminated(builder->reader->arena,
                         bytes_of(event->data.scalar.value, event->data.scalar.length),
                         &node->text) ||
        !wr_arena_copy(builder->reader->arena, text_of(event->data.scalar.tag), &node->tag)) {
        fail_memory(builder);
        return;
    }
    if (count(builder, node, node)) {
        define_anchor(builder, event->data.scalar.anchor, node);
        attach(builder, node);
    }
}

static void on_start(struct builder *builder, const yaml_event_t *event, enum wr_config_kind kind,
                     const yaml_char_t *anchor)
{
    struct wr_config_node *const node = new_node(builder, event, kind);

    if (node == NULL || !count(builder, node, node)) {
        return;
    }

    struct open_node *const open = wr_arena_alloc(builder->reader->arena, sizeof *open);

    if (open == NULL) {
        fail_memory(builder);
        return;
    }
    define_anchor(builder, anchor, node);
    attach(builder, node);
    *open = (struct open_node){.node = node,
                               .parent = builder->open,
                               .depth = builder->open == NULL ? 1 : builder->open->depth + 1};
    builder->open = open;
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

static void on_end(struct builder *builder)
{
    struct wr_config_node *const node = builder->open->node;

    for (const struct wr_config_item *item = node->first; item != NULL; item = item->next) {
        add_branch(node, item->key);
        add_branch(node, item->value);
    }
    builder->open = builder->open->parent;
}

static bool is_open(const struct builder *builder, const struct wr_config_node *node)
{
    for (const struct open_node *open = builder->open; open != NULL; open = open->parent) {
        if (open->node == node) {
            return true;
        }
    }
    return false;
}

static void on_alias(struct builder *builder, const yaml_event_t *event)
{
    const struct wr_str name = text_of(event->data.alias.anchor);
    const struct wr_config_node *const named = wr_config_anchors_find(&builder->anchors, name);
    struct wr_config_node node;
    const struct wr_config_node *const place = place_of(&event->start_mark, &node);

    if (named == NULL || is_open(builder, named)) {
        wr_config_error(builder->reader, place, NULL,
                        named == NULL ? "an anchor (&name) must stand before its aliases" : NULL,
                        named == NULL ? "alias *%.*s names no anchor"
                                      : "alias *%.*s stands within its own anchor",
                        wr_config_shown(name), name.ptr);
        builder->has_failed = true;
        return;
    }
    if (count(builder, named, place)) {
        attach(builder, named);
    }
}

static void on_document(struct builder *builder, const yaml_event_t *event)
{
    const yaml_version_directive_t *const version = event->data.document_start.version_directive;
    struct wr_config_node node;
    const struct wr_config_node *const place = place_of(&event->start_mark, &node);

    if (++builder->n_documents > 1) {
        wr_config_error(builder->reader, place, NULL, "put it into a file of its own",
                        "a second document begins here, and a file is one document");
        builder->has_failed = true;
    } else if (version != NULL && (version->major != 1 || version->minor != 1)) {
        wr_config_error(builder->reader, place, NULL, "leave the %%YAML line out",
                        "YAML %d.%d is asked for, and rules are read as YAML 1.1", version->major,
                        version->minor);
        builder->has_failed = true;
    }
}

static void on_event(struct builder *builder, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        on_document(builder, event);
        return;
    case YAML_ALIAS_EVENT:
        on_alias(builder, event);
        return;
    case YAML_SCALAR_EVENT:
        on_scalar(builder, event);
        return;
    case YAML_SEQUENCE_START_EVENT:
        on_start(builder, event, WR_CONFIG_LIST, event->data.sequence_start.anchor);
        return;
    case YAML_MAPPING_START_EVENT:
        on_start(builder, event, WR_CONFIG_MAP, event->data.mapping_start.anchor);
        return;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        on_end(builder);
        return;
    case YAML_STREAM_END_EVENT:
        builder->is_done = true;
        return;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    default:
        return;
    }
}

/* The tree of `text`; NULL when there is nothing in it. Errors are noted. */
static const struct wr_config_node *build(struct wr_config_reader *reader, struct wr_str text,
                                          bool *out_has_failed)
{
    struct builder builder = {.reader = reader,
                              .max_height = 3 * reader->bounds->max_depth + MORE_LEVELS};

    if (yaml_parser_initialize(&builder.parser) == 0) {
        fail_memory(&builder);
        *out_has_failed = true;
        return NULL;
    }
    yaml_parser_set_input_string(&builder.parser, (const unsigned char *) text.ptr, text.len);
    while (!builder.has_failed && !builder.is_done) {
        yaml_event_t event;

        if (yaml_parser_parse(&builder.parser, &event) == 0) {
            fail_syntax(&builder, text);
            break;
        }
        on_event(&builder, &event);
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&builder.parser);
    *out_has_failed = builder.has_failed;
    return builder.root;
}

void wr_config_yaml_parse(struct wr_str text, struct wr_str source,
                          const struct wr_config_bounds *bounds, struct wr_arena *arena,
                          struct wr_diag *diag, struct wr_draft *out_draft)
{
    struct wr_config_reader reader = {
        .arena = arena, .diag = diag, .source = source, .bounds = bounds};
    const struct wr_config_node top = {.line = 0, .column = 0};
    const struct wr_config_node *root = NULL;
    bool has_failed = true;

    *out_draft = (struct wr_draft){0};
    if (!wr_arena_copy(arena, source, &reader.source)) {
        wr_config_no_memory(&reader);
    } else if (text.len > bounds->max_file_bytes) {
        wr_config_error(&reader, &top, NULL, "raise --max-rules-file-bytes, or split the file",
                        "larger than %zu bytes", bounds->max_file_bytes);
    } else {
        root = build(&reader, text, &has_failed);
    }
    wr_config_grammar_read(&reader, root, has_failed, out_draft);
}
