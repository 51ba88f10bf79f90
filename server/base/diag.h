/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a person is told about a configuration: where, what is wrong, what to do. A list of notes
 * is filled by parsers and validators and printed as a compiler prints them.
 *
 * Invariant: no more than `max_notes` errors are kept, and no warning beyond as many notes: so
 * warnings keep no error out. The others are counted.
 * Threads: owner thread only.
 */
#ifndef WR_BASE_DIAG_H
#define WR_BASE_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/spot.h"
#include "base/str.h"

enum wr_severity {
    WR_SEVERITY_WARNING,
    WR_SEVERITY_ERROR,
};

/* A place in a source; line and column count from 1, 0 is "no place in it". */
struct wr_place {
    struct wr_str file; /* name as the person gave it */
    size_t line, column;
    const struct wr_spot *spot; /* of a message, in place of line and column; NULL: none */
};

/* True when it is more than a source. */
bool wr_place_is_within(const struct wr_place *place);

/* file:line:column, or what there is of it; of a message the source and the spot. Cut to `size`,
 * always terminated; of a file with a line it is the beginning that is left out. */
void wr_place_format(const struct wr_place *place, char *text, size_t size);

struct wr_note {
    enum wr_severity severity;
    struct wr_place place;
    struct wr_str path; /* of the rule, as domain.key_value.key; may be empty */
    struct wr_str text; /* what is wrong */
    struct wr_str hint; /* what to do; may be empty */
    struct wr_note *next;
};

struct wr_diag {
    struct wr_arena arena; /* of the notes and their texts */
    struct wr_note *first, *last;
    size_t n_kept, n_kept_errors, max_notes; /* errors among them when they were added */
    size_t n_errors, n_warnings;             /* those not kept included */
    bool is_incomplete; /* memory ran out while a note was made; counts are right */
};

void wr_diag_init(struct wr_diag *diag, size_t max_notes);

void wr_diag_fini(struct wr_diag *diag);

/* Adds a note; `path` and `hint` may be empty, all texts are copied, and the spot of `place` is
 * put behind its file. `format` is printf's and is the text. */
void wr_diag_add(struct wr_diag *diag, enum wr_severity severity, struct wr_place place,
                 struct wr_str path, const char *hint, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

/* False when no more notes of that severity are kept. */
bool wr_diag_has_room(const struct wr_diag *diag, enum wr_severity severity);

/* Every warning becomes an error. */
void wr_diag_make_errors(struct wr_diag *diag);

/* The note as one line `file:line:column: error: text (in path); hint` without a line feed; texts
 * are shown as base/shown.h does. Cut to `size`, always terminated. */
void wr_note_format(const struct wr_note *note, char *line, size_t size);

/* The same without the severity, for a log line that has its own. */
void wr_note_format_plain(const struct wr_note *note, char *line, size_t size);

/* All notes, a line each, in order of file, line and column. */
void wr_diag_print(struct wr_diag *diag, FILE *out);

#endif
