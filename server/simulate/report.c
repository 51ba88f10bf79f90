/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/report.h"

#include <inttypes.h>
#include <jansson.h>

#define US_PER_SECOND 1e6

struct wr_sim_row wr_sim_row_of(const char *rule, const char *load, const struct wr_rate *against,
                                const struct wr_played *played)
{
    const int64_t moment_us = against->per_us / WR_SIM_MOMENTS;

    return (struct wr_sim_row){
        .rule = rule,
        .load = load,
        .against = *against,
        .n_admitted = played->n_admitted,
        .n_refused = played->n_refused,
        .trailing = wr_passed_worst(&played->passed, against->per_us),
        .moment = wr_passed_worst(&played->passed, moment_us > 0 ? moment_us : 1),
    };
}

static double ratio_of(const struct wr_sim_row *row, const struct wr_worst *worst)
{
    return row->against.hits == 0 ? 0 : (double) worst->hits / (double) row->against.hits;
}

static double seconds(int64_t us)
{
    return (double) us / US_PER_SECOND;
}

void wr_sim_print_table(const struct wr_sim_row *rows, size_t n, FILE *out)
{
    fprintf(out, "%-24s %9s %9s | any trailing window       | any hundredth of one\n", "", "", "");
    fprintf(out, "%-24s %9s %9s | %8s %7s %9s | %8s %7s %9s\n", "rule", "admitted", "refused",
            "most", "÷limit", " from s", "most", "÷limit", " from s");
    for (size_t i = 0; i < n; i++) {
        const struct wr_sim_row *const row = &rows[i];

        fprintf(out,
                "%-24s %9" PRIu64 " %9" PRIu64 " | %8" PRIu64 " %6.2f %9.3f | %8" PRIu64
                " %6.2f %9.3f\n",
                row->rule, row->n_admitted, row->n_refused, row->trailing.hits,
                ratio_of(row, &row->trailing), seconds(row->trailing.from_us), row->moment.hits,
                ratio_of(row, &row->moment), seconds(row->moment.from_us));
    }
}

static json_t *worst_of(const struct wr_sim_row *row, const struct wr_worst *worst)
{
    return json_pack("{s:I, s:f, s:f}", "hits", (json_int_t) worst->hits, "ratio",
                     ratio_of(row, worst), "from_s", seconds(worst->from_us));
}

bool wr_sim_print_json(const struct wr_sim_row *rows, size_t n, FILE *out)
{
    json_t *const all = json_array();

    for (size_t i = 0; i < n; i++) {
        const struct wr_sim_row *const row = &rows[i];
        json_t *const one =
            json_pack("{s:s, s:s, s:I, s:f, s:I, s:I, s:o, s:o}", "rule", row->rule, "load",
                      row->load, "limit", (json_int_t) row->against.hits, "window_s",
                      seconds(row->against.per_us), "admitted", (json_int_t) row->n_admitted,
                      "refused", (json_int_t) row->n_refused, "trailing_window",
                      worst_of(row, &row->trailing), "moment", worst_of(row, &row->moment));

        if (one == NULL || json_array_append_new(all, one) != 0) {
            json_decref(all);
            return false;
        }
    }

    const bool is_out = json_dumpf(all, out, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) == 0 &&
                        fputc('\n', out) != EOF;

    json_decref(all);
    return is_out;
}
