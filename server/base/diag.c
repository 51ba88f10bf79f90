/* SPDX-License-Identifier: Apache-2.0 */
#include "base/diag.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/shown.h"

#define TEXT_SIZE 1024
#define PLACE_SIZE 1024

void wr_diag_init(struct wr_diag *diag, size_t max_notes)
{
    *diag = (struct wr_diag){.max_notes = max_notes};
    wr_arena_init(&diag->arena, 4096);
}

void wr_diag_fini(struct wr_diag *diag)
{
    wr_arena_fini(&diag->arena);
}

bool wr_diag_has_room(const struct wr_diag *diag, enum wr_severity severity)
{
    return (severity == WR_SEVERITY_ERROR ? diag->n_kept_errors : diag->n_kept) < diag->max_notes;
}

bool wr_place_is_within(const struct wr_place *place)
{
    return place->line > 0 || place->spot != NULL;
}

/* The end of a name that is longer than `room`, from a whole character on. */
static struct wr_str end_of(struct wr_str name, size_t room)
{
    size_t at = name.len - room;

    while (at < name.len && ((unsigned char) name.ptr[at] & 0xc0) == 0x80) {
        at++;
    }
    return wr_str_skip(name, at);
}

static void format_line(const struct wr_place *place, char *text, size_t size)
{
    static const char dots[] = "...";
    const size_t n_dots = sizeof dots - 1;
    struct wr_str file = place->file;
    char numbers[48];
    const int len = snprintf(numbers, sizeof numbers, ":%zu:%zu", place->line, place->column);
    const size_t room = size > (size_t) len ? size - 1 - (size_t) len : 0;
    const bool is_cut = file.len > room && room > n_dots;

    if (is_cut) {
        file = end_of(file, room - n_dots);
    }
    (void) snprintf(text, size, "%s%.*s%s", is_cut ? dots : "",
                    (int) (file.len < room ? file.len : room), file.len == 0 ? "" : file.ptr,
                    numbers);
}

void wr_place_format(const struct wr_place *place, char *text, size_t size)
{
    if (place->line > 0) {
        format_line(place, text, size);
        return;
    }

    const int len = place->file.len < size ? (int) place->file.len : (int) size - 1;
    const int n = snprintf(text, size, "%.*s%s", len, len == 0 ? "" : place->file.ptr,
                           place->spot == NULL ? "" : ": ");

    if (place->spot != NULL && n >= 0 && (size_t) n < size) {
        wr_spot_format(place->spot, text + n, size - (size_t) n);
    }
}

/* The place without what it borrows: a spot becomes part of the name. */
static bool keep_place(struct wr_diag *diag, const struct wr_place *place, struct wr_place *kept)
{
    char text[PLACE_SIZE];

    if (place->spot == NULL) {
        return wr_arena_copy(&diag->arena, place->file, &kept->file);
    }
    wr_place_format(place, text, sizeof text);
    *kept = (struct wr_place){0};
    return wr_arena_copy(&diag->arena, wr_str_of(text), &kept->file);
}

static struct wr_note *keep(struct wr_diag *diag, const struct wr_note *note)
{
    struct wr_note *const kept = wr_arena_alloc(&diag->arena, sizeof *kept);

    if (kept == NULL) {
        return NULL;
    }
    *kept = *note;
    if (!keep_place(diag, &note->place, &kept->place) ||
        !wr_arena_copy(&diag->arena, note->path, &kept->path) ||
        !wr_arena_copy(&diag->arena, note->text, &kept->text) ||
        !wr_arena_copy(&diag->arena, note->hint, &kept->hint)) {
        return NULL;
    }
    return kept;
}

void wr_diag_add(struct wr_diag *diag, enum wr_severity severity, struct wr_place place,
                 struct wr_str path, const char *hint, const char *format, ...)
{
    if (severity == WR_SEVERITY_ERROR) {
        diag->n_errors++;
    } else {
        diag->n_warnings++;
    }
    if (!wr_diag_has_room(diag, severity)) {
        return;
    }

    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(text, sizeof text, format, args);
    va_end(args);

