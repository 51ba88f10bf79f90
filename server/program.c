/* SPDX-License-Identifier: Apache-2.0 */
#include "program.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "check.h"
#include "example.h"
#include "metrics/metrics.h"
#include "options.h"
#include "simulate/simulate.h"

static void list_metrics(void)
{
    for (int i = 0; i < WR_METRICS_COUNT; i++) {
        printf("%-32s %s\n", wr_metric_name((enum wr_metric) i),
               wr_metric_help((enum wr_metric) i));
    }
}

static int run(const struct wr_command_line *line, wr_backend_new_fn new_backend)
{
    switch (line->command) {
    case WR_COMMAND_CHECK:
        return wr_check(line, stdout, stderr);
    case WR_COMMAND_EXAMPLE:
        return wr_example(line, stdout, stderr);
    case WR_COMMAND_HELP:
        wr_options_print_help(stdout);
        return EX_OK;
    case WR_COMMAND_VERSION:
        printf("weir %s\n", WEIR_VERSION);
        return EX_OK;
    case WR_COMMAND_LIST_OPTIONS:
        wr_options_print_list(&line->options, stdout);
        return EX_OK;
    case WR_COMMAND_LIST_METRICS:
        list_metrics();
        return EX_OK;
    case WR_COMMAND_SERVE:
    default:
        return wr_app_run(&line->options, new_backend);
    }
}

/* What is printed and lost is no success. */
static int flush(int code)
{
    if (fflush(stdout) != 0 || ferror(stdout) != 0) {
        fprintf(stderr, "weir: what was to be printed could not be written\n");
        return EX_IOERR;
    }
    return code;
}

int wr_program(int argc, char **argv, wr_backend_new_fn new_backend)
{
    struct wr_command_line line;

    if (argc > 1 && strcmp(argv[1], "simulate") == 0) { /* has flags of its own */
        return flush(wr_simulate(argc - 1, argv + 1, stdout, stderr));
    }
    if (!wr_command_line_parse(argc, argv, stderr, &line)) {
        return EX_USAGE;
    }

    const int code = flush(run(&line, new_backend));

    wr_command_line_fini(&line);
    return code;
}
