/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/simulate.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "simulate/load_spec.h"
#include "simulate/play.h"
#include "simulate/plot.h"
#include "simulate/report.h"
#include "simulate/subject.h"

#define MAX_RULES 16

static const char usage[] =
    "weir simulate --rule FILE [--rule FILE…] --load LOAD [--against LIMIT/UNIT]\n"
    "              [--plot OUT.svg|OUT.png] [--json]\n"
    "\n"
    "Plays a load on a virtual clock against the first limit of each rule file, and prints what\n"
    "was let through, and the most of it in any trailing window and in any hundredth of one.\n"
    "What is measured against is the limit and window of the first one's first layer, or "
    "LIMIT/UNIT,\n"
    "as 600/m.\n"
    "\n"
    "  steady,rate=20/s[,for=5m]            evenly\n"
    "  poisson,rate=20/s[,for=5m][,seed=1]  at random, independently of one another\n"
    "  boundary[,hits=100][,gap=60ms]       so many just before a window ends, and just after\n"
    "  adversary[,for=4m]                   whatever gets the most through in any window\n"
    "  csv:FILE                             a recorded trace, SECONDS[,HITS] a line\n";

struct setup {
    const char *rules[MAX_RULES];
    size_t n_rules;
    const char *load, *plot;
    struct wr_load_spec spec;
    struct wr_rate against; /* 0: of the rule */
    bool is_json, wants_help;
};

/* One rule and what it came to. */
struct outcome {
    struct wr_sim_subject subject;
    struct wr_rate against;
    struct wr_played played;
};

static bool refuse(FILE *err, const char *what, const char *text)
{
    fprintf(err, "weir simulate: %s%s; see weir simulate --help\n", what, text);
    return false;
}

static bool check_setup(struct setup *setup, FILE *err)
{
    char message[WR_LOAD_MESSAGE_SIZE];

    if (setup->n_rules == 0) {
        return refuse(err, "name a rule file with --rule", "");
    }
    if (setup->load == NULL) {
        return refuse(err, "say what to play with --load", "");
    }
    return wr_load_spec_parse(setup->load, &setup->spec, message) ||
           refuse(err, "--load: ", message);
}

static bool parse(int argc, char **argv, FILE *err, struct setup *setup)
{
    static const struct option flags[] = {
        {"rule", required_argument, NULL, 'r'},
        {"load", required_argument, NULL, 'l'},
        {"plot", required_argument, NULL, 'p'},
        {"against", required_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0},
    };

    optind = 0;
    opterr = 0;
    for (int got = 0; (got = getopt_long(argc, argv, ":", flags, NULL)) != -1;) {
        switch (got) {
        case 'r':
            if (setup->n_rules == MAX_RULES) {
                return refuse(err, "over 16 rule files", "");
            }
            setup->rules[setup->n_rules++] = optarg;
            break;
        case 'l':
            setup->load = optarg;
            break;
        case 'p':
            setup->plot = optarg;
            break;
        case 'a':
            if (!wr_rate_parse(optarg, &setup->against)) {
                return refuse(err, "--against is LIMIT/UNIT, as 600/m, not ", optarg);
            }
            break;
        case 'j':
            setup->is_json = true;
            break;
        case 'h':
            setup->wants_help = true;
            return true;
        case ':':
            return refuse(err, argv[optind - 1], " needs a value");
        default:
            return refuse(err, "there is no option ", argv[optind - 1]);
        }
    }
    if (optind < argc) {
        return refuse(err, "what is that: ", argv[optind]);
    }
    return check_setup(setup, err);
}

