/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules reloaded from files while workers match in them: each worker sees snapshots that are whole,
 * and never an older one behind a newer one. The reloads go through all that a server's go through,
 * but the time to settle. Memory after the last is that after the first few.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "rules/current.h"
#include "rules/rule_set.h"
#include "tests/stress/crew.h"

enum {
    WORKERS = 2,
    RELOADS = 10000,
    WARM_UP = 500,
    SLACK_BYTES = 64 * 1024,
    RULES = 5,
};

struct shared {
    struct wr_current_rules current;
    struct wr_load_options options;
    char directory[64];
    _Atomic bool is_over; /* relaxed: only ends the workers */
    _Atomic uint64_t matches;
    size_t warm_bytes, end_bytes;
};

/* File `name` with all limits at `number`, renamed into place. */
static void write_file(const struct shared *shared, const char *name, const char *domain,
                       unsigned number)
{
    char path[128], fresh[128];

    (void) snprintf(path, sizeof path, "%s/%s", shared->directory, name);
    (void) snprintf(fresh, sizeof fresh, "%s/.new", shared->directory);

    FILE *const out = fopen(fresh, "w");

    wr_check(out != NULL, "%s cannot be written", fresh);
    fprintf(out, "domain: %s\ndescriptors:\n", domain);
    for (unsigned i = 0; i < RULES; i++) {
        fprintf(out,
                "  - {key: k, value: 'v%u*', rate_limit: {unit: day, requests_per_unit: %u}}\n", i,
                number);
    }
    wr_check(fclose(out) == 0 && rename(fresh, path) == 0, "%s cannot be written", path);
}

/* The limit that each rule of the domain has; they must all be the same. */
static uint64_t limit_of(const struct wr_domain *domain)
{
    uint64_t limit = 0;

    for (unsigned i = 0; i < RULES; i++) {
        char value[16];
        const int len = snprintf(value, sizeof value, "v%ux", i);
        const struct wr_entry entry = {.key = WR_STR("k"),
                                       .value = {.ptr = value, .len = (size_t) len}};
        const struct wr_node *const node = wr_domain_match(domain, &entry, 1);

        wr_check(node != NULL && node->n_rules > 0, "rule %u is missing", i);
        wr_check(i == 0 || node->rules->limit.requests == limit, "a snapshot of two halves");
        limit = node->rules->limit.requests;
    }
    return limit;
}

static void match(struct shared *shared)
{
    static const struct wr_str name = WR_STR("d");
    struct wr_rules_view view = {0};
    uint64_t last = 0, matches = 0;

    while (!atomic_load_explicit(&shared->is_over, memory_order_relaxed)) {
        const struct wr_rules *const rules = wr_rules_view_renew(&view, &shared->current);
        const struct wr_domain *const domain = rules == NULL ? NULL : wr_rules_domain(rules, name);

        wr_check(domain != NULL, "the domain is missing");

        const uint64_t limit = limit_of(domain);

        wr_check(limit >= last, "limit %" PRIu64 " behind %" PRIu64, limit, last);
        last = limit;
        matches += RULES;
    }
    atomic_fetch_add_explicit(&shared->matches, matches, memory_order_relaxed);
    wr_rules_view_fini(&view);
}

/* Reloads once; every seventh time the second file is bad. */
static void reload(struct shared *shared, struct wr_rule_set *set, unsigned number)
{
    struct wr_rule_set_change change = {0};
    struct wr_diag diag;

    wr_diag_init(&diag, 10);
    write_file(shared, "a.yaml", "d", number);
    write_file(shared, "b.yaml", number % 7 == 0 ? "d" : "e", number);
    wr_check(wr_file_set_look(&set->files, number, &diag) == WR_OK, "out of memory");
    wr_check(wr_rule_set_take(set, number, true, &diag, &change) == WR_OK, "out of memory");
    wr_check(change.rules != NULL, "reload %u made no snapshot", number);
    wr_check(change.n_refused == (number % 7 == 0), "%zu files refused", change.n_refused);
    wr_current_rules_publish(&shared->current, &change.rules);
    wr_diag_fini(&diag);
}

/* Of a sanitizer's allocator, where there is one in place of the C library's. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t bytes_in_use(void)
{
    return __sanitizer_get_current_allocated_bytes != NULL
               ? __sanitizer_get_current_allocated_bytes()
               : mallinfo2().uordblks;
}

static void run(size_t number, void *context)
{
    struct shared *const shared = context;

    if (number < WORKERS) {
        match(shared);
        return;
    }

    struct wr_rule_set set;

    wr_check(wr_rule_set_init(&set, &shared->options, NULL) == WR_OK, "no rule set");
    for (unsigned i = 2; i <= RELOADS; i++) {
        reload(shared, &set, i);
        if (i == WARM_UP) {
            shared->warm_bytes = bytes_in_use();
        }
    }
    shared->end_bytes = bytes_in_use();
    atomic_store_explicit(&shared->is_over, true, memory_order_relaxed);
    wr_rule_set_fini(&set);
}

/* One reload before the workers begin, so that they find rules. */
static void prepare(struct shared *shared)
{
    struct wr_rule_set set;

    wr_check(wr_rule_set_init(&set, &shared->options, NULL) == WR_OK, "no rule set");
    reload(shared, &set, 1);
    wr_rule_set_fini(&set);
}

static void remove_file(const struct shared *shared, const char *name)
{
    char path[128];

    (void) snprintf(path, sizeof path, "%s/%s", shared->directory, name);
    wr_check(unlink(path) == 0, "%s cannot be removed", path);
}

int main(void)
{
    struct shared shared = {.directory = "/tmp/weir_reload_XXXXXX"};
    const char *const paths[] = {shared.directory};

    shared.options = (struct wr_load_options){
        .paths = paths,
        .n_paths = 1,
        .bounds = {.max_file_bytes = 1 << 20, .max_depth = 64, .max_nodes = 100000},
    };
    wr_check(mkdtemp(shared.directory) != NULL, "no directory");
    wr_current_rules_init(&shared.current);
    prepare(&shared);
    wr_crew_run(WORKERS + 1, run, &shared);

    const uint64_t matches = atomic_load_explicit(&shared.matches, memory_order_relaxed);

    wr_check(matches > RELOADS, "only %" PRIu64 " matches", matches);
    /* What is in use depends on which look was last; a leak of eight bytes a reload would be over.
     */
    wr_check(shared.warm_bytes > 0 && shared.end_bytes < shared.warm_bytes + SLACK_BYTES,
             "%zu bytes in use after %d reloads, %zu after %d", shared.end_bytes, RELOADS,
             shared.warm_bytes, WARM_UP);
    wr_current_rules_fini(&shared.current);
    remove_file(&shared, "a.yaml");
    remove_file(&shared, "b.yaml");
    wr_check(rmdir(shared.directory) == 0, "the directory cannot be removed");
    printf("rules_reload: %d reloads, %" PRIu64
           " matches by %d workers, all in whole snapshots; %zu "
           "bytes in use after %d, %zu at the end\n",
           RELOADS, matches, WORKERS, shared.warm_bytes, WARM_UP, shared.end_bytes);
    return EXIT_SUCCESS;
}
