/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a reload takes beside the calls, from looking at the files to a snapshot that could be
 * put in force: of all files, of one among them, and when none has changed.
 *
 * usage: load_bench DIRECTORY; writes files into it.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rules/rule_set.h"
#include "tests/bench/report.h"
#include "tests/stress/crew.h"

enum {
    FILES = 1000,
    RULES = 100,
    ROUNDS = 5,
};

static void write_file(const char *directory, int number, int limit)
{
    char path[512];

    (void) snprintf(path, sizeof path, "%s/%04d.yaml", directory, number);

    FILE *const out = fopen(path, "w");

    wr_check(out != NULL, "%s cannot be written", path);
    (void) fprintf(out, "domain: domain-%d\ndescriptors:\n", number);
    for (int i = 0; i < RULES; i++) {
        (void) fprintf(out,
                       "  - key: path\n    value: /api/v1/resource-%d\n    rate_limit:\n"
                       "      unit: minute\n      requests_per_unit: %d\n",
                       i, limit);
    }
    wr_check(fclose(out) == 0, "%s was not written", path);
}

/* Wall time, milliseconds; with a snapshot, or none when nothing has changed. */
static double reload_ms(struct wr_rule_set *set, bool is_changed)
{
    struct wr_rule_set_change change = {0};
    struct wr_diag diag;
    const double begin_ns = wr_bench_ns(CLOCK_MONOTONIC);

    wr_diag_init(&diag, 10);
    wr_check(wr_file_set_look(&set->files, 0, &diag) == WR_OK &&
                 wr_rule_set_take(set, 0, true, &diag, &change) == WR_OK && diag.n_errors == 0,
             "the rules were not taken");

    const double ms = (wr_bench_ns(CLOCK_MONOTONIC) - begin_ns) / 1e6;

    wr_diag_fini(&diag);
    wr_check((change.rules != NULL) == is_changed, "a reload that did not see what there is");
    if (is_changed) {
        wr_check(wr_rules_domain_count(change.rules) == FILES &&
                     wr_rules_limit_count(change.rules) == FILES * RULES,
                 "rules are missing");
    }
    wr_rules_release(change.rules);
    return ms;
}

static void bench(const char *directory, struct wr_rule_set *set)
{
    double all_ms[ROUNDS], one_ms[ROUNDS], none_ms[ROUNDS];

    for (int i = 0; i < ROUNDS; i++) {
        for (int k = 0; k < FILES; k++) {
            write_file(directory, k, 2 * i + 1);
        }
        all_ms[i] = reload_ms(set, true);
        write_file(directory, FILES / 2, 2 * i + 2);
        one_ms[i] = reload_ms(set, true);
        none_ms[i] = reload_ms(set, false);
    }
    wr_bench_report(wr_bench_median(all_ms, ROUNDS), "reload_all_ms");
    wr_bench_report(wr_bench_median(one_ms, ROUNDS), "reload_one_ms");
    wr_bench_report(wr_bench_median(none_ms, ROUNDS), "reload_none_ms");
}

int main(int argc, char **argv)
{
    wr_check(argc == 2, "usage: load_bench DIRECTORY");

    const char *const paths[] = {argv[1]};
    const struct wr_load_options options = {
        .paths = paths,
        .n_paths = 1,
        .bounds = {.max_file_bytes = 1 << 25, .max_depth = 64, .max_nodes = 4000000},
    };
    struct wr_rule_set set;

    wr_check(wr_rule_set_init(&set, &options, NULL) == WR_OK, "no set of rules");
    bench(argv[1], &set);
    wr_rule_set_fini(&set);
    return EXIT_SUCCESS;
}
