/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/replace_check.h"

#include <stdlib.h>

/* A limit that has a name, or replaces others. */
struct member {
    struct wr_str name;
    const struct wr_draft_limit *limit;
    const struct wr_draft_rule *rule;
    struct wr_draft *draft;
    const struct wr_rule_path *path;
    size_t index;
};

/* What is known of the limits of one name. */
enum color {
    COLOR_NEW,
    COLOR_OPEN, /* on the way to where the search is */
    COLOR_DONE,
};

/* A name on the way, and what of its limits comes next. */
struct step {
    size_t name; /* of its first member */
    size_t member, entry;
};

/* All members, by name; those of one name follow each other, and the first stands for it. */
struct members {
    const struct wr_doubt_pass *pass;
    struct member *all;
    size_t n;
    enum color *colors; /* of each first */
    struct step *steps;
    size_t n_steps;
};

static bool is_member(const struct wr_draft_limit *limit)
{
    return limit->name.len > 0 || limit->n_replaces > 0;
}

/* Counts members, and says whether any replaces something. Recursion is as deep as rules are
 * nested. */
static size_t count(const struct wr_draft_rule *rules, size_t n, bool *has_replaces)
{
    size_t n_members = 0;

    for (size_t i = 0; i < n; i++) {
        const struct wr_draft_limits limits = wr_draft_limits_of(&rules[i]);

        for (size_t k = 0; k < limits.n; k++) {
            n_members += is_member(&limits.all[k]);
            *has_replaces = *has_replaces || limits.all[k].n_replaces > 0;
        }
        n_members += count(rules[i].children, rules[i].n_children, has_replaces);
    }
    return n_members;
}

/* False when memory is out. Recursion as above. */
static bool collect(struct members *members, struct wr_draft *draft,
                    const struct wr_draft_rule *rules, size_t n, const struct wr_rule_path *parent)
{
    for (size_t i = 0; i < n; i++) {
        const struct wr_draft_limits limits = wr_draft_limits_of(&rules[i]);
        struct wr_rule_path *const path = wr_arena_alloc(members->pass->arena, sizeof *path);

        if (path == NULL) {
            return false;
        }
        *path =
            (struct wr_rule_path){.parent = parent, .key = rules[i].key, .value = rules[i].value};
        for (size_t k = 0; k < limits.n; k++) {
            if (is_member(&limits.all[k])) {
                members->all[members->n] = (struct member){.name = limits.all[k].name,
                                                           .limit = &limits.all[k],
                                                           .rule = &rules[i],
                                                           .draft = draft,
                                                           .path = path,
                                                           .index = members->n};
                members->n++;
            }
        }
        if (!collect(members, draft, rules[i].children, rules[i].n_children, path)) {
            return false;
        }
    }
    return true;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *const x = a, *const y = b;
    const int names = wr_str_compare(x->name, y->name);

    return names != 0 ? names : (x->index > y->index) - (x->index < y->index);
}

