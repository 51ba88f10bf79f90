/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "rules/rule_path.h"
#include "rules/wildcard.h"

#define TEXT_SIZE 1024
#define SHOWN_MAX 100

struct check {
    struct wr_diag *diag;
};

/* What a note is about. */
struct subject {
    struct wr_draft *draft;
    struct wr_place place;
    const struct wr_rule_path *path; /* NULL: the file as such */
};

/* A rule, the draft it is from, and its place in the order of declaration. */
struct sibling {
    const struct wr_draft_rule *rule;
    struct wr_draft *draft;
    size_t index;
};

static int shown(struct wr_str text)
{
    return text.len > SHOWN_MAX ? SHOWN_MAX : (int) text.len;
}

__attribute__((format(printf, 4, 5))) static void add_error(struct check *check,
                                                            const struct subject *subject,
                                                            const char *hint, const char *format,
                                                            ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(text, sizeof text, format, args);
    va_end(args);
    subject->draft->is_refused = true;
    if (subject->draft->is_told) {
        return;
    }
    wr_diag_add(check->diag, WR_SEVERITY_ERROR, subject->place,
                wr_rule_path_note(subject->path, check->diag), hint, "%s", text);
}

__attribute__((format(printf, 4, 5))) static void add_warning(struct check *check,
                                                              const struct subject *subject,
                                                              const char *hint, const char *format,
                                                              ...)
{
    char text[TEXT_SIZE];
    va_list args;

    va_start(args, format);
    (void) vsnprintf(text, sizeof text, format, args);
    va_end(args);
    subject->draft->has_warning = true;
    wr_diag_add(check->diag, WR_SEVERITY_WARNING, subject->place,
                wr_rule_path_note(subject->path, check->diag), hint, "%s", text);
}

static void out_of_memory(struct check *check, struct wr_draft *draft)
{
    const struct subject subject = {.draft = draft, .place = {.file = draft->source}};

    draft->lacks_memory = true;
    add_error(check, &subject, NULL, "out of memory");
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

static void add_duplicate(struct check *check, const struct wr_rule_path *parent,
                          const struct wr_draft_rule *first, const struct sibling *again)
{
    const struct wr_draft_rule *const rule = again->rule;
    const struct wr_rule_path path = {.parent = parent, .key = rule->key, .value = rule->value};
    const struct subject subject = {.draft = again->draft, .place = rule->place, .path = &path};

    add_error(check, &subject,
              "join the two into one rule, and their `descriptors` into one list of children",
              "key `%.*s` with %s%.*s%s is already defined at %.*s:%zu:%zu", shown(rule->key),
              rule->key.ptr, rule->value.len == 0 ? "no value" : "value `", shown(rule->value),
              rule->value.len == 0 ? "" : rule->value.ptr, rule->value.len == 0 ? "" : "`",
              (int) first->place.file.len, first->place.file.ptr, first->place.line,
              first->place.column);
}

/* Notes each pair of `siblings`, which are sorted here, that stands there a second time: within one
 * draft, or, when `across`, in different ones. */
static void check_duplicates(struct check *check, const struct wr_rule_path *parent,
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

static bool needs_escape(struct wr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        const unsigned char c = (unsigned char) text.ptr[i];

        if (c < 0x20 || c == 0x7f || c == '"' || c == '\\') {
            return true;
        }
    }
    return false;
}

static void check_unit(struct check *check, const struct subject *of_limit,
                       const struct wr_draft_limit *limit)
{
    static const char units[] = "one of second, minute, hour, day, week, month, year";
    const bool is_known = wr_unit_of_name(limit->unit) != WR_UNIT_UNKNOWN;
    struct subject of_unit = *of_limit;

    if (limit->unit_place.line > 0) {
        of_unit.place = limit->unit_place;
    }
    if (limit->is_unlimited) {
        if (is_known) {
            add_error(check, &of_unit, "remove one of the two",
                      "`unit` must not stand beside `unlimited: true`");
        } else if (limit->unit.len > 0) {
            add_warning(check, &of_unit, "remove it",
                        "`unit: %.*s` beside `unlimited: true` has no effect, and is not a unit",
                        shown(limit->unit), limit->unit.ptr);
        }
    } else if (limit->unit.len == 0) {
        add_error(check, &of_unit, units, "`rate_limit` has no `unit`");
    } else if (!is_known) {
        add_error(check, &of_unit, units, "`%.*s` is not a unit", shown(limit->unit),
                  limit->unit.ptr);
    }
}

static void check_replaces(struct check *check, const struct subject *of_limit,
                           const struct wr_draft_limit *limit)
{
    for (size_t i = 0; i < limit->n_replaces; i++) {
        const struct wr_draft_replace *const replace = &limit->replaces[i];
        struct subject of_entry = *of_limit;

        of_entry.place = replace->place;
        if (replace->name.len == 0) {
            add_error(check, &of_entry, "as in `replaces: [{name: other}]`",
                      "an entry of `replaces` has no `name`");
        } else if (wr_str_equal(replace->name, limit->name)) {
            add_error(check, &of_entry, "name another rule",
                      "a rule must not replace itself, `%.*s`", shown(replace->name),
                      replace->name.ptr);
        }
    }
}

static void check_limit(struct check *check, const struct subject *of_rule,
                        const struct wr_draft_limit *limit)
{
    struct subject of_limit = *of_rule;

    of_limit.place = limit->place;
    check_unit(check, &of_limit, limit);
    check_replaces(check, &of_limit, limit);
    if (needs_escape(limit->name)) {
        add_warning(check, &of_limit, "use letters, digits, blanks and punctuation",
                    "`name` holds a quote, a backslash or a control character, which response "
                    "headers cannot show as they are");
    }
}

static void check_rules(struct check *check, struct wr_draft *draft,
                        const struct wr_draft_rule *rules, size_t n,
                        const struct wr_rule_path *path);

/* Recursion is as deep as rules are nested, which whoever makes drafts bounds. */
static void check_rule(struct check *check, struct wr_draft *draft,
                       const struct wr_draft_rule *rule, const struct wr_rule_path *parent)
{
    const struct wr_rule_path path = {.parent = parent, .key = rule->key, .value = rule->value};
    const struct subject subject = {.draft = draft, .place = rule->place, .path = &path};

    if (!rule->is_broken) {
        if (rule->key.len == 0) {
            add_error(check, &subject, "as in `- key: user`", "a descriptor has no `key`");
        }
        if (rule->has_limit) {
            check_limit(check, &subject, &rule->limit);
        }
        if (rule->has_share_threshold && !wr_wildcard_is(rule->key) &&
            !wr_wildcard_is(rule->value)) {
            add_error(check, &subject, "as in `value: \"docs/*\"`",
                      "`share_threshold` needs a `*` in `value`");
        }
    }
    check_rules(check, draft, rule->children, rule->n_children, &path);
}

static void check_rules(struct check *check, struct wr_draft *draft,
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
        check_rule(check, draft, &rules[i], path);
    }
}