static int explain(enum wr_err failed, const struct setup *setup, uint64_t line, FILE *err)
{
    switch (failed) {
    case WR_ERR_IO:
        fprintf(err, "weir simulate: %s cannot be read: %s\n", setup->spec.path, strerror(errno));
        return EX_NOINPUT;
    case WR_ERR_MALFORMED:
        fprintf(err,
                "weir simulate: %s:%" PRIu64 ": allowed is SECONDS[,HITS], from the beginning of "
                "the trace and in order of time\n",
                setup->spec.path, line);
        return EX_DATAERR;
    case WR_ERR_TOO_LARGE:
        fprintf(err,
                "weir simulate: the load makes over %" PRIu64 " attempts; play a shorter time or "
                "a lower limit\n",
                WR_SIM_ATTEMPTS_MAX);
        return EX_DATAERR;
    case WR_OK:
    case WR_ERR_NO_MEMORY:
    case WR_ERR_INVALID:
    case WR_ERR_NOT_FOUND:
    case WR_ERR_EXISTS:
    case WR_ERR_SYSTEM:
    default:
        fprintf(err, "weir simulate: %s\n", wr_err_text(failed));
        return EX_OSERR;
    }
}

static int play(const struct setup *setup, size_t index, struct outcome *outcome, FILE *err)
{
    uint64_t line = 0;

    if (!wr_sim_subject_init(&outcome->subject, setup->rules[index], err)) {
        return EX_DATAERR;
    }

    const struct wr_limit *const limit = &outcome->subject.node->rules[0].limit;

    outcome->against = setup->against.hits > 0
                           ? setup->against
                           : (struct wr_rate){.hits = limit->requests, .per_us = limit->length_us};

    const enum wr_err failed =
        wr_sim_play(&outcome->subject, &setup->spec, &outcome->against, &outcome->played, &line);

    return failed == WR_OK ? EX_OK : explain(failed, setup, line, err);
}

/* A file's name without what stands before and behind it. */
static void put_title(char *title, size_t size, const char *path)
{
    const char *const slash = strrchr(path, '/');
    const char *const name = slash != NULL ? slash + 1 : path;
    const char *const dot = strrchr(name, '.');

    (void) snprintf(title, size, "%.*s",
                    (int) (dot != NULL && dot > name ? (size_t) (dot - name) : strlen(name)), name);
}

static int report(const struct setup *setup, const struct outcome *outcomes, FILE *out, FILE *err)
{
    struct wr_sim_row rows[MAX_RULES];
    struct wr_plot_panel panels[MAX_RULES];
    char titles[MAX_RULES][64];

    for (size_t i = 0; i < setup->n_rules; i++) {
        put_title(titles[i], sizeof titles[i], setup->rules[i]);
        rows[i] = wr_sim_row_of(titles[i], setup->load, &outcomes[i].against, &outcomes[i].played);
        panels[i] = (struct wr_plot_panel){.title = titles[i],
                                           .played = &outcomes[i].played,
                                           .length_us = outcomes[i].against.per_us,
                                           .limit = outcomes[i].against.hits};
    }
    if (setup->is_json) {
        if (!wr_sim_print_json(rows, setup->n_rules, out)) {
            return EX_IOERR;
        }
    } else {
        wr_sim_print_table(rows, setup->n_rules, out);
    }
    return setup->plot == NULL || wr_sim_plot(setup->plot, panels, setup->n_rules, err)
               ? EX_OK
               : EX_UNAVAILABLE;
}

static int run(const struct setup *setup, FILE *out, FILE *err)
{
    struct outcome *const outcomes = calloc(setup->n_rules, sizeof *outcomes);
    int code = outcomes == NULL ? EX_OSERR : EX_OK;
    size_t n = 0;

    while (code == EX_OK && n < setup->n_rules) {
        code = play(setup, n, &outcomes[n], err);
        n++;
    }
    if (code == EX_OK) {
        code = report(setup, outcomes, out, err);
    }
    for (size_t i = 0; i < n; i++) {
        wr_played_fini(&outcomes[i].played);
        wr_sim_subject_fini(&outcomes[i].subject);
    }
    free(outcomes);
    return code;
}

int wr_simulate(int argc, char **argv, FILE *out, FILE *err)
{
    struct setup setup = {0};

    if (!parse(argc, argv, err, &setup)) {
        return EX_USAGE;
    }
    if (setup.wants_help) {
        fputs(usage, out);
        return EX_OK;
    }
    return run(&setup, out, err);
}
