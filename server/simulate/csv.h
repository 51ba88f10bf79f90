/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of comma-separated values (RFC 4180), one after the other from a stream: fields may stand
 * in quotes, a quote in them written twice; lines end with LF or CRLF. Besides, empty lines and
 * those that begin with # are passed over, and so is a byte order mark.
 *
 * Invariant: what is kept is one record of short fields, however long the stream is.
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_CSV_H
#define WR_SIMULATE_CSV_H

#include <stddef.h>
#include <stdio.h>

#define WR_CSV_FIELDS_MAX 2
#define WR_CSV_FIELD_SIZE 64

struct wr_csv_field {
    char bytes[WR_CSV_FIELD_SIZE];
    size_t len;
    size_t column; /* of its first byte, behind quotes, from 1 */
};

struct wr_csv_record {
    size_t line; /* from 1 */
    struct wr_csv_field fields[WR_CSV_FIELDS_MAX];
    size_t n;
};

enum wr_csv_fault {
    WR_CSV_GOOD,
    WR_CSV_END,         /* there is no further record */
    WR_CSV_TOO_MANY,    /* fields */
    WR_CSV_TOO_LONG,    /* a field */
    WR_CSV_STRAY_QUOTE, /* within a field without quotes, or text behind those of a field */
    WR_CSV_UNCLOSED,    /* a field in quotes, at the end of its line */
};

struct wr_csv {
    FILE *file;          /* borrowed */
    size_t line, column; /* of what was read last */
};

/* At the beginning of `file`. */
void wr_csv_init(struct wr_csv *csv, FILE *file);

/* Reads the next record; with a fault `csv->line` and `csv->column` are where it is, and there is
 * no going on. An error of the stream is like its end. */
enum wr_csv_fault wr_csv_read(struct wr_csv *csv, struct wr_csv_record *out_record);

#endif
