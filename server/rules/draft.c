/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/draft.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "limit/unit.h"
#include "rules/check.h"
#include "rules/draft_order.h"
#include "rules/limit_check.h"
#include "rules/rule_path.h"
#include "rules/wildcard.h"

#define HINT_SIZE 256
#define PLACE_SIZE 512

/* A rule, the draft it is from, and its place in the order of declaration. */
struct sibling {
    const struct wr_draft_rule *rule;
    struct wr_draft *draft;
    size_t index;
};

static void out_of_memory(struct wr_check *check, struct wr_draft *draft)
{
    const struct wr_check_subject subject = {.draft = draft, .place = {.file = draft->source}};

    draft->lacks_memory = true;
    wr_check_error(check, &subject, NULL, "out of memory");
}

static int compare_siblings(const void *a, const void *b)
{
    const struct sibling *const x = a, *const y = b;
    const int keys = wr_str_compare(x->rule->key, y->rule->key);

    if (keys != 0) {
        return keys;
    }

    const int values = wr_str_compare(x->rule->value, y->rule->value);

    return values != 0 ? values : (x->index > y->index) - (x->index < y->index);
}

static bool is_same_pair(const struct wr_draft_rule *a, const struct wr_draft_rule *b)
{
    return wr_str_equal(a->key, b->key) && wr_str_equal(a->value, b->value);
}

/* Who writes a pair twice with two limits means both of them. */
static void write_join_hint(const struct wr_draft_rule *first, const struct wr_draft_rule *again,
                            char hint[HINT_SIZE])
{
    const enum wr_unit units[] = {wr_unit_of_name(first->limit.unit),
                                  wr_unit_of_name(again->limit.unit)};

    if (first->has_limit && again->has_limit && units[0] != WR_UNIT_UNKNOWN &&
        units[1] != WR_UNIT_UNKNOWN && units[0] != units[1]) {
        (void) snprintf(hint, HINT_SIZE,
                        "several limits of one rule stand in a list, as in `limits: [{unit: %s, "
                        "requests_per_unit: %" PRIu32 "}, {unit: %s, requests_per_unit: %" PRIu32
                        "}]`",
                        wr_unit_name(units[0]), first->limit.requests_per_unit,
                        wr_unit_name(units[1]), again->limit.requests_per_unit);
        return;
    }
    (void) snprintf(hint, HINT_SIZE,
                    "join the two into one rule, %stheir `descriptors` into one list of children",
                    wr_draft_limits_of(first).n > 0 && wr_draft_limits_of(again).n > 0
                        ? "their limits into one list of `limits`, and "
                        : "and ");
}

static void add_duplicate(struct wr_check *check, const struct wr_rule_path *parent,
                          const struct wr_draft_rule *first, const struct sibling *again)
{
    const struct wr_draft_rule *const rule = again->rule;
    const struct wr_rule_path path = {.parent = parent, .key = rule->key, .value = rule->value};
    const struct wr_check_subject subject = {
        .draft = again->draft, .place = rule->place, .path = &path};

    char hint[HINT_SIZE], where[PLACE_SIZE];

    write_join_hint(first, rule, hint);
    wr_place_format(&first->place, where, sizeof where);
    wr_check_error(check, &subject, hint, "key `%.*s` with %s%.*s%s is already defined at %s",
                   wr_check_shown(rule->key), rule->key.ptr,
                   rule->value.len == 0 ? "no value" : "value `", wr_check_shown(rule->value),
                   rule->value.len == 0 ? "" : rule->value.ptr, rule->value.len == 0 ? "" : "`",
                   where);
}

/* Notes each pair of `siblings`, which are sorted here, that stands there a second time: within one
 * draft, or, when `across`, in different ones. */
static void check_duplicates(struct wr_check *check, const struct wr_rule_path *parent,
                             struct sibling *siblings, size_t n, bool across)
{
    size_t first = 0;

    qsort(siblings, n, sizeof *siblings, compare_siblings);
    for (size_t i = 1; i < n; i++) {
        if (!is_same_pair(siblings[first].rule, siblings[i].rule)) {
            first = i;
        } else if (siblings[i].rule->key.len > 0 &&
                   across == (siblings[i].draft != siblings[i - 1].draft)) {
            add_duplicate(check, parent, siblings[first].rule, &siblings[i]);
        }
    }
}

