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

static struct wr_str path_text(struct check *check, const struct wr_rule_path *path)
{
    struct wr_str text = {0};

    /* A note that will not be kept needs no path. */
    if (path != NULL && check->diag->n_kept < check->diag->max_notes &&
        !wr_rule_path_write(path, &check->diag->arena, &text)) {
        check->diag->is_incomplete = true;
    }
    return text;
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
    wr_diag_add(check->diag, WR_SEVERITY_ERROR, subject->place, path_text(check, subject->path),
                hint, "%s", text);
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
    wr_diag_add(check->diag, WR_SEVERITY_WARNING, subject->place, path_text(check, subject->path),
                hint, "%s", text);
}

static void out_of_memory(struct check *check, struct wr_draft *draft)
{
    const struct subject subject = {.draft = draft, .place = {.file = draft->source}};

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

/* Notes each pair of `siblings`, which are sorted here, that stands there a second time. */
static void check_duplicates(struct check *check, const struct wr_rule_path *parent,
                             struct sibling *siblings, size_t n)
{
    size_t first = 0;

    qsort(siblings, n, sizeof *siblings, compare_siblings);
    for (size_t i = 1; i < n; i++) {
        if (!is_same_pair(siblings[first].rule, siblings[i].rule)) {
            first = i;
        } else if (siblings[i].rule->key.len > 0) {
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

static void check_children(struct check *check, struct wr_draft *draft,
                           const struct wr_draft_rule *rule, const struct wr_rule_path *path);

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
    check_children(check, draft, rule, &path);
}

static void check_children(struct check *check, struct wr_draft *draft,
                           const struct wr_draft_rule *rule, const struct wr_rule_path *path)
{
    const size_t n = rule->n_children;
    struct sibling *const siblings = malloc((n + 1) * sizeof *siblings);

    if (siblings == NULL) {
        out_of_memory(check, draft);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        siblings[i] = (struct sibling){.rule = &rule->children[i], .draft = draft, .index = i};
    }
    check_duplicates(check, path, siblings, n);
    free(siblings);
    for (size_t i = 0; i < n; i++) {
        check_rule(check, draft, &rule->children[i], path);
    }
}

static void check_draft(struct check *check, struct wr_draft *draft)
{
    const struct wr_rule_path path = {.key = draft->domain};
    const struct subject subject = {.draft = draft, .place = draft->place};

    if (draft->domain.len == 0) {
        add_error(check, &subject, "begin with `domain: NAME`", "the file has no `domain`");
    }
    for (size_t i = 0; i < draft->n_rules; i++) {
        check_rule(check, draft, &draft->rules[i], &path);
    }
}

/* Drafts side by side by domain, in their order. */
static int compare_drafts(const void *a, const void *b)
{
    const struct wr_draft *const x = *(struct wr_draft *const *) a;
    const struct wr_draft *const y = *(struct wr_draft *const *) b;
    const int domains = wr_str_compare(x->domain, y->domain);

    return domains != 0 ? domains : (x > y) - (x < y);
}

static void check_one_source(struct check *check, const struct wr_draft *first,
                             struct wr_draft *again)
{
    const struct subject subject = {.draft = again, .place = again->place};

    add_error(check, &subject, "join the files, or set --merge-domain-config",
              "domain `%.*s` has its rules already, at %.*s:%zu:%zu", shown(again->domain),
              again->domain.ptr, (int) first->place.file.len, first->place.file.ptr,
              first->place.line, first->place.column);
}

/* The top levels of `n` drafts of one domain against each other. */
static void check_top(struct check *check, struct wr_draft *const *drafts, size_t n)
{
    const struct wr_rule_path path = {.key = drafts[0]->domain};
    size_t n_siblings = 0;

    for (size_t i = 0; i < n; i++) {
        n_siblings += drafts[i]->n_rules;
    }

    struct sibling *const siblings = malloc((n_siblings + 1) * sizeof *siblings);
    size_t k = 0;

    if (siblings == NULL) {
        out_of_memory(check, drafts[0]);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t r = 0; r < drafts[i]->n_rules; r++, k++) {
            siblings[k] =
                (struct sibling){.rule = &drafts[i]->rules[r], .draft = drafts[i], .index = k};
        }
    }
    check_duplicates(check, &path, siblings, n_siblings);
    free(siblings);
}

/* `n` drafts of one domain. */
static void check_domain(struct check *check, struct wr_draft *const *drafts, size_t n,
                         bool merges_domains)
{
    if (merges_domains) {
        check_top(check, drafts, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && drafts[0]->domain.len > 0) {
            check_one_source(check, drafts[0], drafts[i]);
        }
        check_top(check, &drafts[i], 1);
    }
}

void wr_drafts_check(struct wr_draft *drafts, size_t n, bool merges_domains, struct wr_diag *diag)
{
    struct check check = {.diag = diag};
    struct wr_draft **const sorted = malloc((n + 1) * sizeof(struct wr_draft *));
    size_t n_sorted = 0;

    for (size_t i = 0; i < n; i++) {
        if (sorted == NULL) {
            out_of_memory(&check, &drafts[i]);
        } else if (!drafts[i].is_broken) {
            check_draft(&check, &drafts[i]);
            sorted[n_sorted++] = &drafts[i];
        }
    }
    if (sorted == NULL) {
        return;
    }
    qsort(sorted, n_sorted, sizeof(struct wr_draft *), compare_drafts);
    for (size_t i = 0; i < n_sorted;) {
        size_t count = 1;

        while (i + count < n_sorted && wr_str_equal(sorted[i]->domain, sorted[i + count]->domain)) {
            count++;
        }
        check_domain(&check, &sorted[i], count, merges_domains);
        i += count;
    }
    free(sorted);
}
