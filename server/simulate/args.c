/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/args.h"

#include <getopt.h>
#include <inttypes.h>

#include "base/flag_fault.h"
#include "base/shown.h"
#include "simulate/player.h"
#include "simulate/plot.h"

enum {
    FLAG_RULE = WR_FLAG_FIRST,
    FLAG_DESCRIPTOR,
    FLAG_LOAD,
    FLAG_PLOT,
    FLAG_AGAINST,
    FLAG_JSON,
    FLAG_HELP,
};

static const char usage[] =
    "weir simulate --rule FILE [--rule FILE...] --load LOAD [OPTIONS]\n"
    "\n"
    "Plays a load on a virtual clock through the code that serves, with counters in memory, and\n"
    "prints what was let through, and the most of it in any trailing window and in any hundredth\n"
    "of one. Each rule file is played by itself.\n"
    "\n"
    "  --descriptor KEY=VALUE[,KEY=VALUE...]\n"
    "        what to ask of each file [what meets its first limit]; all limits that it meets\n"
    "        count, and rules in shadow_mode or quota_mode are played as if enforced\n"
    "  --against LIMIT/UNIT\n"
    "        limit and window to measure against, as 600/minute or 1/100ms [those of the first\n"
    "        limit that is met]; boundary and adversary play around such windows\n"
    "  --plot OUT.svg|OUT.png\n"
    "        draws what was let through in each slice of time, with gnuplot\n"
    "  --json\n"
    "        prints an array of objects in place of the table\n"
    "\n"
    "LOAD is one of these; times are as in rules, such as 5m or 1h30m:\n"
    "\n"
    "  steady,rate=20/s[,for=5m]            evenly [for five windows]\n"
    "  poisson,rate=20/s[,for=5m][,seed=1]  at random, independently of one another [five "
    "windows]\n"
    "  boundary[,hits=100][,gap=60ms]       so many just before a window ends, and just after\n"
    "                                       [the limit; a thousandth of a window]\n"
    "  adversary[,for=4m]                   all that passes, from several moments of a window on; "
    "the\n"
    "                                       worst is told [for four windows]\n"
    "  csv:FILE                             a recorded trace, a line TIME[,HITS] for each call, "
    "in\n"
    "                                       order of time: seconds since it began, Unix times (in\n"
    "                                       seconds, milli-, micro- or nanoseconds), or dates as\n"
    "                                       2026-01-01T00:00:00Z; lines that begin with # and a\n"
    "                                       head are passed over\n"
    "\n"
    "Without dates in a trace, virtual time begins with the first window of 2026 (UTC). One run\n"
    "makes %" PRIu64
    " million attempts at most; an attempt counts once for each limit that it meets, and\n"
    "four times for one by sliding_log.\n";

void wr_sim_args_help(FILE *out)
{
    fprintf(out, usage, WR_SIM_ATTEMPTS_MAX / 1000000);
}

static bool refuse(FILE *err, const char *what, const char *text)
{
    wr_shown_printf(err, "weir simulate: %s%s; see weir simulate --help\n", what, text);
    return false;
}

static bool add_rule(struct wr_sim_args *args, const char *path, FILE *err)
{
    if (args->n_rules == WR_SIM_RULES_MAX) {
        fprintf(err, "weir simulate: over %d rule files; see weir simulate --help\n",
                WR_SIM_RULES_MAX);
        return false;
    }
    args->rules[args->n_rules++] = path;
    return true;
}

/* Of what can be said once. */
static bool put(const char **place, const char *value, const char *flag, FILE *err)
{
    if (*place != NULL) {
        return refuse(err, flag, " is there twice");
    }
    *place = value;
    return true;
}

static bool set_against(struct wr_sim_args *args, const char *value, FILE *err)
{
    char message[WR_LOAD_MESSAGE_SIZE];

    return wr_rate_parse(value, &args->against, message) || refuse(err, "--against: ", message);
}

static bool set(struct wr_sim_args *args, int flag, const char *value, FILE *err)
{
    switch (flag) {
    case FLAG_RULE:
        return add_rule(args, value, err);
    case FLAG_DESCRIPTOR:
        return put(&args->descriptor, value, "--descriptor", err);
    case FLAG_LOAD:
        return put(&args->load, value, "--load", err);
    case FLAG_PLOT:
        if (!put(&args->plot, value, "--plot", err)) {
            return false;
        }
        return wr_sim_can_plot(value) ||
               refuse(err, "--plot: the name must end with .svg or .png, unlike ", value);
    case FLAG_AGAINST:
        return set_against(args, value, err);
    case FLAG_JSON:
        args->is_json = true;
        return true;
    default:
        args->wants_help = true;
        return true;
    }
}

static bool check(struct wr_sim_args *args, FILE *err)
{
    char message[WR_LOAD_MESSAGE_SIZE];

    if (args->n_rules == 0) {
        return refuse(err, "name a rule file with --rule", "");
    }
    if (args->load == NULL) {
        return refuse(err, "say what to play with --load", "");
    }
    return wr_load_spec_parse(args->load, &args->spec, message) || refuse(err, "--load: ", message);
}

bool wr_sim_args_parse(struct wr_sim_args *args, int argc, char **argv, FILE *err)
{
    static const struct option flags[] = {
        {"rule", required_argument, NULL, FLAG_RULE},
        {"descriptor", required_argument, NULL, FLAG_DESCRIPTOR},
        {"load", required_argument, NULL, FLAG_LOAD},
        {"plot", required_argument, NULL, FLAG_PLOT},
        {"against", required_argument, NULL, FLAG_AGAINST},
        {"json", no_argument, NULL, FLAG_JSON},
        {"help", no_argument, NULL, FLAG_HELP},
        {0},
    };

    *args = (struct wr_sim_args){0};
    optind = 0;
    opterr = 0;
    for (int got = 0; (got = getopt_long(argc, argv, ":", flags, NULL)) != -1;) {
        if (got == ':' || got == '?') {
            struct wr_flag_fault fault;

            wr_flag_fault_of(got, argv[optind - 1], flags, &fault);
            return refuse(err, fault.text, "");
        }
        if (!set(args, got, optarg, err)) {
            return false;
        }
        if (args->wants_help) {
            return true;
        }
    }
    if (optind < argc) {
        return refuse(err, "what is that: ", argv[optind]);
    }
    return check(args, err);
}