static void check_rules(struct wr_check *check, struct wr_draft *draft,
                        const struct wr_draft_rule *rules, size_t n,
                        const struct wr_rule_path *path);

static void check_limits(struct wr_check *check, const struct wr_check_subject *of_rule,
                         const struct wr_draft_rule *rule)
{
    struct wr_check_subject of_layers = *of_rule;

    of_layers.place = rule->layers_place;
    if (rule->has_limit && rule->n_layers > 0) {
        wr_check_error(check, &of_layers, "move the one into the list of the other",
                       "`limits` must not stand beside `rate_limit`");
        return;
    }
    if (rule->n_layers > WR_LAYERS_MAX) {
        wr_check_error(check, &of_layers, "split them over several descriptors of the request",
                       "more than %d `limits`", WR_LAYERS_MAX);
        return;
    }

    const struct wr_draft_limits limits = wr_draft_limits_of(rule);

    for (size_t i = 0; i < limits.n; i++) {
        wr_limit_check(check, of_rule, &limits, i);
    }
}

static void check_group_ip(struct wr_check *check, const struct wr_check_subject *of_rule,
                           const struct wr_draft_rule *rule)
{
    const struct {
        const char *name;
        const struct wr_draft_number *bits;
        uint32_t max;
    } rows[] = {{"ipv4", &rule->ipv4_bits, 32}, {"ipv6", &rule->ipv6_bits, 128}};
    struct wr_check_subject of_group = *of_rule;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        of_group.place = rows[i].bits->place;
        if (rows[i].bits->number > rows[i].max) {
            wr_check_error(check, &of_group, "how many bits of the address are the prefix",
                           "`%s` must be a number from 0 to %u, not %u", rows[i].name, rows[i].max,
                           rows[i].bits->number);
        }
    }
    of_group.place = rule->group_ip_place;
    if (rule->has_share_threshold) {
        wr_check_error(check, &of_group, "remove one of the two",
                       "`group_ip` must not stand beside `share_threshold`");
    } else if (rule->value.len > 0 && !wr_wildcard_is(rule->value)) {
        wr_check_warn(check, &of_group, "remove it, or `value`",
                      "`group_ip` has no effect on a rule for one value");
    }
}

static void check_stars(struct wr_check *check, const struct wr_check_subject *of_rule,
                        const char *name, struct wr_str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        n += text.ptr[i] == '*';
    }
    if (n > WR_STARS_MAX) {
        wr_check_error(check, of_rule, "one `*` stands for as much as several side by side",
                       "`%s` has %zu `*`, more than %d", name, n, WR_STARS_MAX);
    }
}

/* Recursion is as deep as rules are nested, which whoever makes drafts bounds. */
static void check_rule(struct wr_check *check, struct wr_draft *draft,
                       const struct wr_draft_rule *rules, size_t index,
                       const struct wr_rule_path *parent)
{
    const struct wr_draft_rule *const rule = &rules[index];
    const struct wr_rule_path path = {
        .parent = parent, .number = index + 1, .key = rule->key, .value = rule->value};
    const struct wr_check_subject subject = {.draft = draft, .place = rule->place, .path = &path};

    if (!rule->is_broken) {
        if (rule->key.len == 0) {
            wr_check_error(check, &subject, "as in `- key: user`", "a descriptor has no `key`");
        }
        check_stars(check, &subject, "key", rule->key);
        check_stars(check, &subject, "value", rule->value);
        check_limits(check, &subject, rule);
        if (rule->has_share_threshold && !wr_wildcard_is(rule->key) &&
            !wr_wildcard_is(rule->value)) {
            wr_check_error(check, &subject, "as in `value: \"docs/*\"`",
                           "`share_threshold` needs a `*` in `value`");
        }
        if (rule->has_group_ip) {
            check_group_ip(check, &subject, rule);
        }
    }
    check_rules(check, draft, rule->children, rule->n_children, &path);
}

static void check_rules(struct wr_check *check, struct wr_draft *draft,
                        const struct wr_draft_rule *rules, size_t n,
                        const struct wr_rule_path *path)
{
    struct sibling *const siblings = malloc((n + 1) * sizeof *siblings);

    if (siblings == NULL) {
        out_of_memory(check, draft);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        siblings[i] = (struct sibling){.rule = &rules[i], .draft = draft, .index = i};
    }
    check_duplicates(check, path, siblings, n, false);
    free(siblings);
    for (size_t i = 0; i < n; i++) {
        check_rule(check, draft, rules, i, path);
    }
}

