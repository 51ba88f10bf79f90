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
    size_t index, begin; /* of its draft's members */
};

enum color {
    COLOR_NEW,
    COLOR_OPEN, /* on the way to where the search is */
    COLOR_DONE,
};

/* What is known of the limits of one name. */
struct name {
    enum color color;
    bool is_enforced;        /* one of them refuses somebody */
    bool is_enforced_by_own; /* of the first of its draft: one of that draft does */
    size_t step;             /* while it is open: its own among the steps */
};

/* A name on the way, and what of its limits comes next. */
struct step {
    size_t name; /* of its first member */
    size_t member, entry;
    bool has_warned; /* of that member */
    size_t run;      /* from there on all members of the steps before are of one draft */
};

/* All members, by name; those of one name follow each other, and the first stands for it. */
struct members {
    const struct wr_doubt_pass *pass;
    struct member *all;
    size_t n, begin;    /* of the draft that is collected */
    struct name *names; /* of each first */
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
                                                           .index = members->n,
                                                           .begin = members->begin};
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

/* The first member of that name from an index on, or what comes behind. */
static size_t find_from(const struct members *members, struct wr_str name, size_t index)
{
    const struct member wanted = {.name = name, .index = index};
    size_t low = 0, high = members->n; /* all before low are less than what is wanted */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_members(&members->all[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The first member of that name; n when there is none. */
static size_t find(const struct members *members, struct wr_str name)
{
    const size_t low = find_from(members, name, 0);

    return low < members->n && wr_str_equal(members->all[low].name, name) ? low : members->n;
}

static bool is_of(const struct members *members, size_t i, size_t first)
{
    return i < members->n && wr_str_equal(members->all[i].name, members->all[first].name);
}

static void note_enforced(struct members *members)
{
    for (size_t i = 0, first = 0, own = 0; i < members->n; i++) {
        const struct member *const member = &members->all[i];

        if (!is_of(members, i, first)) {
            first = own = i;
        } else if (member->draft != members->all[own].draft) {
            own = i;
        }
        if (!member->rule->is_shadow && !member->limit->is_unlimited) {
            members->names[first].is_enforced = true;
            members->names[own].is_enforced_by_own = true;
        }
    }
}

/* Whether one of the limits of a name refuses anybody, and it takes as many drafts to say so as
 * are looked at: between drafts none of the own draft does. */
static bool is_enforced(const struct members *members, size_t first, const struct member *member)
{
    const size_t own = find_from(members, members->all[first].name, member->begin);

    if (is_of(members, own, first) && members->all[own].draft == member->draft &&
        members->names[own].is_enforced_by_own) {
        return !members->pass->check->is_between;
    }
    return members->names[first].is_enforced;
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
    } else if (member->rule->is_shadow && is_enforced(members, named, member)) {
        wr_check_warn(members->pass->check, &subject,
                      "leave `replaces` out for as long as there is `shadow_mode`",
                      "a rule in `shadow_mode` takes `%.*s` away, which is enforced: a request "
                      "that finds both is held to neither",
                      shown, entry->name.ptr);
    }
}

static const struct wr_draft *draft_at(const struct members *members, size_t step)
{
    return members->all[members->steps[step].member].draft;
}

/* Whether rules of several drafts make the ring. */
static bool is_mixed(const struct members *members, size_t begin)
{
    const size_t last = members->n_steps - 1;

    return begin < last && (members->steps[last].run > begin ||
                            draft_at(members, last) != draft_at(members, last - 1));
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
                      "`%.*s` and `%.*s` replace each other: a request that finds both may be "
                      "counted by neither",
                      wr_check_shown(first), first.ptr, wr_check_shown(second), second.ptr);
    } else {
        wr_check_warn(members->pass->check, &subject, hint,
                      "`%.*s`, `%.*s` and %zu more replace each other in a ring: a request that "
                      "finds all of them may be counted by none",
                      wr_check_shown(first), first.ptr, wr_check_shown(second), second.ptr, n - 2);
    }
}

static void push(struct members *members, size_t name)
{
    const size_t at = members->n_steps;
    size_t run = at == 0 ? 0 : at - 1;

    if (at > 1 && draft_at(members, at - 1) == draft_at(members, at - 2)) {
        run = members->steps[at - 1].run;
    }
    members->names[name].color = COLOR_OPEN;
    members->names[name].step = at;
    members->steps[members->n_steps++] = (struct step){.name = name, .member = name, .run = run};
}

/* Follows the next entry of the last step, or goes back by one. */
static void advance(struct members *members)
{
    struct step *const step = &members->steps[members->n_steps - 1];
    const struct member *const member = &members->all[step->member];

    if (!is_of(members, step->member, step->name)) {
        members->names[step->name].color = COLOR_DONE;
        members->n_steps--;
        return;
    }
    if (step->entry == member->limit->n_replaces) {
        step->member++;
        step->entry = 0;
        step->has_warned = false;
        return;
    }

    const struct wr_draft_replace *const entry = &member->limit->replaces[step->entry++];
    const size_t named = find(members, entry->name);

    if (named == members->n || members->names[named].color == COLOR_DONE) {
        return;
    }
    if (members->names[named].color == COLOR_NEW) {
        push(members, named);
    } else if (!step->has_warned &&
               is_mixed(members, members->names[named].step) == members->pass->check->is_between) {
        step->has_warned = true;
        warn_ring(members, members->names[named].step, member, entry);
    }
}

/* From each name along what its limits replace: who comes upon a name that is on the way has
 * gone round. A limit that closes many rings is told of once. No rule replaces itself, which
 * was refused. */
static void check_rings(struct members *members)
{
    for (size_t i = 0; i < members->n; i++) {
        if (members->all[i].name.len == 0 || members->names[i].color != COLOR_NEW ||
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
    members.names = wr_arena_calloc(pass->arena, n, sizeof *members.names);
    members.steps = wr_arena_calloc(pass->arena, n, sizeof *members.steps);
    if (members.all == NULL || members.names == NULL || members.steps == NULL) {
        return false;
    }
    for (size_t i = 0; i < pass->n_drafts; i++) {
        struct wr_draft *const draft = pass->drafts[i].draft;

        members.begin = members.n;
        if (!collect(&members, draft, draft->rules, draft->n_rules, &path)) {
            return false;
        }
    }
    qsort(members.all, members.n, sizeof *members.all, compare_members);
    note_enforced(&members);
    for (size_t i = 0; i < members.n; i++) {
        for (size_t k = 0; k < members.all[i].limit->n_replaces; k++) {
            check_entry(&members, &members.all[i], &members.all[i].limit->replaces[k]);
        }
    }
    check_rings(&members);
    return true;
}