void wr_draft_check(struct wr_draft *draft, struct wr_diag *diag)
{
    const struct wr_rule_path path = {.key = draft->domain};
    const struct subject subject = {.draft = draft, .place = draft->place};
    struct check check = {.diag = diag};

    if (draft->is_broken) {
        return;
    }
    if (draft->domain.len == 0) {
        add_error(&check, &subject, "begin with `domain: NAME`", "the file has no `domain`");
    }
    check_rules(&check, draft, draft->rules, draft->n_rules, &path);
}

/* A draft and its place among all. */
struct ranked {
    struct wr_draft *draft;
    size_t index;
};

/* Drafts side by side by domain, in their order. */
static int compare_ranked(const void *a, const void *b)
{
    const struct ranked *const x = a, *const y = b;
    const int domains = wr_str_compare(x->draft->domain, y->draft->domain);

    return domains != 0 ? domains : (x->index > y->index) - (x->index < y->index);
}

static void refuse_domain(struct check *check, const struct wr_draft *first, struct wr_draft *again)
{
    const struct subject subject = {.draft = again, .place = again->place};

    add_error(check, &subject, "join the files, or set --merge-domain-config",
              "domain `%.*s` has its rules already, at %.*s:%zu:%zu", shown(again->domain),
              again->domain.ptr, (int) first->place.file.len, first->place.file.ptr,
              first->place.line, first->place.column);
}

/* The top levels of `n` drafts of one domain against each other. */
static void compare_tops(struct check *check, const struct ranked *drafts, size_t n)
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
static void compare_counts(struct check *check, const struct ranked *drafts, size_t n)
{
    const struct wr_draft *first = NULL;

    for (size_t i = 0; i < n; i++) {
        struct wr_draft *const draft = drafts[i].draft;
        const struct subject subject = {.draft = draft, .place = draft->count_place};

        if (!draft->policy.has_count) {
            continue;
        }
        if (first == NULL) {
            first = draft;
        } else if (draft->policy.count != first->policy.count) {
            add_error(check, &subject, "one domain has one `count`, in one or in all of its files",
                      "domain `%.*s` has `count: %s` already, at %.*s:%zu:%zu",
                      shown(draft->domain), draft->domain.ptr, wr_count_name(first->policy.count),
                      (int) first->count_place.file.len, first->count_place.file.ptr,
                      first->count_place.line, first->count_place.column);
        }
    }
}

/* `n` drafts of one domain, more than one. */
static void compare_domain(struct check *check, const struct ranked *drafts, size_t n,
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

static size_t count_of_domain(const struct ranked *drafts, size_t n)
{
    size_t count = 1;

    while (count < n && wr_str_equal(drafts[0].draft->domain, drafts[count].draft->domain)) {
        count++;
    }
    return count;
}

void wr_drafts_compare(struct wr_draft *const *drafts, size_t n, bool merges_domains,
                       struct wr_diag *diag)
{
    struct check check = {.diag = diag};
    struct ranked *const ranked = malloc((n + 1) * sizeof *ranked);
    size_t n_ranked = 0;

    if (ranked == NULL) {
        for (size_t i = 0; i < n; i++) {
            out_of_memory(&check, drafts[i]);
        }
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (!drafts[i]->is_broken) {
            ranked[n_ranked++] = (struct ranked){.draft = drafts[i], .index = i};
        }
    }
    qsort(ranked, n_ranked, sizeof *ranked, compare_ranked);
    for (size_t i = 0; i < n_ranked;) {
        const size_t count = count_of_domain(&ranked[i], n_ranked - i);

        if (count > 1) {
            compare_domain(&check, &ranked[i], count, merges_domains);
        }
        i += count;
    }
    free(ranked);
}
