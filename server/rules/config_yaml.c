/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_yaml.h"

#include <stdio.h>
#include <string.h>

#include "rules/config_builder.h"
#include "rules/config_colon.h"
#include "rules/config_grammar.h"
#include "rules/config_reader.h"

#include <yaml.h>

/* Where the events of one text go. */
struct stream {
    struct wr_config_builder builder;
    yaml_parser_t parser;
    struct wr_str text;
    size_t n_documents;
    bool is_done;
};

/* A node that has nothing but a place. */
static struct wr_config_node at(const yaml_mark_t *mark)
{
    return (struct wr_config_node){.line = mark->line + 1, .column = mark->column + 1};
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

/* A tab among the blanks that begin a line is the commonest slip, and the library does not name
 * it. */
static bool is_indented_by_tab(struct wr_str text, size_t line)
{
    size_t i = 0;

    for (; i < text.len && line > 0; i++) {
        line -= text.ptr[i] == '\n';
    }
    while (i < text.len && text.ptr[i] == ' ') {
        i++;
    }
    return i < text.len && text.ptr[i] == '\t';
}

static void fail_reading(struct stream *stream)
{
    const yaml_parser_t *const parser = &stream->parser;
    const yaml_mark_t mark = mark_of_offset(stream->text, parser->problem_offset);
    const struct wr_config_node place = at(&mark);

    wr_config_error(stream->builder.reader, &place, NULL, "the file must be text in UTF-8",
                    "not readable as YAML: %s", parser->problem);
}

/* What the library does not say about the commonest slips; NULL when it is none of them. */
static const char *hint_of(const struct stream *stream, char colon[WR_CONFIG_COLON_HINT_SIZE])
{
    const yaml_parser_t *const parser = &stream->parser;

    if (is_indented_by_tab(stream->text, parser->problem_mark.line)) {
        return "indent with spaces, not with tabs";
    }
    if (parser->context != NULL && strcmp(parser->context, "while scanning an alias") == 0) {
        return "quote a text that begins with `*`";
    }
    return wr_config_colon_hint_at(stream->text, parser->problem_mark.line, colon);
}

static void fail_syntax(struct stream *stream)
{
    const yaml_parser_t *const parser = &stream->parser;
    const struct wr_config_node place = at(&parser->problem_mark);
    const char *const context = parser->context == NULL ? "" : parser->context;
    char colon[WR_CONFIG_COLON_HINT_SIZE], begun[48] = "";

    if (parser->context != NULL && parser->context_mark.line < parser->problem_mark.line) {
        (void) snprintf(begun, sizeof begun, " that begins in line %zu",
                        parser->context_mark.line + 1);
    }
    wr_config_error(stream->builder.reader, &place, NULL, hint_of(stream, colon),
                    "not readable as YAML: %s%s%s%s", parser->problem,
                    context[0] == '\0' ? "" : " ", context, begun);
}

static void fail(struct stream *stream)
{
    if (stream->parser.error == YAML_MEMORY_ERROR) {
        wr_config_no_memory(stream->builder.reader);
    } else if (stream->parser.error == YAML_READER_ERROR) {
        fail_reading(stream);
    } else {
        fail_syntax(stream);
    }
    stream->builder.has_failed = true;
}

static struct wr_str name_of(const yaml_char_t *text)
{
    return text == NULL ? (struct wr_str){0} : wr_str_of((const char *) text);
}

static void on_scalar(struct stream *stream, const yaml_event_t *event)
{
    struct wr_config_node node = at(&event->start_mark);

    node.text.ptr = (const char *) event->data.scalar.value;
    node.text.len = event->data.scalar.length;
    node.tag = name_of(event->data.scalar.tag);
    node.is_plain = event->data.scalar.plain_implicit;
    wr_config_builder_add(&stream->builder, &node, name_of(event->data.scalar.anchor));
}

static void on_start(struct stream *stream, const yaml_event_t *event, enum wr_config_kind kind,
                     const yaml_char_t *anchor)
{
    struct wr_config_node node = at(&event->start_mark);

    node.kind = kind;
    wr_config_builder_add(&stream->builder, &node, name_of(anchor));
}

static void on_alias(struct stream *stream, const yaml_event_t *event)
{
    const struct wr_config_node place = at(&event->start_mark);

    wr_config_builder_add_alias(&stream->builder, &place, name_of(event->data.alias.anchor));
}

static void on_document(struct stream *stream, const yaml_event_t *event)
{
    const yaml_version_directive_t *const version = event->data.document_start.version_directive;
    const struct wr_config_node place = at(&event->start_mark);

    if (++stream->n_documents > 1) {
        wr_config_error(stream->builder.reader, &place, NULL, "put it into a file of its own",
                        "a second document begins here, and a file is one document");
        stream->builder.has_failed = true;
    } else if (version != NULL && (version->major != 1 || version->minor != 1)) {
        wr_config_error(stream->builder.reader, &place, NULL, "leave the %YAML line out",
                        "YAML %d.%d is asked for, and rules are read as YAML 1.1", version->major,
                        version->minor);
        stream->builder.has_failed = true;
    }
}

static void on_event(struct stream *stream, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        on_document(stream, event);
        return;
    case YAML_ALIAS_EVENT:
        on_alias(stream, event);
        return;
    case YAML_SCALAR_EVENT:
        on_scalar(stream, event);
        return;
    case YAML_SEQUENCE_START_EVENT:
        on_start(stream, event, WR_CONFIG_LIST, event->data.sequence_start.anchor);
        return;
    case YAML_MAPPING_START_EVENT:
        on_start(stream, event, WR_CONFIG_MAP, event->data.mapping_start.anchor);
        return;
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        wr_config_builder_close(&stream->builder);
        return;
    case YAML_STREAM_END_EVENT:
        stream->is_done = true;
        return;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    default:
        return;
    }
}

