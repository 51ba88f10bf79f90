/* SPDX-License-Identifier: Apache-2.0 */
#include "options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/flag_fault.h"
#include "base/shown.h"
#include "base/str.h"
#include "option_agreement.h"
#include "option_idle.h"
#include "option_near.h"
#include "option_row.h"

static void refuse(const struct wr_option_row *row, const char *name, const char *dashes,
                   const char *text, FILE *err)
{
    wr_shown_printf(err, "weir: %s%s: '%s' is not allowed here; allowed: ", dashes, name, text);
    wr_option_print_allowed(row, err);
    fprintf(err, "\n");
}

static void set_defaults(struct wr_options *options)
{
    *options = (struct wr_options){0};
    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        if (wr_option_rows[i].kind != WR_OPTION_LIST && !wr_option_is_idle(&wr_option_rows[i])) {
            WR_ASSERT(wr_option_set(options, &wr_option_rows[i], wr_option_rows[i].default_text));
        }
    }
}

/* A variable that is set and empty is taken as not set, except where a text may be empty. A header
 * name may not, and an empty one is told rather than passed over. */
static bool set_from_environment(struct wr_options *options, FILE *err)
{
    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        const struct wr_option_row *const row = &wr_option_rows[i];
        const char *const text = row->variable != NULL ? getenv(row->variable) : NULL;

        if (text == NULL ||
            (*text == '\0' && row->kind != WR_OPTION_TEXT && row->kind != WR_OPTION_HEADER)) {
            continue;
        }
        if (!(row->kind == WR_OPTION_LIST ? wr_option_set_list(options, row, text)
                                          : wr_option_set(options, row, text))) {
            refuse(row, row->variable, "", text, err);
            return false;
        }
    }
    return true;
}

/* A misspelt variable would be passed over in silence. */
static void warn_of_slips(FILE *err)
{
    extern char **environ;
    static const struct wr_str prefix = WR_STR("WEIR_");

    for (char **variable = environ; variable != NULL && *variable != NULL; variable++) {
        const struct wr_str name = {.ptr = *variable, .len = strcspn(*variable, "=")};
        const char *const near = wr_str_has_prefix(name, prefix) ? wr_option_near(name) : NULL;

        if (near != NULL) {
            wr_shown_printf(err, "weir: warning: there is no variable %.*s; did you mean %s?\n",
                            (int) name.len, name.ptr, near);
        }
    }
}

/* A flag given for a list replaces what the environment said, as for all other kinds. */
static bool set_from_flag(struct wr_options *options, const struct wr_option_row *row,
                          bool *was_given, const char *text, FILE *err)
{
    if (row->kind == WR_OPTION_LIST && !*was_given) {
        wr_option_clear_list(options, row);
    }
    *was_given = true;
    if (!wr_option_set(options, row, text != NULL ? text : "true")) {
        refuse(row, row->flag, "--", text, err);
        return false;
    }
    return true;
}

enum {
    FLAG_HELP = WR_FLAG_FIRST + WR_OPTION_ROWS,
    FLAG_VERSION,
    FLAG_LIST_OPTIONS,
    FLAG_LIST_METRICS,
};

#define N_FLAGS (WR_OPTION_ROWS + 4)

static void make_flags(struct option flags[N_FLAGS + 1], int *out_chosen)
{
    static const char *const others[] = {"help", "version", "list-options", "list-metrics"};
    size_t n = 0;

    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        if (wr_option_rows[i].flag != NULL) {
            flags[n++] = (struct option){
                .name = wr_option_rows[i].flag,
                .has_arg = wr_option_rows[i].kind == WR_OPTION_BOOL ? optional_argument
                                                                    : required_argument,
                .flag = out_chosen,
                .val = WR_FLAG_FIRST + (int) i,
            };
        }
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        flags[n++] = (struct option){.name = others[i],
                                     .has_arg = no_argument,
                                     .flag = out_chosen,
                                     .val = FLAG_HELP + (int) i};
    }
    flags[n] = (struct option){0};
}

static enum wr_command command_of(int flag)
{
    switch (flag) {
    case FLAG_HELP:
        return WR_COMMAND_HELP;
    case FLAG_VERSION:
        return WR_COMMAND_VERSION;
    case FLAG_LIST_OPTIONS:
        return WR_COMMAND_LIST_OPTIONS;
    default:
        return WR_COMMAND_LIST_METRICS;
    }
}

static void refuse_flag(int got, const char *word, const struct option *flags, FILE *err)
{
    struct wr_flag_fault fault;

    wr_flag_fault_of(got, word, flags, &fault);

    const char *const near = fault.unknown.len > 0 ? wr_option_near_flag(fault.unknown) : NULL;

    if (near != NULL) {
        wr_shown_printf(err, "weir: %s; did you mean --%s?\n", fault.text, near);
    } else {
        wr_shown_printf(err, "weir: %s; see weir --help\n", fault.text);
    }
}

