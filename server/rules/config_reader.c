/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/config_reader.h"

#include <stdarg.h>
#include <stdio.h>

#define TEXT_SIZE 1024
#define SHOWN_MAX 100

struct wr_place wr_config_place(const struct wr_config_reader *reader,
                                const struct wr_config_node *node)
{
    return (struct wr_place){.file = reader->source, .line = node->line, .column = node->column};
}

__attribute__((format(printf, 6, 0))) static void
note(struct wr_config_reader *reader, enum wr_severity severity, const struct wr_config_node *node,
     const struct wr_rule_path *path, const char *hint, const char *format, va_list args)
{
    char text[TEXT_SIZE];

    (void) vsnprintf(text, sizeof text, format, args);
    wr_diag_add(reader->diag, severity, wr_config_place(reader, node),
                wr_rule_path_note(path, reader->diag, severity), hint, "%s", text);
}

void wr_config_error(struct wr_config_reader *reader, const struct wr_config_node *node,
                     const struct wr_rule_path *path, const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    note(reader, WR_SEVERITY_ERROR, node, path, hint, format, args);
    va_end(args);
    reader->n_errors++;
}

void wr_config_warn(struct wr_config_reader *reader, const struct wr_config_node *node,
                    const struct wr_rule_path *path, const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    note(reader, WR_SEVERITY_WARNING, node, path, hint, format, args);
    va_end(args);
    reader->n_warnings++;
}

void wr_config_no_memory(struct wr_config_reader *reader)
{
    const struct wr_config_node nowhere = {0};

    reader->lacks_memory = true;
    wr_config_error(reader, &nowhere, NULL, NULL, "out of memory");
}

int wr_config_shown(struct wr_str text)
{
    return text.len > SHOWN_MAX ? SHOWN_MAX : (int) text.len;
}

const char *wr_config_kind_name(enum wr_config_kind kind)
{
    switch (kind) {
    case WR_CONFIG_LIST:
        return "a list";
    case WR_CONFIG_MAP:
        return "a map";
    case WR_CONFIG_SCALAR:
    default:
        return "a text";
    }
}
