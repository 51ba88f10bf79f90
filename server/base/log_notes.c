/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log_notes.h"

#include <stdbool.h>

#include "base/log.h"

static void log_note(const struct wr_note *note)
{
    char line[2048];

    wr_note_format_plain(note, line, sizeof line);
    wr_log(note->severity == WR_SEVERITY_ERROR ? WR_LOG_ERROR : WR_LOG_WARN, "%s", line);
}

static bool is_same(const struct wr_note *a, const struct wr_note *b)
{
    return a->place.line == b->place.line && a->place.column == b->place.column &&
           wr_str_equal(a->place.file, b->place.file) && wr_str_equal(a->text, b->text) &&
           wr_str_equal(a->path, b->path);
}

static bool has(const struct wr_diag *diag, const struct wr_note *note)
{
    for (const struct wr_note *other = diag->first; other != NULL; other = other->next) {
        if (is_same(other, note)) {
            return true;
        }
    }
    return false;
}

void wr_log_new_notes(const struct wr_diag *diag, const struct wr_diag *told, const char *rest)
{
    for (const struct wr_note *note = diag->first; note != NULL; note = note->next) {
        if (!has(told, note)) {
            log_note(note);
        }
    }
    if (diag->n_errors + diag->n_warnings > diag->n_kept &&
        told->n_errors + told->n_warnings == told->n_kept) {
        wr_log(WR_LOG_WARN, "%zu more notes are not shown%s%s",
               diag->n_errors + diag->n_warnings - diag->n_kept, rest == NULL ? "" : "; ",
               rest == NULL ? "" : rest);
    }
}

void wr_log_notes(const struct wr_diag *diag, const char *rest)
{
    static const struct wr_diag nothing = {0};

    wr_log_new_notes(diag, &nothing, rest);
}
