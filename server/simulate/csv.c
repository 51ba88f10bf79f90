/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/csv.h"

#include <stdbool.h>

/* Of what was not whole the first byte is left, which begins no good field. */
static void skip_byte_order_mark(FILE *file)
{
    static const char mark[] = "\xef\xbb\xbf";

    for (const char *at = mark; *at != '\0'; at++) {
        const int sign = getc(file);

        if (sign != (unsigned char) *at) {
            (void) ungetc(at == mark ? sign : (unsigned char) mark[0], file);
            return;
        }
    }
}

void wr_csv_init(struct wr_csv *csv, FILE *file)
{
    *csv = (struct wr_csv){.file = file};
    skip_byte_order_mark(file);
}

static int next(struct wr_csv *csv)
{
    csv->column++;
    return getc(csv->file);
}

static void back(struct wr_csv *csv, int sign)
{
    csv->column--;
    (void) ungetc(sign, csv->file);
}

static bool ends_line(int sign)
{
    return sign == '\n' || sign == EOF;
}

static void skip_line(struct wr_csv *csv)
{
    while (!ends_line(next(csv))) {
    }
}

static bool put(struct wr_csv_field *field, int sign)
{
    if (field->len == sizeof field->bytes) {
        return false;
    }
    field->bytes[field->len++] = (char) sign;
    return true;
}

/* Behind the first quote. */
static enum wr_csv_fault read_quoted(struct wr_csv *csv, struct wr_csv_field *field)
{
    for (;;) {
        int sign = next(csv);

        if (ends_line(sign)) {
            return WR_CSV_UNCLOSED;
        }
        if (sign == '"') {
            sign = next(csv);
            if (sign != '"') {
                back(csv, sign);
                return WR_CSV_GOOD;
            }
        }
        if (!put(field, sign)) {
            return WR_CSV_TOO_LONG;
        }
    }
}

static bool is_at_end_of_line(struct wr_csv *csv)
{
    const int sign = next(csv);

    back(csv, sign);
    return ends_line(sign);
}

static enum wr_csv_fault read_bare(struct wr_csv *csv, struct wr_csv_field *field)
{
    for (;;) {
        const int sign = next(csv);

        if (sign == ',' || ends_line(sign)) {
            back(csv, sign);
            return WR_CSV_GOOD;
        }
        if (sign == '\r' && is_at_end_of_line(csv)) {
            return WR_CSV_GOOD;
        }
        if (sign == '"') {
            return WR_CSV_STRAY_QUOTE;
        }
        if (!put(field, sign)) {
            return WR_CSV_TOO_LONG;
        }
    }
}

static enum wr_csv_fault read_field(struct wr_csv *csv, struct wr_csv_field *field)
{
    const int sign = next(csv);

    field->len = 0;
    field->column = csv->column;
    if (sign == '"') {
        field->column++;
        return read_quoted(csv, field);
    }
    back(csv, sign);
    return read_bare(csv, field);
}

/* The rest of a record, from a field on that is not empty or not the first. */
static enum wr_csv_fault read_fields(struct wr_csv *csv, struct wr_csv_record *record)
{
    for (;;) {
        if (record->n == WR_CSV_FIELDS_MAX) {
            csv->column++;
            return WR_CSV_TOO_MANY;
        }

        struct wr_csv_field *const field = &record->fields[record->n];
        const enum wr_csv_fault fault = read_field(csv, field);

        if (fault != WR_CSV_GOOD) {
            return fault;
        }
        record->n++;

        int sign = next(csv);

        if (sign == '\r') { /* behind quotes */
            sign = next(csv);
        }
        if (ends_line(sign)) {
            return WR_CSV_GOOD;
        }
        if (sign != ',') {
            return WR_CSV_STRAY_QUOTE;
        }
    }
}

enum wr_csv_fault wr_csv_read(struct wr_csv *csv, struct wr_csv_record *out_record)
{
    for (;;) {
        csv->line++;
        csv->column = 0;
        *out_record = (struct wr_csv_record){.line = csv->line};

        const int sign = next(csv);

        if (sign == EOF) {
            return WR_CSV_END;
        }
        if (sign == '#') {
            skip_line(csv);
            continue;
        }
        back(csv, sign);

        const enum wr_csv_fault fault = read_fields(csv, out_record);

        if (fault != WR_CSV_GOOD || out_record->n > 1 || out_record->fields[0].len > 0) {
            return fault;
        }
    }
}
