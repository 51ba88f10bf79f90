/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/doubts.h"

#include <stdlib.h>

#include "rules/address.h"
#include "rules/doubt_pass.h"
#include "rules/reach_check.h"
#include "rules/replace_check.h"

#define FIRST_CHUNK_SIZE 65536

static void check_number(const struct wr_doubt_pass *pass, const struct wr_check_subject *of_rule,
                         const struct wr_draft_limits *limits, size_t index)
{
    struct wr_check_subject subject = *of_rule;

    subject.place = limits->all[index].place;
    if (limits->all[index].lacks_requests && !limits->all[index].is_unlimited) {
        wr_check_warn(pass->check, &subject,
                      "write how many, `requests_per_unit: 0` if nobody is to pass",
                      "%s has no `requests_per_unit`: left out it is 0",
                      limits->is_list ? "an element of `limits`" : "`rate_limit`");
    }
}

/* Addresses that do not count as such. */
static void check_addresses(const struct wr_doubt_pass *pass,
                            const struct wr_check_subject *of_rule,
                            const struct wr_draft_rule *rule)
{
    struct wr_check_subject of_group = *of_rule;

    if (wr_address_is_prefix(rule->value)) {
        wr_check_warn(pass->check, of_rule,
                      "`group_ip` without a value counts addresses by prefix, and `10.*` is a "
                      "pattern for those that begin with it",
                      "`value: %.*s` is compared letter by letter: no address is within it",
                      wr_check_shown(rule->value), rule->value.ptr);
    }
    of_group.place = rule->group_ip_place;
    if (rule->has_group_ip && wr_draft_limits_of(rule).n == 0 && rule->n_children == 0) {
        wr_check_warn(pass->check, &of_group, "add a `rate_limit`, or remove it",
                      "`group_ip` is on a rule without a limit and without `descriptors`: it "
                      "matters to limits that requests bring along alone");
    }
}

static bool check_rules(const struct wr_doubt_pass *pass, struct wr_draft *draft,
                        const struct wr_draft_rule *rules, size_t n,
                        const struct wr_rule_path *path);

static bool check_children(const struct wr_doubt_pass *pass, struct wr_draft *draft,
                           const struct wr_draft_rule *rule, const struct wr_rule_path *path)
{
    struct wr_doubt_rule *const level =
        wr_arena_calloc(pass->arena, rule->n_children, sizeof *level);

    if (level == NULL) {
        return false;
    }
    for (size_t i = 0; i < rule->n_children; i++) {
        level[i] = (struct wr_doubt_rule){.rule = &rule->children[i], .draft = draft};
    }
    return wr_reach_check(pass, level, rule->n_children, path) &&
           check_rules(pass, draft, rule->children, rule->n_children, path);
}

/* The rules of one draft, each for itself, and the levels below them. Recursion is as deep as rules
 * are nested, which whoever makes drafts bounds. */
static bool check_rules(const struct wr_doubt_pass *pass, struct wr_draft *draft,
                        const struct wr_draft_rule *rules, size_t n,
                        const struct wr_rule_path *parent)
{
    for (size_t i = 0; i < n; i++) {
        const struct wr_rule_path path = {
            .parent = parent, .key = rules[i].key, .value = rules[i].value};
        const struct wr_check_subject subject = {
            .draft = draft, .place = rules[i].place, .path = &path};
        const struct wr_draft_limits limits = wr_draft_limits_of(&rules[i]);

        check_addresses(pass, &subject, &rules[i]);
        for (size_t k = 0; k < limits.n; k++) {
            check_number(pass, &subject, &limits, k);
        }
        if (rules[i].n_children > 0 && !check_children(pass, draft, &rules[i], &path)) {
            return false;
        }
    }
    return true;
}

/* The first level, which the drafts of a domain make together. */
static bool check_top(const struct wr_doubt_pass *pass, const struct wr_rule_path *path)
{
    size_t n = 0, k = 0;

    for (size_t i = 0; i < pass->n_drafts; i++) {
        n += pass->drafts[i].draft->n_rules;
    }

    struct wr_doubt_rule *const level = wr_arena_calloc(pass->arena, n, sizeof *level);

    if (level == NULL) {
        return false;
    }
    for (size_t i = 0; i < pass->n_drafts; i++) {
        struct wr_draft *const draft = pass->drafts[i].draft;

        for (size_t r = 0; r < draft->n_rules; r++) {
            level[k++] = (struct wr_doubt_rule){.rule = &draft->rules[r], .draft = draft};
        }
    }
    return wr_reach_check(pass, level, n, path);
}

/* The drafts of one domain against each other. */
static bool check_domain(const struct wr_doubt_pass *pass)
{
    const struct wr_rule_path path = {.key = pass->drafts[0].draft->domain};
    bool is_fresh = false;

    for (size_t i = 0; i < pass->n_drafts; i++) {
        is_fresh = is_fresh || pass->drafts[i].draft->is_fresh;
    }
    if (!is_fresh) {
        return true;
    }
    return (pass->n_drafts == 1 || check_top(pass, &path)) && wr_replace_check(pass);
}

static bool check_domains(struct wr_doubt_pass *pass, const struct wr_draft_place *places, size_t n)
{
    bool has_memory = wr_hash_key_draw(&pass->hash_key) == WR_OK;

    for (size_t i = 0; i < n && has_memory; i += pass->n_drafts) {
        pass->drafts = &places[i];
        pass->n_drafts = wr_draft_order_count(&places[i], n - i);
        has_memory = check_domain(pass);
        wr_arena_reset(pass->arena);
    }
    return has_memory;
}

bool wr_drafts_doubt(struct wr_draft *const *drafts, size_t n, struct wr_diag *diag)
{
    struct wr_check check = {.diag = diag, .is_between = true};
    struct wr_arena arena;
    size_t work = 0, n_places = 0;
    struct wr_doubt_pass pass = {
        .check = &check, .arena = &arena, .work = &work, .merges_domains = true};
    struct wr_draft_place *const places = wr_draft_order_of(drafts, n, &n_places);

    if (places == NULL) {
        return false;
    }
    wr_arena_init(&arena, FIRST_CHUNK_SIZE);

    const bool has_memory = check_domains(&pass, places, n_places);

    wr_arena_fini(&arena);
    free(places);
    return has_memory;
}

bool wr_draft_doubt(struct wr_draft *draft, bool merges_domains, struct wr_diag *diag)
{
    struct wr_check check = {.diag = diag};
    struct wr_arena arena;
    size_t work = 0;
    const struct wr_draft_place place = {.draft = draft};
    const struct wr_rule_path path = {.key = draft->domain};
    struct wr_doubt_pass pass = {.check = &check,
                                 .arena = &arena,
                                 .drafts = &place,
                                 .n_drafts = 1,
                                 .work = &work,
                                 .merges_domains = merges_domains};

    wr_arena_init(&arena, FIRST_CHUNK_SIZE);

    const bool has_memory = wr_hash_key_draw(&pass.hash_key) == WR_OK &&
                            check_rules(&pass, draft, draft->rules, draft->n_rules, &path) &&
                            check_top(&pass, &path) && wr_replace_check(&pass);

    wr_arena_fini(&arena);
    return has_memory;
}
