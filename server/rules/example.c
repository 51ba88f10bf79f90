/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/example.h"

#include <string.h>

#include "base/shown.h"
#include "rules/rules.h"

/* What stands in a text for a `*`, and for a value that may be any: what is tried in turn, since
 * rules with values of their own may go before. */
static const struct filler {
    struct wr_str star, any;
} fillers[] = {
    {WR_STR(""), WR_STR("any")},
    {WR_STR("any"), WR_STR("any-other")},
};

struct search {
    const struct wr_domain *domain;
    const struct wr_example_bounds *bounds;
    const struct filler *filler;
    struct wr_arena *arena;
    struct wr_entry *entries;
};

/* A text that the pattern matches; the pattern itself when memory is out. */
static struct wr_str fill(const struct search *search, struct wr_str pattern)
{
    const struct wr_str star = search->filler->star;
    size_t n_stars = 0, len = 0;

    for (size_t i = 0; i < pattern.len; i++) {
        n_stars += pattern.ptr[i] == '*';
    }

    char *const text =
        n_stars == 0 ? NULL : wr_arena_alloc(search->arena, pattern.len + n_stars * star.len + 1);

    if (text == NULL) {
        return pattern;
    }
    for (size_t i = 0; i < pattern.len; i++) {
        if (pattern.ptr[i] != '*') {
            text[len++] = pattern.ptr[i];
        } else if (star.len > 0) {
            memcpy(text + len, star.ptr, star.len);
            len += star.len;
        }
    }
    return (struct wr_str){.ptr = text, .len = len};
}

/* An entry has to have a key, and people expect a value. */
static struct wr_str fill_or_any(const struct search *search, struct wr_str pattern)
{
    const struct wr_str text = fill(search, pattern);

    return text.len == 0 ? search->filler->any : text;
}

static bool meets_limit(const struct search *search, size_t n)
{
    const struct wr_node *const node = wr_domain_match(search->domain, search->entries, n);

    return node != NULL && node->n_rules > 0 && !node->rules[0].is_unlimited;
}

/* Below `depth` entries; as deep as `max_entries`. */
static size_t search_below(const struct search *search, const struct wr_draft_rule *rules, size_t n,
                           size_t depth)
{
    for (size_t i = 0; i < n && depth < search->bounds->max_entries; i++) {
        const struct wr_entry entry = {.key = fill_or_any(search, rules[i].key),
                                       .value = fill_or_any(search, rules[i].value)};

        if (search->bounds->is_typed &&
            !(wr_shown_is_whole(entry.key) && wr_shown_is_whole(entry.value))) {
            continue;
        }
        search->entries[depth] = entry;
        if (wr_draft_limits_of(&rules[i]).n > 0 && meets_limit(search, depth + 1)) {
            return depth + 1;
        }

        const size_t found =
            search_below(search, rules[i].children, rules[i].n_children, depth + 1);

        if (found > 0) {
            return found;
        }
    }
    return 0;
}

size_t wr_example_find(struct wr_draft *draft, const struct wr_example_bounds *bounds,
                       struct wr_arena *arena, struct wr_entry *entries)
{
    struct wr_rules *rules;
    size_t found = 0;

    if ((bounds->is_typed && !wr_shown_is_whole(draft->domain)) ||
        wr_rules_new(&draft, 1, &rules) != WR_OK) {
        return 0;
    }

    struct search search = {.domain = wr_rules_domain(rules, draft->domain),
                            .bounds = bounds,
                            .arena = arena,
                            .entries = entries};

    for (size_t i = 0; i < sizeof fillers / sizeof fillers[0] && found == 0; i++) {
        search.filler = &fillers[i];
        found = search.domain == NULL ? 0 : search_below(&search, draft->rules, draft->n_rules, 0);
    }
    wr_rules_release(rules);
    return found;
}