/* The first member of that name; n when there is none. */
static size_t find(const struct members *members, struct wr_str name)
{
    size_t low = 0, high = members->n; /* all before low are less than the name */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (wr_str_compare(members->all[middle].name, name) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < members->n && wr_str_equal(members->all[low].name, name) ? low : members->n;
}

static bool is_of(const struct members *members, size_t i, size_t first)
{
    return i < members->n && wr_str_equal(members->all[i].name, members->all[first].name);
}

/* Whether one of the limits of a name refuses anybody, and it takes as many drafts to say so as are
 * looked at: between drafts none of the own draft does. */
static bool is_enforced(const struct members *members, size_t first, const struct wr_draft *own)
{
    bool is_found = false;

    for (size_t i = first; is_of(members, i, first); i++) {
        if (!members->all[i].rule->is_shadow && !members->all[i].limit->is_unlimited) {
            if (members->all[i].draft == own) {
                return !members->pass->check->is_between;
            }
            is_found = true;
        }
    }
    return is_found;
}

/* Whether a name that is not there is to be told now: others of its domain may have it. */
static bool is_lack_known(const struct wr_doubt_pass *pass)
{
    return pass->merges_domains == pass->check->is_between;
}

static struct wr_check_subject subject_of(const struct member *member,
                                          const struct wr_draft_replace *entry)
{
    return (struct wr_check_subject){
        .draft = member->draft, .place = entry->place, .path = member->path};
}

static void check_entry(const struct members *members, const struct member *member,
                        const struct wr_draft_replace *entry)
{
    const struct wr_check_subject subject = subject_of(member, entry);
    const size_t named = find(members, entry->name);
    const int shown = wr_check_shown(entry->name);

    if (named == members->n) {
        if (!is_lack_known(members->pass)) {
            return;
        }
        wr_check_warn(members->pass->check, &subject,
                      "it is the `name` of a limit of this domain, by case",
                      "there is no limit `%.*s` to be replaced", shown, entry->name.ptr);
    } else if (member->rule->is_shadow && is_enforced(members, named, member->draft)) {
        wr_check_warn(members->pass->check, &subject,
                      "leave `replaces` out for as long as there is `shadow_mode`",
                      "a rule in `shadow_mode` takes `%.*s` away, which is enforced: a request "
                      "that finds both is held to neither",
                      shown, entry->name.ptr);
    }
}

/* Whether rules of several drafts make the ring. */
static bool is_mixed(const struct members *members, size_t begin)
{
    const struct wr_draft *const first = members->all[members->steps[begin].member].draft;

    for (size_t i = begin + 1; i < members->n_steps; i++) {
        if (members->all[members->steps[i].member].draft != first) {
            return true;
        }
    }
    return false;
}

/* The names from where the ring begins, which is on the way, to where the search is. */
static void warn_ring(const struct members *members, size_t begin, const struct member *member,
                      const struct wr_draft_replace *entry)
{
    const struct wr_check_subject subject = subject_of(member, entry);
    const size_t n = members->n_steps - begin;
    const struct wr_str first = members->all[members->steps[begin].name].name;
    const struct wr_str second = members->all[members->steps[begin + 1].name].name;
    static const char hint[] = "take one of these `replaces` out";

    if (n == 2) {
        wr_check_warn(members->pass->check, &subject, hint,
                      "`%.*s` and `%.*s` replace each other: a request that finds both is counted "
                      "by neither",
                      wr_check_shown(first), first.ptr, wr_check_shown(second), second.ptr);
    } else {
        wr_check_warn(members->pass->check, &subject, hint,
                      "`%.*s`, `%.*s` and %zu more replace each other in a ring: a request that "
                      "finds all of them is counted by none",
                      wr_check_shown(first), first.ptr, wr_check_shown(second), second.ptr, n - 2);
    }
}

static void push(struct members *members, size_t name)
{
    members->colors[name] = COLOR_OPEN;
    members->steps[members->n_steps++] = (struct step){.name = name, .member = name};
}

/* Follows the next entry of the last step, or goes back by one. */
static void advance(struct members *members)
{
    struct step *const step = &members->steps[members->n_steps - 1];
    const struct member *const member = &members->all[step->member];

    if (!is_of(members, step->member, step->name)) {
        members->colors[step->name] = COLOR_DONE;
        members->n_steps--;
        return;
    }
    if (step->entry == member->limit->n_replaces) {
        step->member++;
        step->entry = 0;
        return;
    }

    const struct wr_draft_replace *const entry = &member->limit->replaces[step->entry++];
    const size_t named = find(members, entry->name);

    if (named == members->n || members->colors[named] == COLOR_DONE) {
        return;
    }
    if (members->colors[named] == COLOR_NEW) {
        push(members, named);
        return;
    }
    for (size_t i = members->n_steps; i-- > 0;) {
        if (members->steps[i].name == named) {
            if (is_mixed(members, i) == members->pass->check->is_between) {
                warn_ring(members, i, member, entry);
            }
            return;
        }
    }
}

/* From each name along what its limits replace: who comes upon a name that is on the way has gone
 * round. No rule replaces itself, which was refused. */
static void check_rings(struct members *members)
{
    for (size_t i = 0; i < members->n; i++) {
        if (members->all[i].name.len == 0 || members->colors[i] != COLOR_NEW ||
            (i > 0 && is_of(members, i - 1, i))) {
            continue;
        }
        push(members, i);
        while (members->n_steps > 0) {
            advance(members);
        }
    }
}

bool wr_replace_check(const struct wr_doubt_pass *pass)
{
    const struct wr_rule_path path = {.key = pass->drafts[0].draft->domain};
    struct members members = {.pass = pass};
    bool has_replaces = false;
    size_t n = 0;

    for (size_t i = 0; i < pass->n_drafts; i++) {
        const struct wr_draft *const draft = pass->drafts[i].draft;

        n += count(draft->rules, draft->n_rules, &has_replaces);
    }
    if (!has_replaces) {
        return true;
    }
    members.all = wr_arena_calloc(pass->arena, n, sizeof *members.all);
    members.colors = wr_arena_calloc(pass->arena, n, sizeof *members.colors);
    members.steps = wr_arena_calloc(pass->arena, n, sizeof *members.steps);
    if (members.all == NULL || members.colors == NULL || members.steps == NULL) {
        return false;
    }
    for (size_t i = 0; i < pass->n_drafts; i++) {
        struct wr_draft *const draft = pass->drafts[i].draft;

        if (!collect(&members, draft, draft->rules, draft->n_rules, &path)) {
            return false;
        }
    }
    qsort(members.all, members.n, sizeof *members.all, compare_members);
    for (size_t i = 0; i < members.n; i++) {
        for (size_t k = 0; k < members.all[i].limit->n_replaces; k++) {
            check_entry(&members, &members.all[i], &members.all[i].limit->replaces[k]);
        }
    }
    check_rings(&members);
    return true;
}
