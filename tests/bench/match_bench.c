/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What matching one entry costs by how many rules stand on its level: plain values, which a table
 * finds, and wildcards. Asked again and again for one value the rules are in the processor's cache;
 * asked for random ones, the memory of the many shows.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rules/load.h"
#include "tests/bench/report.h"
#include "tests/stress/crew.h"

#define KEY ((struct wr_str) WR_STR("key"))

enum {
    FEW = 10,
    MANY_VALUES = 100000,
    MANY_WILDCARDS = 1000,
    MATCHES = 200000,
    ROUNDS = 9,
    TEXT_SIZE = 32,
};

/* One level: rule `i` is for value `i` or, as a wildcard, for what begins like it. */
struct level {
    size_t n;
    char (*values)[TEXT_SIZE]; /* that match; owned */
    struct wr_rules *rules;
    const struct wr_domain *domain;
};

/* The rules as a file; for a match by the first characters `end` is a '*'. */
static void write_rules(FILE *out, size_t n, char end)
{
    (void) fprintf(out, "domain: bench\ndescriptors:\n");
    for (size_t i = 0; i < n; i++) {
        (void) fprintf(out,
                       "  - {key: key, value: 'value-%zu-%c', "
                       "rate_limit: {unit: hour, requests_per_unit: 10}}\n",
                       i, end);
    }
    wr_check(fclose(out) == 0, "the rules were not written");
}

static struct wr_rules *load(const char *path)
{
    const struct wr_load_options options = {
        .paths = &path,
        .n_paths = 1,
        .bounds = {.max_file_bytes = 64 << 20, .max_depth = 64, .max_nodes = 4000000},
    };
    struct wr_load_result result = {0};
    struct wr_diag diag;

    wr_diag_init(&diag, 1);
    wr_check(wr_rules_load(&options, &diag, &result) == WR_OK && result.n_refused == 0,
             "the rules are refused");
    wr_diag_fini(&diag);
    return result.rules;
}

static void level_init(struct level *level, size_t n, char end)
{
    char path[] = "/tmp/match_bench_XXXXXX";
    const int fd = mkstemp(path);
    FILE *const out = fd >= 0 ? fdopen(fd, "w") : NULL;

    level->n = n;
    level->values = calloc(n, sizeof *level->values);
    wr_check(out != NULL && level->values != NULL, "no file or no memory");
    write_rules(out, n, end);
    level->rules = load(path);
    (void) unlink(path);
    level->domain = wr_rules_domain(level->rules, (struct wr_str) WR_STR("bench"));
    for (size_t i = 0; i < n; i++) {
        (void) snprintf(level->values[i], TEXT_SIZE, "value-%zu-x", i);
    }
}

static void level_fini(struct level *level)
{
    wr_rules_release(level->rules);
    free(level->values);
}

/* CPU time of a match of one of the first `n_asked` values, nanoseconds. */
static double time_matches(const struct level *level, size_t n_asked)
{
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (size_t i = 0; i < MATCHES; i++) {
        const char *const value = level->values[wr_crew_random(&random) % n_asked];
        const struct wr_entry entry = {.key = KEY, .value = wr_str_of(value)};

        wr_check(wr_domain_match(level->domain, &entry, 1) != NULL, "%s is not matched", value);
    }
    return (wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / MATCHES;
}

/* The few and the many in turn, so that the machine's moods meet both. */
static void compare(const char *name, const struct level *few, const struct level *many,
                    size_t n_asked_few, size_t n_asked_many)
{
    double few_ns[ROUNDS], many_ns[ROUNDS], ratio[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++) {
        few_ns[i] = time_matches(few, n_asked_few);
        many_ns[i] = time_matches(many, n_asked_many);
        ratio[i] = many_ns[i] / few_ns[i];
    }
    wr_bench_report(wr_bench_median(few_ns, ROUNDS), "match_ns_%s_%zu", name, few->n);
    wr_bench_report(wr_bench_median(many_ns, ROUNDS), "match_ns_%s_%zu", name, many->n);
    wr_bench_report(wr_bench_median(ratio, ROUNDS), "match_ratio_%s", name);
}

int main(void)
{
    struct level few = {0}, many = {0};

    level_init(&few, FEW, 'x');
    level_init(&many, MANY_VALUES, 'x');
    compare("one_value", &few, &many, 1, 1);
    compare("ten_values", &few, &many, FEW, FEW);
    compare("any_value", &few, &many, FEW, MANY_VALUES);
    level_fini(&few);
    level_fini(&many);

    level_init(&few, FEW, '*');
    level_init(&many, MANY_WILDCARDS, '*');
    compare("wildcards", &few, &many, FEW, MANY_WILDCARDS);
    level_fini(&few);
    level_fini(&many);
    return EXIT_SUCCESS;
}
