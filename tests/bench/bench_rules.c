/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What rules cost: a reload of many files, of one among many, and a match by how many siblings a
 * level has. Ratios within one run are what counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/assert.h"
#include "rules/rule_set.h"
#include "tests/support/rules_text.h"

enum {
    FILES = 1000,
    RULES = 100,
    MATCHES = 2000000,
};

static double now_s(void)
{
    struct timespec now;

    WR_ASSERT(clock_gettime(CLOCK_MONOTONIC, &now) == 0);
    return (double) now.tv_sec + (double) now.tv_nsec / 1e9;
}

static void write_file(const char *directory, int number, int limit)
{
    char path[128];

    (void) snprintf(path, sizeof path, "%s/%04d.yaml", directory, number);

    FILE *const out = fopen(path, "w");

    WR_ASSERT(out != NULL);
    fprintf(out, "domain: domain-%d\ndescriptors:\n", number);
    for (int i = 0; i < RULES; i++) {
        fprintf(out,
                "  - key: path\n    value: /api/v1/resource-%d\n    rate_limit:\n"
                "      unit: minute\n      requests_per_unit: %d\n",
                i, limit);
    }
    WR_ASSERT(fclose(out) == 0);
}

static size_t resident_kib(void)
{
    FILE *const in = fopen("/proc/self/statm", "r");
    unsigned long size = 0, resident = 0;

    WR_ASSERT(in != NULL && fscanf(in, "%lu %lu", &size, &resident) == 2);
    (void) fclose(in);
    return resident * (size_t) sysconf(_SC_PAGESIZE) / 1024;
}

static void reload(struct wr_rule_set *set, const char *what)
{
    struct wr_rule_set_change change = {0};
    struct wr_diag diag;
    const double begin = now_s();

    wr_diag_init(&diag, 10);
    WR_ASSERT(wr_file_set_look(&set->files, 0, &diag) == WR_OK);

    const double looked = now_s();

    WR_ASSERT(wr_rule_set_take(set, 0, true, &diag, &change) == WR_OK);

    const double end = now_s();

    WR_ASSERT(diag.n_errors == 0);
    printf("%-32s look %6.1f ms, take %7.1f ms, resident %6zu KiB\n", what, (looked - begin) * 1e3,
           (end - looked) * 1e3, resident_kib());
    wr_rules_release(change.rules);
    wr_diag_fini(&diag);
}

static void bench_reload(void)
{
    char directory[] = "/tmp/weir_bench_XXXXXX";
    const char *paths[] = {directory};
    struct wr_rule_set set;
    const struct wr_load_options options = {
        .paths = paths,
        .n_paths = 1,
        .bounds = {.max_file_bytes = 1 << 25, .max_depth = 64, .max_nodes = 4000000},
    };

    WR_ASSERT(mkdtemp(directory) != NULL);
    WR_ASSERT(wr_rule_set_init(&set, &options) == WR_OK);
    for (int i = 0; i < FILES; i++) {
        write_file(directory, i, 1);
    }
    reload(&set, "1000 files x 100 rules, first");
    for (int i = 0; i < FILES; i++) {
        write_file(directory, i, 2);
    }
    reload(&set, "all changed");
    write_file(directory, 500, 3);
    reload(&set, "one changed");
    reload(&set, "none changed");
    wr_rule_set_fini(&set);
    for (int i = 0; i < FILES; i++) {
        char path[128];

        (void) snprintf(path, sizeof path, "%s/%04d.yaml", directory, i);
        (void) unlink(path);
    }
    (void) rmdir(directory);
}

/* A text with a number in it. */
struct form {
    const char *before, *after;
};

static void fill(char text[64], struct form form, size_t number)
{
    (void) snprintf(text, 64, "%s%zu%s", form.before, number, form.after);
}

/* A level of `n` values of that form. */
static struct wr_rules *level_of(size_t n, struct form form)
{
    const size_t size = 64 + n * 128;
    char *const text = malloc(size);
    size_t len = 0;

    WR_ASSERT(text != NULL);
    len += (size_t) snprintf(text, size, "domain: d\ndescriptors:\n");
    for (size_t i = 0; i < n; i++) {
        char value[64];

        fill(value, form, i);
        len += (size_t) snprintf(text + len, size - len,
                                 "  - {key: k, value: '%s', rate_limit: {unit: day}}\n", value);
    }

    struct wr_rules *const rules = wr_rules_of_text(text);

    free(text);
    return rules;
}

/* Nanoseconds a match of values of that form, spread over the level. */
static double match_ns(struct wr_rules *rules, size_t n, struct form form, bool is_found)
{
    enum { VALUES = 256 };
    char values[VALUES][64];
    struct wr_entry entries[VALUES];
    const struct wr_domain *const domain = wr_rules_domain(rules, wr_str_of("d"));
    size_t n_found = 0;

    for (size_t i = 0; i < VALUES; i++) {
        fill(values[i], form, i * 7919 % n);
        entries[i] = (struct wr_entry){.key = WR_STR("k"), .value = wr_str_of(values[i])};
    }

    const double begin = now_s();

    for (size_t i = 0; i < MATCHES; i++) {
        n_found += wr_domain_match(domain, &entries[i % VALUES], 1) != NULL;
    }

    const double end = now_s();

    WR_ASSERT(n_found == (is_found ? MATCHES : 0));
    return (end - begin) * 1e9 / MATCHES;
}

static void bench_level(const char *what, struct form rule, struct form value, size_t few,
                        size_t many, bool is_found)
{
    struct wr_rules *const small = level_of(few, rule), *const large = level_of(many, rule);
    const double a = match_ns(small, few, value, is_found);
    const double b = match_ns(large, many, value, is_found);

    printf("%-32s %6zu: %6.1f ns, %6zu: %6.1f ns, ratio %.2f\n", what, few, a, many, b, b / a);
    wr_rules_release(small);
    wr_rules_release(large);
}

int main(void)
{
    bench_reload();
    bench_level("exact values", (struct form){"value-", ""}, (struct form){"value-", ""}, 10,
                100000, true);
    bench_level("exact values, none fits", (struct form){"value-", ""}, (struct form){"other-", ""},
                10, 100000, false);
    bench_level("prefixes", (struct form){"/service-", "/*"}, (struct form){"/service-", "/items"},
                10, 1000, true);
    bench_level("prefixes, none fits", (struct form){"/service-", "/*"},
                (struct form){"/nothing-", "/items"}, 10, 1000, false);
    bench_level("middles of own prefixes", (struct form){"/s-", "/*/x"},
                (struct form){"/s-", "/abc/x"}, 10, 1000, true);
    bench_level("suffixes", (struct form){"*.host-", ""}, (struct form){"www.host-", ""}, 10, 1000,
                true);
    bench_level("suffixes, none fits", (struct form){"*.host-", ""},
                (struct form){"www.other-", ""}, 10, 1000, false);
    bench_level("pieces in the middle", (struct form){"*/part-", "/*"},
                (struct form){"a/part-", "/b"}, 10, 1000, true);
    return EXIT_SUCCESS;
}