void wr_draft_check(struct wr_draft *draft, int64_t min_window_us, struct wr_diag *diag)
{
    const struct wr_rule_path path = {.key = draft->domain};
    const struct wr_check_subject subject = {.draft = draft, .place = draft->place};
    struct wr_check check = {.diag = diag, .min_window_us = min_window_us};

    if (draft->is_broken) {
        return;
    }
    if (draft->domain.len == 0 && draft->place.spot != NULL) {
        wr_check_error(&check, &subject, NULL, "the resource has no `domain`");
    } else if (draft->domain.len == 0) {
        wr_check_error(&check, &subject, "begin with `domain: NAME`", "the file has no `domain`");
    }
    check_rules(&check, draft, draft->rules, draft->n_rules, &path);
}

static void refuse_domain(struct wr_check *check, const struct wr_draft *first,
                          struct wr_draft *again)
{
    const struct wr_check_subject subject = {.draft = again, .place = again->place};
    char where[PLACE_SIZE];

    wr_place_format(&first->place, where, sizeof where);
    wr_check_error(check, &subject,
                   again->place.spot == NULL ? "join the files, or set --merge-domain-config"
                                             : "join the resources, or set --merge-domain-config",
                   "domain `%.*s` has its rules already, at %s", wr_check_shown(again->domain),
                   again->domain.ptr, where);
}

/* The top levels of `n` drafts of one domain against each other. */
static void compare_tops(struct wr_check *check, const struct wr_draft_place *drafts, size_t n)
{
    const struct wr_rule_path path = {.key = drafts[0].draft->domain};
    size_t n_siblings = 0;

    for (size_t i = 0; i < n; i++) {
        n_siblings += drafts[i].draft->n_rules;
    }

    struct sibling *const siblings = malloc((n_siblings + 1) * sizeof *siblings);
    size_t k = 0;

    if (siblings == NULL) {
        out_of_memory(check, drafts[0].draft);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        struct wr_draft *const draft = drafts[i].draft;

        for (size_t r = 0; r < draft->n_rules; r++, k++) {
            siblings[k] = (struct sibling){.rule = &draft->rules[r], .draft = draft, .index = k};
        }
    }
    check_duplicates(check, &path, siblings, n_siblings, true);
    free(siblings);
}

/* The counts of `n` drafts of one domain against the first of them. */
static void compare_counts(struct wr_check *check, const struct wr_draft_place *drafts, size_t n)
{
    const struct wr_draft *first = NULL;

    for (size_t i = 0; i < n; i++) {
        struct wr_draft *const draft = drafts[i].draft;
        const struct wr_check_subject subject = {.draft = draft, .place = draft->count_place};
        char where[PLACE_SIZE];

        if (!draft->policy.has_count) {
            continue;
        }
        if (first == NULL) {
            first = draft;
        } else if (draft->policy.count != first->policy.count) {
            wr_place_format(&first->count_place, where, sizeof where);
            wr_check_error(
                check, &subject, "one domain has one `count`, in one or in all of its files",
                "domain `%.*s` has `count: %s` already, at %s", wr_check_shown(draft->domain),
                draft->domain.ptr, wr_count_name(first->policy.count), where);
        }
    }
}

/* `n` drafts of one domain, more than one. */
static void compare_domain(struct wr_check *check, const struct wr_draft_place *drafts, size_t n,
                           bool merges_domains)
{
    if (merges_domains) {
        compare_counts(check, drafts, n);
        compare_tops(check, drafts, n);
        return;
    }
    for (size_t i = 1; i < n && drafts[0].draft->domain.len > 0; i++) {
        refuse_domain(check, drafts[0].draft, drafts[i].draft);
    }
}

void wr_drafts_compare(struct wr_draft *const *drafts, size_t n, bool merges_domains,
                       struct wr_diag *diag)
{
    struct wr_check check = {.diag = diag};
    size_t n_places = 0;
    struct wr_draft_place *const places = wr_draft_order_of(drafts, n, &n_places);

    if (places == NULL) {
        for (size_t i = 0; i < n; i++) {
            out_of_memory(&check, drafts[i]);
        }
        return;
    }
    for (size_t i = 0; i < n_places;) {
        const size_t count = wr_draft_order_count(&places[i], n_places - i);

        if (count > 1) {
            compare_domain(&check, &places[i], count, merges_domains);
        }
        i += count;
    }
    free(places);
}
