/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/trace.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define S(seconds) (INT64_C(1000000) * (seconds))
#define MAX_ROWS 4

struct bed {
    char path[32];
    struct wr_trace trace;
    struct wr_diag diag;
};

static void begin(struct bed *bed, const char *text)
{
    strcpy(bed->path, "/tmp/weir-trace-XXXXXX");

    FILE *const file = fdopen(mkstemp(bed->path), "w");

    cr_assert_not_null(file);
    cr_assert_geq(fputs(text, file), 0);
    cr_assert_eq(fclose(file), 0);
    wr_diag_init(&bed->diag, 1);
    cr_assert_eq(wr_trace_open(&bed->trace, bed->path, &bed->diag), WR_OK);
}

static void end(struct bed *bed)
{
    wr_trace_close(&bed->trace);
    wr_diag_fini(&bed->diag);
    cr_assert_eq(unlink(bed->path), 0);
}

Test(trace, rows)
{
    static const struct {
        const char *text;
        struct wr_trace_row rows[MAX_ROWS];
        size_t n;
    } cases[] = {
        {"seconds,hits\n0,50\n# later\n\n59.9,10\n59.9\n",
         {{{false, 0}, 50}, {{false, S(59) + 900000}, 10}, {{false, S(59) + 900000}, 1}},
         3},
        {"\"Time\"\r\n\"1767225600.5\",\"4294967295\"\r\n2026-01-01T01:00:01+01:00\r\n",
         {{{true, S(1767225600) + 500000}, 4294967295}, {{true, S(1767225601)}, 1}},
         2},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wr_trace_row row;
        struct bed bed;

        begin(&bed, cases[i].text);
        for (size_t k = 0; k < cases[i].n; k++) {
            cr_assert_eq(wr_trace_next(&bed.trace, &bed.diag, &row), WR_OK, "case %zu", i);
            cr_assert_eq(row.time.is_dated, cases[i].rows[k].time.is_dated, "case %zu: %zu", i, k);
            cr_assert_eq(row.time.us, cases[i].rows[k].time.us, "case %zu: %zu", i, k);
            cr_assert_eq(row.hits, cases[i].rows[k].hits, "case %zu: %zu", i, k);
        }
        cr_assert_eq(wr_trace_next(&bed.trace, &bed.diag, &row), WR_ERR_NOT_FOUND, "case %zu", i);
        cr_assert_eq(bed.diag.n_errors, 0);
        end(&bed);
    }
}

/* Reads to what is wrong, which it is told about. */
Test(trace, what_is_wrong_is_told_with_its_place)
{
    static const struct {
        const char *text;
        size_t line, column;
        const char *what, *hint;
    } rows[] = {
        {"", 0, 0, "no line with a time", "TIME[,HITS]"},
        {"time,hits\n", 0, 0, "no line with a time", "TIME[,HITS]"},
        {"1\n2,x\n", 2, 3, "hits", "TIME[,HITS]"},
        {"1\n2,0\n", 2, 3, "hits", "TIME[,HITS]"},
        {"1,4294967296\n", 1, 3, "4294967295", "TIME[,HITS]"},
        {"1,\n", 1, 3, "hits", "TIME[,HITS]"},
        {"1\n0.5\n", 2, 1, "before", "sort"},
        {"1\nnan\n", 2, 1, "with a time", "seconds"},
        {"time\nseconds\n", 2, 1, "with a time", "seconds"},
        {"1\n1767225600\n", 2, 1, "beside", "one way"},
        {"1767225600\n1\n", 2, 1, "beside", "one way"},
        {"2026-01-01T00:00:00\n", 1, 1, "no zone", "+01:00"},
        {"1767225600\n2026-01-01T02:00:00+0200\n", 2, 20, "a colon", "as in +02:00"},
        {"2026-01-01T02:00:00.25+02,1\n", 1, 23, "a colon", "as in +02:00"},
        {"\"2026-01-01T00:00:00+24:00\"\n", 1, 21, "no zone", "23:59"},
        {"2026-01-01T00:00:00 Z\n", 1, 20, "no zone", "Z for UTC"},
        {"2200-01-01T00:00:00Z\n", 1, 1, "2199", "10^9"},
        {"1\n\n1,2,3\n", 3, 5, "third", "cut"},
        {"1\n\"1\"2\n", 2, 4, "quotes", "twice"},
        {"1\n\"1\n", 2, 3, "within quotes", "close"},
        {"0000000000000000000000000000000000000000000000000000000000000000000", 1, 65, "too long",
         "TIME[,HITS]"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_trace_row row;
        struct bed bed;
        enum wr_err err = WR_OK;

        begin(&bed, rows[i].text);
        while ((err = wr_trace_next(&bed.trace, &bed.diag, &row)) == WR_OK) {
        }
        cr_assert_eq(err, WR_ERR_MALFORMED, "%s", rows[i].text);
        cr_assert_eq(bed.diag.n_errors, 1, "%s", rows[i].text);

        char line[256];

        wr_note_format(bed.diag.first, line, sizeof line);
        cr_assert_eq(bed.diag.first->place.line, rows[i].line, "%s", line);
        cr_assert_eq(bed.diag.first->place.column, rows[i].column, "%s", line);
        cr_assert_not_null(strstr(line, rows[i].what), "%s", line);
        cr_assert_not_null(strstr(line, rows[i].hint), "%s", line);
        end(&bed);
    }
}

Test(trace, files_that_cannot_be_read)
{
    struct wr_trace trace;
    struct wr_trace_row row;
    struct wr_diag diag;

    wr_diag_init(&diag, 2);
    cr_assert_eq(wr_trace_open(&trace, "/nowhere/trace.csv", &diag), WR_ERR_IO);
    wr_trace_close(&trace);
    cr_assert_eq(wr_trace_open(&trace, "/tmp", &diag), WR_OK);
    cr_assert_eq(wr_trace_next(&trace, &diag, &row), WR_ERR_IO);
    wr_trace_close(&trace);
    cr_assert_eq(diag.n_errors, 2);
    wr_diag_fini(&diag);
}
