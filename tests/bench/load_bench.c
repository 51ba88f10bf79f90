/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long loading a directory of rules takes, from the files to a snapshot that could be put in
 * force: what a reload does beside the calls.
 *
 * usage: load_bench DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>

#include "rules/load.h"
#include "tests/bench/report.h"
#include "tests/stress/crew.h"

enum { ROUNDS = 5 };

int main(int argc, char **argv)
{
    wr_check(argc == 2, "usage: load_bench DIRECTORY");

    const char *const paths[] = {argv[1]};
    const struct wr_load_options options = {
        .paths = paths,
        .n_paths = 1,
        .bounds = {.max_file_bytes = 4 << 20, .max_depth = 64, .max_nodes = 1000000},
    };
    double wall_ms[ROUNDS], cpu_ms[ROUNDS];
    size_t n_domains = 0, n_limits = 0;

    for (size_t i = 0; i < ROUNDS; i++) {
        struct wr_load_result result = {0};
        struct wr_diag diag;
        const double cpu_ns = wr_bench_ns(CLOCK_PROCESS_CPUTIME_ID);
        const double wall_ns = wr_bench_ns(CLOCK_MONOTONIC);

        wr_diag_init(&diag, 10);
        wr_check(wr_rules_load(&options, &diag, &result) == WR_OK && result.n_refused == 0,
                 "the rules are refused");
        wr_diag_fini(&diag);
        wall_ms[i] = (wr_bench_ns(CLOCK_MONOTONIC) - wall_ns) / 1e6;
        cpu_ms[i] = (wr_bench_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / 1e6;
        n_domains = wr_rules_domain_count(result.rules);
        n_limits = wr_rules_limit_count(result.rules);
        wr_rules_release(result.rules);
    }
    wr_bench_report((double) n_domains, "load_domains");
    wr_bench_report((double) n_limits, "load_limits");
    wr_bench_report(wr_bench_median(wall_ms, ROUNDS), "load_wall_ms");
    wr_bench_report(wr_bench_median(cpu_ms, ROUNDS), "load_cpu_ms");
    return EXIT_SUCCESS;
}