static bool set_from_flags(int argc, char **argv, FILE *err, struct wr_command_line *line)
{
    struct option flags[N_FLAGS + 1];
    bool was_given[WR_OPTION_ROWS] = {0};
    int chosen = 0;

    make_flags(flags, &chosen);
    optind = 0; /* begin anew, also in a second server of one process */
    opterr = 0;
    for (;;) {
        const int got = getopt_long(argc, argv, ":hv", flags, NULL);

        if (got == -1) {
            break;
        }
        if (got == 'h' || got == 'v') {
            line->command = got == 'h' ? WR_COMMAND_HELP : WR_COMMAND_VERSION;
            continue;
        }
        if (got != 0) {
            refuse_flag(got, argv[optind - 1], flags, err);
            return false;
        }
        if (chosen >= FLAG_HELP) {
            line->command = command_of(chosen);
            continue;
        }

        const size_t i = (size_t) (chosen - WR_FLAG_FIRST);

        if (!set_from_flag(&line->options, &wr_option_rows[i], &was_given[i], optarg, err)) {
            return false;
        }
    }
    line->operands = (const char *const *) argv + optind;
    line->n_operands = (size_t) (argc - optind);
    return true;
}

/* A word that is none may be a value gone astray, and a secret: only what looks like a command is
 * shown. */
static void refuse_command(const char *word, FILE *err)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    const bool is_shown = word[strspn(word, letters)] == '\0' && strlen(word) <= 16;

    if (is_shown) {
        fprintf(err, "weir: there is no command '%s'", word);
    } else {
        fprintf(err, "weir: a word is neither a command nor part of an option");
    }
    fprintf(err,
            "; commands are serve (the default), check, example and simulate; see weir --help\n");
}

static bool take_command(struct wr_command_line *line, FILE *err)
{
    static const struct {
        const char *word;
        enum wr_command command;
    } commands[] = {
        {"serve", WR_COMMAND_SERVE},
        {"check", WR_COMMAND_CHECK},
        {"example", WR_COMMAND_EXAMPLE},
    };
    enum wr_command command = WR_COMMAND_SERVE;

    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        if (line->n_operands > 0 && strcmp(line->operands[0], commands[i].word) == 0) {
            command = commands[i].command;
            line->operands++;
            line->n_operands--;
            break;
        }
    }
    if (line->command == WR_COMMAND_SERVE) { /* no flag asks for something else */
        line->command = command;
    }
    if (line->n_operands > 0 && line->command == WR_COMMAND_SERVE) {
        refuse_command(line->operands[0], err);
        return false;
    }
    return true;
}

bool wr_command_line_parse(int argc, char **argv, FILE *err, struct wr_command_line *out_line)
{
    struct wr_command_line line = {.command = WR_COMMAND_SERVE};
    struct wr_options defaults;

    set_defaults(&defaults);
    line.options = defaults;
    if (!set_from_environment(&line.options, err) || !set_from_flags(argc, argv, err, &line) ||
        !take_command(&line, err) ||
        (line.command == WR_COMMAND_SERVE &&
         (!wr_idle_options_allow(err) || !wr_options_agree(&line.options, err)))) {
        wr_command_line_fini(&line);
        return false;
    }
    warn_of_slips(err);
    if (line.command == WR_COMMAND_SERVE) {
        wr_idle_options_warn(err);
        wr_options_warn_of_unused(&line.options, &defaults, err);
        wr_options_warn_of_parts(&line.options, err);
    }
    *out_line = line;
    return true;
}

void wr_command_line_fini(struct wr_command_line *line)
{
    free(line->options.rules.copy);
    free(line->options.grpc_listen.copy);
}

void wr_options_print_help(FILE *out)
{
    fprintf(out, "weir - decides rate limits for Envoy and other gRPC callers\n\n"
                 "  weir [serve] [OPTIONS]        serve until SIGTERM\n"
                 "  weir check FILES|DIRS|-       check rules; 0: all good, 1: errors; - reads "
                 "standard input\n"
                 "  weir example FILES|DIRS       print a call that meets their first limit\n"
                 "  weir simulate --help          play a load against rules on a virtual clock\n\n"
                 "Each option has a variable; a flag beats a variable beats the default.\n"
                 "A DURATION is a sum of whole numbers with units, h, m, s, ms or us, as 1m30s or "
                 "250ms.\n\n");
    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        const struct wr_option_row *const row = &wr_option_rows[i];

        if (wr_option_is_idle(row)) {
            continue;
        }
        if (row->flag != NULL) {
            fprintf(out, "  --%s, %s\n", row->flag, row->variable);
        } else {
            fprintf(out, "  %s\n", row->variable);
        }
        fprintf(out, "        %s", row->help);
        if (*row->default_text != '\0') {
            fprintf(out, " [%s]", row->default_text);
        }
        fprintf(out, "\n");
    }
    fprintf(out, "\n  --help, -h  --version, -v  --list-options  --list-metrics\n");
}

void wr_options_print_list(const struct wr_options *options, FILE *out)
{
    fprintf(out, "%-28s %-40s %-22s %s\n", "flag", "variable", "default", "in force");
    for (size_t i = 0; i < WR_OPTION_ROWS; i++) {
        const struct wr_option_row *const row = &wr_option_rows[i];

        if (wr_option_is_idle(row)) {
            fprintf(out, "%-28s %-40s %-22s %s\n", "-", row->variable, "-",
                    row->kind == WR_OPTION_IGNORED ? "taken, no effect yet"
                                                   : "no effect yet, refused when it asks for TLS");
            continue;
        }
        fprintf(out, "%s%-*s %-40s %-22s ", row->flag != NULL ? "--" : "",
                row->flag != NULL ? 26 : 28, row->flag != NULL ? row->flag : "-", row->variable,
                *row->default_text != '\0' ? row->default_text : "-");
        wr_option_print_value(options, row, out);
        fprintf(out, "\n");
    }
}
