/* SPDX-License-Identifier: Apache-2.0 */
#include "check.h"

#include <string.h>
#include <sysexits.h>

#include "rules/option_doubts.h"
#include "rules/rule_files.h"
#include "rules_source.h"

#define MAX_NOTES 1000

static void print_sum(const struct wr_load_result *result, const struct wr_diag *diag, FILE *out)
{
    fprintf(out, "%zu file%s, %zu domain%s, %zu limit%s: ", result->n_files,
            result->n_files == 1 ? "" : "s", wr_rules_domain_count(result->rules),
            wr_rules_domain_count(result->rules) == 1 ? "" : "s",
            wr_rules_limit_count(result->rules),
            wr_rules_limit_count(result->rules) == 1 ? "" : "s");
    if (diag->n_errors == 0 && diag->n_warnings == 0) {
        fprintf(out, "all good\n");
    } else {
        fprintf(out, "%zu error%s, %zu warning%s, %zu file%s refused\n", diag->n_errors,
                diag->n_errors == 1 ? "" : "s", diag->n_warnings, diag->n_warnings == 1 ? "" : "s",
                result->n_refused, result->n_refused == 1 ? "" : "s");
    }
}

static size_t count_stdin(const struct wr_command_line *line)
{
    size_t n = 0;

    for (size_t i = 0; i < line->n_operands; i++) {
        n += strcmp(line->operands[i], WR_STDIN_PATH) == 0;
    }
    return n;
}

int wr_check(const struct wr_command_line *line, FILE *out, FILE *err)
{
    struct wr_load_options load = wr_load_options_of(&line->options);
    struct wr_load_result result = {0};
    struct wr_diag diag;

    if (line->n_operands == 0) {
        fprintf(err,
                "weir check: name the files or directories to check, or - for standard input\n");
        return EX_USAGE;
    }
    if (count_stdin(line) > 1) {
        fprintf(err, "weir check: `%s` is standard input, which can be read once\n", WR_STDIN_PATH);
        return EX_USAGE;
    }
    load.has_stdin = true;
    load.paths = line->operands;
    load.n_paths = line->n_operands;
    wr_diag_init(&diag, MAX_NOTES);

    const enum wr_err failed = wr_rules_load(&load, &diag, &result);
    const bool is_doubtful = load.is_strict && diag.n_warnings > 0; /* what refuses no file */

    if (failed == WR_OK) {
        wr_option_doubts_note(result.rules, &load.doubtful, &diag);
    }
    wr_diag_print(&diag, out);
    if (failed == WR_OK) {
        print_sum(&result, &diag, out);
        wr_rules_release(result.rules);
    } else if (failed != WR_ERR_NOT_FOUND) {
        fprintf(err, "weir check: %s\n", wr_err_text(failed));
    }

    const bool is_good =
        failed == WR_OK && diag.n_errors == 0 && result.n_refused == 0 && !is_doubtful;

    wr_diag_fini(&diag);
    return is_good ? EX_OK : 1;
}
