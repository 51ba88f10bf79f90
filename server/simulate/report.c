/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/report.h"

#include <inttypes.h>
#include <jansson.h>

#include "rules/duration.h"
#include "simulate/trace_time.h"

#define US_PER_SECOND 1e6

struct wr_sim_row wr_sim_row_of(const char *rule, const char *plays, const struct wr_rate *against,
                                const struct wr_played *played)
{
    const int64_t moment_us = against->per_us / WR_SIM_MOMENTS;

    return (struct wr_sim_row){
        .rule = rule,
        .plays = plays,
        .against = *against,
        .origin_us = played->origin_us,
        .duration_us = played->duration_us,
        .is_dated = played->is_dated,
        .n_admitted = played->n_admitted,
        .n_refused = played->n_refused,
        .trailing = wr_passed_worst(&played->passed, against->per_us),
        .moment = wr_passed_worst(&played->passed, moment_us > 0 ? moment_us : 1),
    };
}

double wr_sim_row_ratio(const struct wr_sim_row *row, const struct wr_worst *worst)
{
    return row->against.hits == 0 ? 0 : (double) worst->hits / (double) row->against.hits;
}

static double seconds(int64_t us)
{
    return (double) us / US_PER_SECOND;
}

/* ---- For people ---- */

static void put_heads(const struct wr_sim_row *rows, size_t n, FILE *out)
{
    char from[WR_TRACE_TIME_TEXT_SIZE], to[WR_TRACE_TIME_TEXT_SIZE];
    char length[WR_DURATION_TEXT_SIZE];

    for (size_t i = 0; i < n; i++) {
        wr_duration_write(rows[i].against.per_us, length);
        fprintf(out, "%s: %s; measured against %" PRIu64 " in %s\n", rows[i].rule, rows[i].plays,
                rows[i].against.hits, length);
    }
    if (rows[0].is_dated) {
        wr_trace_time_write(rows[0].origin_us, from);
        wr_trace_time_write(rows[0].origin_us + rows[0].duration_us - 1, to);
        fprintf(out, "from %s to %s\n", from, to);
    }
    fputc('\n', out);
}

/* Where a stretch begins: a date, or seconds. */
static void put_from(const struct wr_sim_row *row, const struct wr_worst *worst, FILE *out)
{
    char date[WR_TRACE_TIME_TEXT_SIZE];

    if (row->is_dated) {
        wr_trace_time_write(row->origin_us + worst->from_us, date);
        fprintf(out, " %27s", date);
    } else {
        fprintf(out, " %9.3f", seconds(worst->from_us));
    }
}

static void put_worst(const struct wr_sim_row *row, const struct wr_worst *worst, FILE *out)
{
    fprintf(out, " | %8" PRIu64 " %6.2f", worst->hits, wr_sim_row_ratio(row, worst));
    put_from(row, worst, out);
}

void wr_sim_print_table(const struct wr_sim_row *rows, size_t n, FILE *out)
{
    const bool is_dated = rows[0].is_dated;
    const int width = is_dated ? 27 : 9;

    put_heads(rows, n, out);
    fprintf(out, "%-24s %9s %9s | %-*s | %s\n", "", "", "", 16 + width, "any trailing window",
            "any hundredth of one");
    fprintf(out, "%-24s %9s %9s", "rule", "admitted", "refused");
    for (int i = 0; i < 2; i++) {
        fprintf(out, " | %8s %7s %*s", "most", "÷limit", width, is_dated ? "from" : "from s");
    }
    fputc('\n', out);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%-24s %9" PRIu64 " %9" PRIu64, rows[i].rule, rows[i].n_admitted,
                rows[i].n_refused);
        put_worst(&rows[i], &rows[i].trailing, out);
        put_worst(&rows[i], &rows[i].moment, out);
        fputc('\n', out);
    }
}

/* ---- For programs ---- */

static json_t *worst_of(const struct wr_sim_row *row, const struct wr_worst *worst)
{
    char date[WR_TRACE_TIME_TEXT_SIZE];

    wr_trace_time_write(row->origin_us + worst->from_us, date);
    return json_pack("{s:I, s:f, s:f, s:s}", "hits", (json_int_t) worst->hits, "ratio",
                     wr_sim_row_ratio(row, worst), "from_s", seconds(worst->from_us), "from", date);
}

static json_t *json_of(const struct wr_sim_row *row, const char *load)
{
    return json_pack("{s:s, s:s, s:s, s:I, s:f, s:I, s:I, s:o, s:o}", "rule", row->rule, "plays",
                     row->plays, "load", load, "limit", (json_int_t) row->against.hits, "window_s",
                     seconds(row->against.per_us), "admitted", (json_int_t) row->n_admitted,
                     "refused", (json_int_t) row->n_refused, "trailing_window",
                     worst_of(row, &row->trailing), "moment", worst_of(row, &row->moment));
}

bool wr_sim_print_json(const struct wr_sim_row *rows, size_t n, const char *load, FILE *out)
{
    json_t *const all = json_array();

    for (size_t i = 0; i < n; i++) {
        json_t *const one = json_of(&rows[i], load);

        if (one == NULL || json_array_append_new(all, one) != 0) {
            json_decref(all);
            return false;
        }
    }

    const bool is_out = json_dumpf(all, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 &&
                        fputc('\n', out) != EOF;

    json_decref(all);
    return is_out;
}
