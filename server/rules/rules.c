/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/rules.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
#include "rules/pair_table.h"
#include "rules/tree.h"

#define FIRST_CHUNK_SIZE 4096

struct wr_domain {
    struct wr_str name;
    const struct wr_hash_key *hash_key; /* of the snapshot */
    struct wr_tree_level top;
    enum wr_count count;
    bool is_group;
};

struct wr_rules {
    _Atomic size_t n_references;
    struct wr_arena arena; /* of everything below */
    struct wr_hash_key hash_key;
    struct wr_pair_table domains; /* (name, "") */
    size_t n_domains, n_limits;
    bool has_bookings;
    struct wr_trial trial; /* the first of these; without a place: none */
    struct wr_bound bound;
};

/* A draft in force and its place among all, for a stable order. */
struct source {
    const struct wr_draft *draft;
    size_t index;
};

static int compare_sources(const void *a, const void *b)
{
    const struct source *const x = a, *const y = b;
    const int domains = wr_str_compare(x->draft->domain, y->draft->domain);

    return domains != 0 ? domains : (x->index > y->index) - (x->index < y->index);
}

/* The drafts that are not refused, those of one domain side by side, in `arena`. */
static struct source *sort_sources(struct wr_arena *arena, struct wr_draft *const *drafts, size_t n,
                                   size_t *out_n)
{
    struct source *const sources = wr_arena_calloc(arena, n, sizeof *sources);

    *out_n = 0;
    if (sources == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < n; i++) {
        if (!drafts[i]->is_refused) {
            sources[(*out_n)++] = (struct source){.draft = drafts[i], .index = i};
        }
    }
    qsort(sources, *out_n, sizeof *sources, compare_sources);
    return sources;
}

/* How many of `n` sorted sources, from the first, are of its domain. */
static size_t count_of_domain(const struct source *sources, size_t n)
{
    size_t count = 1;

    while (count < n && wr_str_equal(sources[count].draft->domain, sources[0].draft->domain)) {
        count++;
    }
    return count;
}

/* The rules of `n` drafts of one domain, one after the other, in `arena`. */
static const struct wr_draft_rule **join_rules(struct wr_arena *arena, const struct source *sources,
                                               size_t n, size_t *out_n)
{
    size_t n_rules = 0;

    for (size_t i = 0; i < n; i++) {
        n_rules += sources[i].draft->n_rules;
    }

    const struct wr_draft_rule **const rules = wr_arena_calloc(arena, n_rules, sizeof *rules);

    *out_n = 0;
    for (size_t i = 0; rules != NULL && i < n; i++) {
        for (size_t k = 0; k < sources[i].draft->n_rules; k++) {
            rules[(*out_n)++] = &sources[i].draft->rules[k];
        }
    }
    return rules;
}

/* Whether one of `n` checked drafts of one domain has a count: those that have one have the same.
 */
static bool is_count_said(const struct source *sources, size_t n, enum wr_count *out_count)
{
    for (size_t i = 0; i < n; i++) {
        if (sources[i].draft->policy.has_count) {
            *out_count = sources[i].draft->policy.count;
            return true;
        }
    }
    return false;
}

/* A quota that is over refuses its request unless another one has room. */
static void keep_trial(struct wr_rules *rules, const struct wr_tree_builder *builder)
{
    if (rules->trial.where.len == 0) {
        rules->trial =
            builder->trial.is_shadow || builder->n_quotas > 1 ? builder->trial : builder->shadow;
    }
}

static bool add_domain(struct wr_rules *rules, struct wr_arena *scratch, struct wr_zone_set *zones,
                       const struct source *sources, size_t n)
{
    struct wr_tree_builder builder = {
        .arena = &rules->arena, .hash_key = &rules->hash_key, .zones = zones};
    struct wr_domain *const domain = wr_arena_calloc(&rules->arena, 1, sizeof *domain);
    size_t n_rules;
    const struct wr_draft_rule **const all = join_rules(scratch, sources, n, &n_rules);

    if (domain == NULL || all == NULL ||
        !wr_arena_copy(&rules->arena, sources[0].draft->domain, &domain->name)) {
        return false;
    }
    domain->hash_key = &rules->hash_key;
    builder.has_count = is_count_said(sources, n, &builder.count);
    domain->count = builder.count;

    const struct wr_rule_path path = {.key = domain->name};

    if (!wr_tree_build(&builder, &path, NULL, all, n_rules, &domain->top)) {
        return false;
    }
    domain->is_group = builder.has_group || domain->count == WR_COUNT_ALL_OR_NOTHING;
    rules->has_bookings |= builder.has_bookings;
    keep_trial(rules, &builder);
    if (rules->bound.where.len == 0) {
        rules->bound = builder.bound;
    }
    rules->n_limits += builder.n_limits;
    rules->n_domains++;
    wr_pair_table_add(&rules->domains, wr_pair_hash_first(&rules->hash_key, domain->name),
                      domain->name, (struct wr_str){0}, domain);
    return true;
}