/* Takes events to the end of the text, or to the first error. */
static void run(struct stream *stream)
{
    const char *const bytes = stream->text.len == 0 ? "" : stream->text.ptr;

    yaml_parser_set_input_string(&stream->parser, (const unsigned char *) bytes, stream->text.len);
    while (!stream->builder.has_failed && !stream->is_done) {
        yaml_event_t event;

        if (yaml_parser_parse(&stream->parser, &event) == 0) {
            fail(stream);
            return;
        }
        on_event(stream, &event);
        yaml_event_delete(&event);
    }
}

/* The tree of `text`; NULL when there is nothing in it. Errors are noted. */
static const struct wr_config_node *read_tree(struct wr_config_reader *reader, struct wr_str text,
                                              bool *out_has_failed)
{
    struct stream stream = {.text = text};

    wr_config_builder_init(&stream.builder, reader);
    if (yaml_parser_initialize(&stream.parser) == 0) {
        wr_config_builder_no_memory(&stream.builder);
    } else {
        run(&stream);
        yaml_parser_delete(&stream.parser);
    }
    *out_has_failed = stream.builder.has_failed;
    return stream.builder.root;
}

void wr_config_yaml_parse(struct wr_str text, struct wr_str source,
                          const struct wr_config_bounds *bounds, struct wr_arena *arena,
                          struct wr_diag *diag, struct wr_draft *out_draft)
{
    static const struct wr_config_node whole_file = {.line = 0, .column = 0};
    struct wr_config_reader reader = {.arena = arena, .diag = diag, .bounds = bounds};
    const struct wr_config_node *root = NULL;
    bool has_failed = true;

    *out_draft = (struct wr_draft){0};
    if (!wr_arena_copy(arena, source, &reader.source)) {
        wr_config_no_memory(&reader);
    } else if (text.len > bounds->max_file_bytes) {
        wr_config_error(&reader, &whole_file, NULL,
                        "raise --max-rules-file-bytes, or split the file", "larger than %zu bytes",
                        bounds->max_file_bytes);
    } else {
        root = read_tree(&reader, text, &has_failed);
    }
    wr_config_grammar_read(&reader, root, has_failed, out_draft);
}
