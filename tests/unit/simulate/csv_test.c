/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/csv.h"

#include <criterion/criterion.h>
#include <string.h>

#define MAX_RECORDS 4

struct row {
    const char *text;
    const char *fields[MAX_RECORDS][WR_CSV_FIELDS_MAX];
    size_t lines[MAX_RECORDS];
    enum wr_csv_fault end;
    size_t line, column; /* of the fault */
};

static FILE *open_text(const char *text)
{
    FILE *const file = tmpfile();

    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    rewind(file);
    return file;
}

static void check_record(const struct row *row, size_t i, const struct wr_csv_record *record)
{
    cr_assert_lt(i, MAX_RECORDS, "%s", row->text);
    cr_assert_eq(record->line, row->lines[i], "%s: record %zu", row->text, i);
    for (size_t k = 0; k < WR_CSV_FIELDS_MAX; k++) {
        const char *const said = row->fields[i][k];

        cr_assert_eq(k < record->n, said != NULL, "%s: record %zu", row->text, i);
        if (said != NULL) {
            cr_assert_eq(record->fields[k].len, strlen(said), "%s: record %zu", row->text, i);
            cr_assert_arr_eq(record->fields[k].bytes, said, strlen(said), "%s: record %zu",
                             row->text, i);
        }
    }
}

Test(csv, records)
{
    static const struct row rows[] = {
        {"", {{0}}, {0}, WR_CSV_END, 0, 0},
        {"1\n2", {{"1"}, {"2"}}, {1, 2}, WR_CSV_END, 0, 0},
        {"a,b\r\n\r\n\n# c,\"\n1,2\r\n", {{"a", "b"}, {"1", "2"}}, {1, 5}, WR_CSV_END, 0, 0},
        {"\"1\",\"a\"\"b,\"\r\n\"\",\"3\"", {{"1", "a\"b,"}, {"", "3"}}, {1, 2}, WR_CSV_END, 0, 0},
        {",\n1,\n", {{"", ""}, {"1", ""}}, {1, 2}, WR_CSV_END, 0, 0},
        {"\xef\xbb\xbf\"1\"\n", {{"1"}}, {1}, WR_CSV_END, 0, 0},
        {"\xef"
         "1\n",
         {{"\xef"}},
         {1},
         WR_CSV_END,
         0,
         0},
        {"1,2\r", {{"1", "2"}}, {1}, WR_CSV_END, 0, 0},
        {"1\n\r", {{"1"}}, {1}, WR_CSV_END, 0, 0},
        {"\"1\"\r", {{"1"}}, {1}, WR_CSV_END, 0, 0},
        {"\"1\r\"\n", {{"1\r"}}, {1}, WR_CSV_END, 0, 0},
        {"1\r\r\n", {{"1\r"}}, {1}, WR_CSV_END, 0, 0},
        {"1\r2\n", {{"1\r2"}}, {1}, WR_CSV_END, 0, 0},
        {"1\n1,2,3\n", {{"1"}}, {1}, WR_CSV_TOO_MANY, 2, 5},
        {"1\n1,2\"\n", {{"1"}}, {1}, WR_CSV_STRAY_QUOTE, 2, 4},
        {"\"1\"2\n", {{0}}, {0}, WR_CSV_STRAY_QUOTE, 1, 4},
        {"\"1\"\r2\n", {{0}}, {0}, WR_CSV_STRAY_QUOTE, 1, 5},
        {"\"1\n2\"\n", {{0}}, {0}, WR_CSV_UNCLOSED, 1, 3},
        {"1,\"", {{0}}, {0}, WR_CSV_UNCLOSED, 1, 4},
        {"0123456789012345678901234567890123456789012345678901234567890123,1",
         {{"0123456789012345678901234567890123456789012345678901234567890123", "1"}},
         {1},
         WR_CSV_END,
         0,
         0},
        {"0123456789012345678901234567890123456789012345678901234567890123\r\n",
         {{"0123456789012345678901234567890123456789012345678901234567890123"}},
         {1},
         WR_CSV_END,
         0,
         0},
        {"1,01234567890123456789012345678901234567890123456789012345678901234",
         {{0}},
         {0},
         WR_CSV_TOO_LONG,
         1,
         67},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FILE *const file = open_text(rows[i].text);
        struct wr_csv_record record;
        struct wr_csv csv;
        enum wr_csv_fault fault = WR_CSV_GOOD;
        size_t n = 0;

        wr_csv_init(&csv, file);
        while ((fault = wr_csv_read(&csv, &record)) == WR_CSV_GOOD) {
            check_record(&rows[i], n++, &record);
        }
        cr_assert_eq(fault, rows[i].end, "%s: %d", rows[i].text, (int) fault);
        cr_assert(n == MAX_RECORDS || rows[i].lines[n] == 0, "%s: %zu records", rows[i].text, n);
        if (fault != WR_CSV_END) {
            cr_assert_eq(csv.line, rows[i].line, "%s: %zu", rows[i].text, csv.line);
            cr_assert_eq(csv.column, rows[i].column, "%s: %zu", rows[i].text, csv.column);
        }
        cr_assert_eq(fclose(file), 0);
    }
}

Test(csv, a_field_knows_where_it_begins)
{
    FILE *const file = open_text("\"1\",2\n");
    struct wr_csv_record record;
    struct wr_csv csv;

    wr_csv_init(&csv, file);
    cr_assert_eq(wr_csv_read(&csv, &record), WR_CSV_GOOD);
    cr_assert_eq(record.fields[0].column, 2);
    cr_assert_eq(record.fields[1].column, 5);
    cr_assert_eq(fclose(file), 0);
}