static bool add_domains(struct wr_rules *rules, struct wr_arena *scratch,
                        struct wr_draft *const *drafts, size_t n)
{
    size_t n_sources;
    const struct source *const sources = sort_sources(scratch, drafts, n, &n_sources);
    struct wr_zone_set zones = {.arena = &rules->arena};

    if (sources == NULL || !wr_pair_table_init(&rules->domains, &rules->arena, n_sources)) {
        return false;
    }
    for (size_t i = 0; i < n_sources;) {
        const size_t count = count_of_domain(&sources[i], n_sources - i);

        if (!add_domain(rules, scratch, &zones, &sources[i], count)) {
            return false;
        }
        i += count;
    }
    return true;
}

enum wr_err wr_rules_new(struct wr_draft *const *drafts, size_t n, struct wr_rules **out_rules)
{
    struct wr_rules *rules = calloc(1, sizeof *rules);

    if (rules == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    atomic_init(&rules->n_references, 1);
    wr_arena_init(&rules->arena, FIRST_CHUNK_SIZE);

    struct wr_arena scratch;

    wr_arena_init(&scratch, FIRST_CHUNK_SIZE);

    enum wr_err err = wr_hash_key_draw(&rules->hash_key);

    if (err == WR_OK && !add_domains(rules, &scratch, drafts, n)) {
        err = WR_ERR_NO_MEMORY;
    }
    wr_arena_fini(&scratch);
    if (err != WR_OK) {
        wr_rules_release(rules);
        return err;
    }
    *out_rules = rules;
    return WR_OK;
}

struct wr_rules *wr_rules_acquire(struct wr_rules *rules)
{
    /* Whoever acquires holds a reference already, so nothing has to be ordered. */
    const size_t before = atomic_fetch_add_explicit(&rules->n_references, 1, memory_order_relaxed);

    WR_ASSERT(before > 0);
    return rules;
}

void wr_rules_release(struct wr_rules *rules)
{
    /* Release: our reads of the snapshot come before. Acquire: the last one frees after all. */
    if (rules == NULL ||
        atomic_fetch_sub_explicit(&rules->n_references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    wr_arena_fini(&rules->arena);
    free(rules);
}

size_t wr_rules_domain_count(const struct wr_rules *rules)
{
    return rules->n_domains;
}

size_t wr_rules_limit_count(const struct wr_rules *rules)
{
    return rules->n_limits;
}

bool wr_rules_have_bookings(const struct wr_rules *rules)
{
    return rules->has_bookings;
}

const struct wr_trial *wr_rules_first_trial(const struct wr_rules *rules)
{
    return rules->trial.where.len > 0 ? &rules->trial : NULL;
}

const struct wr_bound *wr_rules_first_bound(const struct wr_rules *rules)
{
    return rules->bound.where.len > 0 ? &rules->bound : NULL;
}

enum wr_count wr_domain_count(const struct wr_domain *domain)
{
    return domain->count;
}

bool wr_domain_is_group(const struct wr_domain *domain)
{
    return domain->is_group;
}

const struct wr_domain *wr_rules_domain(const struct wr_rules *rules, struct wr_str name)
{
    return wr_pair_table_find(&rules->domains, wr_pair_hash_first(&rules->hash_key, name), name,
                              (struct wr_str){0});
}

const struct wr_node *wr_domain_match(const struct wr_domain *domain,
                                      const struct wr_entry *entries, size_t n)
{
    size_t n_matched;
    const struct wr_node *const node = wr_domain_reach(domain, entries, n, &n_matched);

    return n_matched == n ? node : NULL;
}

const struct wr_node *wr_domain_reach(const struct wr_domain *domain,
                                      const struct wr_entry *entries, size_t n,
                                      size_t *out_n_matched)
{
    return wr_tree_reach(&domain->top, domain->hash_key, entries, n, out_n_matched);
}
