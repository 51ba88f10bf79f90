/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/simulate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/shown.h"
#include "simulate/args.h"
#include "simulate/play.h"
#include "simulate/plot.h"
#include "simulate/report.h"
#include "simulate/subject.h"

#define MAX_NOTES 1
#define NAME_SIZE 64

/* What each rule came to. */
struct result {
    char names[WR_SIM_RULES_MAX][NAME_SIZE];
    char *plays[WR_SIM_RULES_MAX]; /* owned */
    struct wr_sim_row rows[WR_SIM_RULES_MAX];
    struct wr_plot_panel panels[WR_SIM_RULES_MAX];
    uint64_t attempts_left;
};

/* The exit code, and for what has not been told yet, why. */
static int explain(enum wr_err failed, FILE *err)
{
    switch (failed) {
    case WR_ERR_INVALID:
        return EX_USAGE;
    case WR_ERR_IO:
        return EX_NOINPUT;
    case WR_ERR_MALFORMED:
        return EX_DATAERR;
    case WR_ERR_TOO_LARGE:
        fprintf(err,
                "weir simulate: that makes over %" PRIu64 " attempts in all, one a limit; play a "
                "shorter time, a lower limit or fewer rules\n",
                WR_SIM_ATTEMPTS_MAX);
        return EX_DATAERR;
    case WR_OK:
        return EX_OK;
    case WR_ERR_NO_MEMORY:
    case WR_ERR_NOT_FOUND:
    case WR_ERR_EXISTS:
    case WR_ERR_SYSTEM:
    default:
        fprintf(err, "weir simulate: %s\n", wr_err_text(failed));
        return EX_OSERR;
    }
}

/* A file's name without what stands before and behind it, cut between characters. */
static void put_name(char name[NAME_SIZE], const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const begin = slash != NULL ? slash + 1 : path;
    const char *const dot = strrchr(begin, '.');
    const size_t len = dot != NULL && dot > begin ? (size_t) (dot - begin) : strlen(begin);

    name[wr_shown_write((struct wr_str){begin, len}, name, NAME_SIZE - 1)] = '\0';
}

static char *describe(const struct wr_sim_subject *subject)
{
    char *text = NULL;
    size_t size = 0;
    FILE *const out = open_memstream(&text, &size);

    if (out == NULL) {
        return NULL;
    }
    wr_sim_subject_describe(subject, out);
    return fclose(out) == 0 ? text : NULL;
}

static enum wr_err play_subject(const struct wr_sim_args *args,
                                const struct wr_sim_subject *subject, size_t i,
                                struct result *result, struct wr_diag *diag)
{
    const struct wr_limit *const limit = &subject->node->rules[0].limit;
    const struct wr_rate own = {.hits = limit->requests, .per_us = limit->length_us};
    struct wr_sim_scene scene = {.subject = subject,
                                 .against = args->against.hits > 0 ? args->against : own,
                                 .cost = wr_sim_subject_cost(subject),
                                 .attempts_left = &result->attempts_left};
    struct wr_played played;

    scene.windows = wr_sim_windows_of(limit, &scene.against);
    put_name(result->names[i], args->rules[i]);
    result->plays[i] = describe(subject);
    if (result->plays[i] == NULL) {
        return WR_ERR_NO_MEMORY;
    }

    const enum wr_err err = wr_sim_play(&scene, &args->spec, diag, &played);

    if (err == WR_OK) {
        result->rows[i] =
            wr_sim_row_of(result->names[i], result->plays[i], &scene.against, &played);
        result->panels[i] = wr_plot_panel_of(&result->rows[i], &scene.windows, &played);
    }
    wr_played_fini(&played);
    return err;
}

static int play(const struct wr_sim_args *args, size_t i, struct result *result, FILE *err)
{
    struct wr_sim_subject subject;
    struct wr_diag diag;
    enum wr_err failed = wr_sim_subject_init(&subject, args->rules[i], args->descriptor, err);

    wr_diag_init(&diag, MAX_NOTES);
    if (failed == WR_OK) {
        failed = play_subject(args, &subject, i, result, &diag);
        wr_diag_print(&diag, err);
    }
    wr_sim_subject_fini(&subject);
    wr_diag_fini(&diag);
    return explain(failed, err);
}

static int report(const struct wr_sim_args *args, const struct result *result, FILE *out, FILE *err)
{
    if (!args->is_json) {
        wr_sim_print_table(result->rows, args->n_rules, out);
    } else if (!wr_sim_print_json(result->rows, args->n_rules, args->load, out)) {
        fprintf(err, "weir simulate: the JSON could not be written; names must be UTF-8\n");
        return EX_IOERR;
    }
    if (args->plot == NULL) {
        return EX_OK;
    }

    const enum wr_err drawn = wr_sim_plot(args->plot, result->panels, args->n_rules, err);

    return drawn == WR_OK ? EX_OK : drawn == WR_ERR_IO ? EX_CANTCREAT : EX_UNAVAILABLE;
}

static int run(const struct wr_sim_args *args, FILE *out, FILE *err)
{
    struct result *const result = calloc(1, sizeof *result);
    int code = EX_OK;

    if (result == NULL) {
        return explain(WR_ERR_NO_MEMORY, err);
    }
    result->attempts_left = WR_SIM_ATTEMPTS_MAX;
    for (size_t i = 0; i < args->n_rules && code == EX_OK; i++) {
        code = play(args, i, result, err);
    }
    if (code == EX_OK) {
        code = report(args, result, out, err);
    }
    for (size_t i = 0; i < args->n_rules; i++) {
        free(result->plays[i]);
    }
    free(result);
    return code;
}

int wr_simulate(int argc, char **argv, FILE *out, FILE *err)
{
    struct wr_sim_args args;

    if (!wr_sim_args_parse(&args, argc, argv, err)) {
        return EX_USAGE;
    }
    if (args.wants_help) {
        wr_sim_args_help(out);
        return EX_OK;
    }
    return run(&args, out, err);
}
