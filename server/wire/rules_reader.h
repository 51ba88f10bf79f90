/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the readers of one rules message share: where texts live, where notes go, how much is
 * allowed, and whether something was found. Private to wire/rules_message.c and what it calls.
 *
 * Threads: owner thread only.
 */
#ifndef WR_WIRE_RULES_READER_H
#define WR_WIRE_RULES_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/diag.h"
#include "base/spot.h"
#include "base/str.h"
#include "rules/config_yaml.h"
#include "rules/rule_path.h"
#include "wire/fields.h"
#include "wire/scan.h"
#include "wire/struct_value.h"

/* How much of a text a message shows. */
#define WR_RULES_SHOWN_MAX 100

struct wr_rules_reader {
    struct wr_arena *arena;
    struct wr_diag *diag;
    struct wr_str source;
    const struct wr_config_bounds *bounds;
    struct wr_struct_bounds counted; /* of metadata, and the nodes of all there is */
    struct wr_scan scan;
    size_t n_errors, n_warnings;
    bool is_over; /* a bound was passed, or memory is out: the rest is not read */
    bool lacks_memory;
};

/* What notes on a rule, and on what stands in it, are about. */
struct wr_rules_subject {
    const struct wr_spot *spot;      /* NULL: the message itself */
    const struct wr_rule_path *path; /* NULL: no rule */
};

struct wr_place wr_rules_place(const struct wr_rules_reader *reader, const struct wr_spot *spot);

/* How much of `text` a message shows, for printf's "%.*s". */
int wr_rules_shown(struct wr_str text);

/* `hint` may be NULL. */
void wr_rules_note(struct wr_rules_reader *reader, enum wr_severity severity,
                   const struct wr_rules_subject *subject, const char *hint, const char *format,
                   ...) __attribute__((format(printf, 5, 6)));

/* Notes that memory is out, once. */
void wr_rules_no_memory(struct wr_rules_reader *reader);

/* `n` times `size` bytes, cleared; NULL when memory is out, which is noted. */
void *wr_rules_allocate(struct wr_rules_reader *reader, size_t n, size_t size);

/* wr_fields_next, until the reader is over. */
bool wr_rules_next(const struct wr_rules_reader *reader, struct wr_fields *fields);

/* Counts `n` fields or messages, before there is room made for them; false, with a note, when they
 * are too many. */
bool wr_rules_count(struct wr_rules_reader *reader, const struct wr_rules_subject *subject,
                    size_t n);

/* Notes that the bound on fields is passed. */
void wr_rules_too_many(struct wr_rules_reader *reader, const struct wr_rules_subject *subject);

/* A spot that places of the draft point at, its `name` static; NULL when memory is out. */
const struct wr_spot *wr_rules_spot(struct wr_rules_reader *reader, const struct wr_spot *parent,
                                    const char *name, size_t index);

/* Over a field that has no meaning here, with a warning. */
void wr_rules_skip_unknown(struct wr_rules_reader *reader, struct wr_fields *fields,
                           const struct wr_rules_subject *subject);

/* The value of the field `name`; empty when it is not UTF-8, which is noted. */
struct wr_str wr_rules_text(struct wr_rules_reader *reader, struct wr_fields *fields,
                            const struct wr_rules_subject *subject, const char *name);

bool wr_rules_switch(struct wr_rules_reader *reader, struct wr_fields *fields,
                     const struct wr_rules_subject *subject);

#endif
