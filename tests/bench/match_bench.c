/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What matching one entry costs by how many rules stand on its level: plain values, which a table
 * finds, and wildcards. Asked again and again for one value the rules are in the processor's cache;
 * asked for random ones, the memory of the many shows.
 */
#include <stdio.h>
#include <stdlib.h>

#include "rules/rules.h"
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

static struct wr_str rule_value(struct wr_arena *arena, size_t i, char end)
{
    char text[TEXT_SIZE];
    struct wr_str copy = {0};

    (void) snprintf(text, sizeof text, "value-%zu-%c", i, end);
    wr_check(wr_arena_copy(arena, wr_str_of(text), &copy), "no memory");
    return copy;
}

static void level_init(struct level *level, size_t n, char end)
{
    struct wr_arena arena;
    struct wr_diag diag;

    wr_arena_init(&arena, 1 << 20);
    wr_diag_init(&diag, 1);
    level->n = n;
    level->values = calloc(n, sizeof *level->values);

    struct wr_draft_rule *const rules = wr_arena_calloc(&arena, n, sizeof *rules);

    wr_check(level->values != NULL && rules != NULL, "no memory");
    for (size_t i = 0; i < n; i++) {
        (void) snprintf(level->values[i], TEXT_SIZE, "value-%zu-x", i);
        rules[i] = (struct wr_draft_rule){
            .key = KEY,
            .value = rule_value(&arena, i, end),
            .has_limit = true,
            .limit = {.requests_per_unit = 10, .unit = WR_STR("hour")},
        };
    }

    struct wr_draft draft = {
        .source = WR_STR("bench"), .domain = WR_STR("bench"), .rules = rules, .n_rules = n};

    wr_drafts_check(&draft, 1, false, &diag);
    wr_check(diag.n_errors == 0, "the rules are refused");
    wr_check(wr_rules_new(&draft, 1, &level->rules) == WR_OK, "no rules");
    level->domain = wr_rules_domain(level->rules, draft.domain);
    wr_diag_fini(&diag);
    wr_arena_fini(&arena);
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
