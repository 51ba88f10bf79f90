/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/trace.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"

#define FORM "a line is TIME[,HITS], as in 1767225600.25,1"

static enum wr_err refuse(const struct wr_trace *trace, size_t line, size_t column,
                          struct wr_diag *diag, const char *what, const char *hint)
{
    const struct wr_place place = {.file = wr_str_of(trace->path), .line = line, .column = column};

    wr_diag_add(diag, WR_SEVERITY_ERROR, place, (struct wr_str){0}, hint, "%s", what);
    return WR_ERR_MALFORMED;
}

static enum wr_err refuse_file(const struct wr_trace *trace, int error, struct wr_diag *diag)
{
    (void) refuse(trace, 0, 0, diag, strerror(error), "name a file that can be read");
    return WR_ERR_IO;
}

enum wr_err wr_trace_open(struct wr_trace *trace, const char *path, struct wr_diag *diag)
{
    *trace = (struct wr_trace){.path = path, .file = fopen(path, "rb")};
    if (trace->file == NULL) {
        return refuse_file(trace, errno, diag);
    }
    wr_csv_init(&trace->csv, trace->file);
    return WR_OK;
}

void wr_trace_close(struct wr_trace *trace)
{
    if (trace->file != NULL) {
        (void) fclose(trace->file);
        trace->file = NULL;
    }
}

static enum wr_err refuse_record(const struct wr_trace *trace, enum wr_csv_fault fault,
                                 struct wr_diag *diag)
{
    const char *what = "there is text behind a field's quotes, or a quote within a field";
    const char *hint = "put the whole field in quotes, and write a quote within it twice";

    if (fault == WR_CSV_TOO_MANY) {
        what = "there is a third field";
        hint = FORM "; leave the others out, as cut -d, -f1,2 does";
    } else if (fault == WR_CSV_TOO_LONG) {
        what = "the field is too long to be a time or a number";
        hint = FORM;
    } else if (fault == WR_CSV_UNCLOSED) {
        what = "the line ends within quotes";
        hint = "close the field with a quote";
    }
    return refuse(trace, trace->csv.line, trace->csv.column, diag, what, hint);
}

static struct wr_str text_of(const struct wr_csv_field *field)
{
    return (struct wr_str){.ptr = field->bytes, .len = field->len};
}

static enum wr_err refuse_time(const struct wr_trace *trace, size_t line,
                               const struct wr_csv_field *time, enum wr_trace_time_fault fault,
                               struct wr_diag *diag)
{
    const size_t zone_column = time->column + wr_trace_time_zone_at(text_of(time));
    const char *what = "the line does not begin with a time";
    const char *hint = "allowed are seconds, Unix times and dates as in 2026-01-01T00:00:00Z";
    size_t column = time->column;

    if (fault == WR_TRACE_TIME_NO_ZONE) {
        what = "the date has no zone";
        hint = "end it with Z for UTC, or with the hours ahead of it, as in +01:00";
    } else if (fault == WR_TRACE_TIME_NO_COLON) {
        what = "a zone needs hours, a colon and minutes";
        hint = "as in +02:00, or Z for UTC";
        column = zone_column;
    } else if (fault == WR_TRACE_TIME_BAD_ZONE) {
        what = "what stands behind the time is no zone";
        hint = "it is Z for UTC, or the hours ahead of it, up to 23:59, as in +02:00";
        column = zone_column;
    } else if (fault == WR_TRACE_TIME_FAR) {
        what = "the time is not between 1970 and 2199";
        hint = "numbers below 10^9 are seconds since the trace began, others Unix times";
    }
    return refuse(trace, line, column, diag, what, hint);
}

static enum wr_err check_order(struct wr_trace *trace, size_t line, size_t column,
                               const struct wr_trace_time *time, struct wr_diag *diag)
{
    if (trace->has_rows && time->is_dated != trace->before.is_dated) {
        return refuse(trace, line, column, diag,
                      "seconds since the trace began stand beside Unix times or dates",
                      "write all lines in one way");
    }
    if (trace->has_rows && time->us < trace->before.us) {
        return refuse(trace, line, column, diag, "the time is before that of the line above",
                      "sort the trace by time");
    }
    trace->has_rows = true;
    trace->before = *time;
    return WR_OK;
}

static enum wr_err parse_row(struct wr_trace *trace, const struct wr_csv_record *record,
                             struct wr_diag *diag, struct wr_trace_row *out_row)
{
    const struct wr_csv_field *const time = &record->fields[0], *const hits = &record->fields[1];
    const enum wr_trace_time_fault fault = wr_trace_time_parse(text_of(time), &out_row->time);

    if (fault != WR_TRACE_TIME_GOOD) {
        return refuse_time(trace, record->line, time, fault, diag);
    }
    out_row->hits = 1;
    if (record->n > 1 &&
        (!wr_number_parse(text_of(hits), UINT32_MAX, &out_row->hits) || out_row->hits == 0)) {
        return refuse(trace, record->line, hits->column, diag,
                      "the hits are no number from 1 to 4294967295", FORM);
    }
    return check_order(trace, record->line, time->column, &out_row->time, diag);
}

static bool is_head(const struct wr_csv_record *record)
{
    const char sign = record->fields[0].len > 0 ? record->fields[0].bytes[0] : '0';

    return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
}

static enum wr_err at_end(const struct wr_trace *trace, int error, struct wr_diag *diag)
{
    if (ferror(trace->file) != 0) {
        return refuse_file(trace, error, diag);
    }
    return trace->has_rows ? WR_ERR_NOT_FOUND
                           : refuse(trace, 0, 0, diag, "there is no line with a time", FORM);
}

enum wr_err wr_trace_next(struct wr_trace *trace, struct wr_diag *diag,
                          struct wr_trace_row *out_row)
{
    struct wr_csv_record record;
    enum wr_csv_fault fault = wr_csv_read(&trace->csv, &record);

    if (fault == WR_CSV_GOOD && !trace->has_rows && !trace->has_head && is_head(&record)) {
        trace->has_head = true;
        fault = wr_csv_read(&trace->csv, &record);
    }
    if (fault == WR_CSV_END || ferror(trace->file) != 0) {
        return at_end(trace, errno, diag);
    }
    return fault == WR_CSV_GOOD ? parse_row(trace, &record, diag, out_row)
                                : refuse_record(trace, fault, diag);
}
