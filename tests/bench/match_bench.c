/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What matching one entry costs by how many rules stand on its level. Asked again and again for
 * ten values, what they match is in the processor's cache and the work shows; asked for any of
 * 100 000, the memory that they need shows too.
 */
#include <stdbool.h>
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
    MATCHES = 50000,
    ROUNDS = 9,
    TEXT_SIZE = 32,
};

/* What stands before and behind a number, in a rule's value and in one that is asked for. */
struct form {
    const char *name;
    const char *rule_before, *rule_behind;
    const char *asked_before, *asked_behind;
    size_t many;
    bool is_found;
};

static const struct form forms[] = {
    {"exact", "value-", "", "value-", "", MANY_VALUES, true},
    {"exact_none_fits", "value-", "", "other-", "", MANY_VALUES, false},
    {"prefixes", "/service-", "/*", "/service-", "/items", MANY_WILDCARDS, true},
    {"prefixes_none_fits", "/service-", "/*", "/nothing-", "/items", MANY_WILDCARDS, false},
    {"prefixes_then_text", "/s-", "/*/x", "/s-", "/abc/x", MANY_WILDCARDS, true},
    {"suffixes", "*.host-", "", "www.host-", "", MANY_WILDCARDS, true},
    {"suffixes_none_fits", "*.host-", "", "www.other-", "", MANY_WILDCARDS, false},
    {"middles", "*/part-", "/*", "a/part-", "/b", MANY_WILDCARDS, true},
};

struct level {
    const struct form *form;
    size_t n;
    char (*asked)[TEXT_SIZE]; /* owned; one a rule */
    struct wr_rules *rules;
    const struct wr_domain *domain;
};

static void write_rules(FILE *out, const struct form *form, size_t n)
{
    (void) fprintf(out, "domain: bench\ndescriptors:\n");
    for (size_t i = 0; i < n; i++) {
        (void) fprintf(out,
                       "  - {key: key, value: '%s%zu%s', "
                       "rate_limit: {unit: hour, requests_per_unit: 10}}\n",
                       form->rule_before, i, form->rule_behind);
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

static void level_init(struct level *level, const struct form *form, size_t n)
{
    char path[] = "/tmp/match_bench_XXXXXX";
    const int fd = mkstemp(path);
    FILE *const out = fd >= 0 ? fdopen(fd, "w") : NULL;

    *level = (struct level){.form = form, .n = n, .asked = calloc(n, sizeof *level->asked)};
    wr_check(out != NULL && level->asked != NULL, "no file or no memory");
    write_rules(out, form, n);
    level->rules = load(path);
    (void) unlink(path);
    level->domain = wr_rules_domain(level->rules, (struct wr_str) WR_STR("bench"));
    for (size_t i = 0; i < n; i++) {
        (void) snprintf(level->asked[i], TEXT_SIZE, "%s%zu%s", form->asked_before, i,
                        form->asked_behind);
    }
}

static void level_fini(struct level *level)
{
    wr_rules_release(level->rules);
    free(level->asked);
}

/* CPU time of a match of any of `n_asked` values, spread over the level; nanoseconds. */
static double time_matches(const struct level *level, size_t n_asked)
{
    const size_t stride = level->n / n_asked;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    const double begin_ns = wr_bench_ns(CLOCK_THREAD_CPUTIME_ID);

    for (size_t i = 0; i < MATCHES; i++) {
        const char *const value = level->asked[wr_crew_random(&random) % n_asked * stride];
        const struct wr_entry entry = {.key = KEY, .value = wr_str_of(value)};
        const bool is_found = wr_domain_match(level->domain, &entry, 1) != NULL;

        wr_check(is_found == level->form->is_found, "%s: %d", value, is_found);
    }
    return (wr_bench_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns) / MATCHES;
}

/* The few and the many in turn, so that the machine's moods meet both. */
static void compare(const char *name, const struct level *few, const struct level *many,
                    size_t n_asked)
{
    double few_ns[ROUNDS], many_ns[ROUNDS], ratio[ROUNDS];

    for (size_t i = 0; i < ROUNDS; i++) {
        few_ns[i] = time_matches(few, FEW);
        many_ns[i] = time_matches(many, n_asked);
        ratio[i] = many_ns[i] / few_ns[i];
    }
    wr_bench_report(wr_bench_median(few_ns, ROUNDS), "match_few_ns_%s", name);
    wr_bench_report(wr_bench_median(many_ns, ROUNDS), "match_many_ns_%s", name);
    wr_bench_report((double) many->n, "match_many_%s", name);
    wr_bench_report(wr_bench_median(ratio, ROUNDS), "match_ratio_%s", name);
}

int main(void)
{
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        struct level few, many;

        level_init(&few, &forms[i], FEW);
        level_init(&many, &forms[i], forms[i].many);
        compare(forms[i].name, &few, &many, FEW);
        if (i == 0) {
            compare("exact_any_of_them", &few, &many, many.n);
        }
        level_fini(&few);
        level_fini(&many);
    }
    return EXIT_SUCCESS;
}
