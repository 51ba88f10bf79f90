/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/rules_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define TEXT_SIZE 512

struct wr_place wr_rules_place(const struct wr_rules_reader *reader, const struct wr_spot *spot)
{
    return (struct wr_place){.file = reader->source, .spot = spot};
}

int wr_rules_shown(struct wr_str text)
{
    return text.len > WR_RULES_SHOWN_MAX ? WR_RULES_SHOWN_MAX : (int) text.len;
}

void wr_rules_note(struct wr_rules_reader *reader, enum wr_severity severity,
                   const struct wr_rules_subject *subject, const char *hint, const char *format,
                   ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(text, sizeof text, format, args);
    va_end(args);
    reader->n_errors += severity == WR_SEVERITY_ERROR;
    reader->n_warnings += severity == WR_SEVERITY_WARNING;
    wr_diag_add(reader->diag, severity, wr_rules_place(reader, subject->spot),
                wr_rule_path_note(subject->path, reader->diag, severity), hint, "%s", text);
}

void wr_rules_no_memory(struct wr_rules_reader *reader)
{
    static const struct wr_rules_subject whole;

    if (!reader->lacks_memory) {
        wr_rules_note(reader, WR_SEVERITY_ERROR, &whole, NULL, "out of memory");
    }
    reader->lacks_memory = reader->is_over = true;
}

void *wr_rules_allocate(struct wr_rules_reader *reader, size_t n, size_t size)
{
    void *const memory = wr_arena_calloc(reader->arena, n, size);

    if (memory == NULL) {
        wr_rules_no_memory(reader);
    }
    return memory;
}

bool wr_rules_next(const struct wr_rules_reader *reader, struct wr_fields *fields)
{
    return !reader->is_over && wr_fields_next(fields);
}

void wr_rules_too_many(struct wr_rules_reader *reader, const struct wr_rules_subject *subject)
{
    wr_rules_note(reader, WR_SEVERITY_ERROR, subject,
                  "raise --max-rules-nodes, or split the domain", "more than %zu fields",
                  reader->bounds->max_nodes);
    reader->is_over = true;
}

bool wr_rules_count(struct wr_rules_reader *reader, const struct wr_rules_subject *subject,
                    size_t n)
{
    if (n > reader->counted.max_nodes - reader->counted.n_nodes) {
        wr_rules_too_many(reader, subject);
        return false;
    }
    reader->counted.n_nodes += n;
    return true;
}

const struct wr_spot *wr_rules_spot(struct wr_rules_reader *reader, const struct wr_spot *parent,
                                    const char *name, size_t index)
{
    struct wr_spot *const spot = wr_rules_allocate(reader, 1, sizeof *spot);

    if (spot != NULL) {
        *spot = (struct wr_spot){.parent = parent, .name = name, .index = index};
    }
    return spot;
}

void wr_rules_skip_unknown(struct wr_rules_reader *reader, struct wr_fields *fields,
                           const struct wr_rules_subject *subject)
{
    const uint32_t number = fields->tag >> 3;

    wr_fields_skip(fields);
    if (reader->scan.fault == WR_FAULT_NONE && wr_rules_count(reader, subject, 1)) {
        wr_rules_note(reader, WR_SEVERITY_WARNING, subject,
                      "this version of Weir does not know it, or not with a value of its kind",
                      "field number %" PRIu32 " has no effect", number);
    }
}

struct wr_str wr_rules_text(struct wr_rules_reader *reader, struct wr_fields *fields,
                            const struct wr_rules_subject *subject, const char *name)
{
    const struct wr_str text = wr_fields_bytes(fields);

    (void) wr_rules_count(reader, subject, 1);
    if (!wr_str_is_utf8(text)) {
        const struct wr_spot spot = {
            .parent = subject->spot, .name = name, .index = WR_SPOT_SINGLE};

        wr_rules_note(reader, WR_SEVERITY_ERROR, &(struct wr_rules_subject){&spot, subject->path},
                      NULL, "the text is not UTF-8");
        return (struct wr_str){.ptr = ""};
    }
    return text;
}

bool wr_rules_switch(struct wr_rules_reader *reader, struct wr_fields *fields,
                     const struct wr_rules_subject *subject)
{
    (void) wr_rules_count(reader, subject, 1);
    return wr_fields_varint(fields) != 0;
}