    struct wr_note *const note = keep(diag, &(struct wr_note){
                                                .severity = severity,
                                                .place = place,
                                                .path = path,
                                                .text = wr_str_of(text),
                                                .hint = wr_str_of(hint == NULL ? "" : hint),
                                            });

    if (note == NULL) {
        diag->is_incomplete = true;
        return;
    }
    if (diag->last == NULL) {
        diag->first = note;
    } else {
        diag->last->next = note;
    }
    diag->last = note;
    diag->n_kept++;
    diag->n_kept_errors += severity == WR_SEVERITY_ERROR;
}

void wr_diag_make_errors(struct wr_diag *diag)
{
    for (struct wr_note *note = diag->first; note != NULL; note = note->next) {
        note->severity = WR_SEVERITY_ERROR;
    }
    diag->n_errors += diag->n_warnings;
    diag->n_warnings = 0;
}

/* A line under construction: what does not fit is dropped. */
struct line {
    char *text;
    size_t size, len;
};

static void put(struct line *line, struct wr_str text)
{
    line->len += wr_shown_write(text, line->text + line->len, line->size - 1 - line->len);
    line->text[line->len] = '\0';
}

static void put_text(struct line *line, const char *text)
{
    put(line, wr_str_of(text));
}

static void put_place(struct line *line, const struct wr_place *place)
{
    char numbers[64];

    if (place->file.len == 0) {
        return;
    }
    put(line, place->file);
    if (place->line > 0) {
        (void) snprintf(numbers, sizeof numbers, ":%zu:%zu", place->line, place->column);
        put_text(line, numbers);
    }
    put_text(line, ": ");
}

static void put_note(struct line *line, const struct wr_note *note, const char *severity)
{
    put_place(line, &note->place);
    put_text(line, severity);
    put(line, note->text);
    if (note->path.len > 0) {
        put_text(line, " (in ");
        put(line, note->path);
        put_text(line, ")");
    }
    if (note->hint.len > 0) {
        put_text(line, "; ");
        put(line, note->hint);
    }
}

void wr_note_format(const struct wr_note *note, char *text, size_t size)
{
    struct line line = {.text = text, .size = size};

    put_note(&line, note, note->severity == WR_SEVERITY_ERROR ? "error: " : "warning: ");
}

void wr_note_format_plain(const struct wr_note *note, char *text, size_t size)
{
    struct line line = {.text = text, .size = size};

    put_note(&line, note, "");
}

static int compare_notes(const void *a, const void *b)
{
    const struct wr_note *const x = *(struct wr_note *const *) a;
    const struct wr_note *const y = *(struct wr_note *const *) b;
    const int files = wr_str_compare(x->place.file, y->place.file);

    if (files != 0) {
        return files;
    }
    if (x->place.line != y->place.line) {
        return x->place.line < y->place.line ? -1 : 1;
    }
    return (x->place.column > y->place.column) - (x->place.column < y->place.column);
}

void wr_diag_print(struct wr_diag *diag, FILE *out)
{
    struct wr_note **const sorted = wr_arena_calloc(&diag->arena, diag->n_kept, sizeof *sorted);
    char line[2 * TEXT_SIZE];
    size_t n = 0;

    if (sorted == NULL) {
        fprintf(out, "out of memory while %zu notes were sorted\n", diag->n_kept);
        return;
    }
    for (struct wr_note *note = diag->first; note != NULL; note = note->next) {
        sorted[n++] = note;
    }
    qsort(sorted, n, sizeof *sorted, compare_notes);
    for (size_t i = 0; i < n; i++) {
        wr_note_format(sorted[i], line, sizeof line);
        fprintf(out, "%s\n", line);
    }
    if (diag->n_errors + diag->n_warnings > diag->n_kept) {
        fprintf(out, "%zu more not shown\n", diag->n_errors + diag->n_warnings - diag->n_kept);
    }
}
