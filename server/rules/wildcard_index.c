/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/wildcard_index.h"

#include <stdint.h>
#include <stdlib.h>

/*
 * What some patterns begin with, or end with. Those of a table are sorted; a suffix is read from
 * its end. The affixes that fit a text are one of them and its parents: of all that begin a text
 * the longest is the greatest that is not greater than the text, or a parent of that.
 */
struct wr_affix {
    struct wr_str text;            /* borrowed from the patterns */
    const struct wr_affix *parent; /* the longest other one of the table that begins this; NULL */
    size_t least;                  /* order of the first pattern of this and its parents */
    /* of a prefix: its suffixes */
    const struct wr_affix *suffixes;
    size_t n_suffixes;
    /* of a suffix: the patterns of both, in order */
    const struct wr_wildcard *wildcards;
    size_t n_wildcards;
};

enum side {
    SIDE_FRONT,
    SIDE_BACK,
};

/* What stands in front of the first '*', or behind the last. */
static struct wr_str affix_of(struct wr_str pattern, enum side side)
{
    size_t len = 0;

    if (side == SIDE_FRONT) {
        while (pattern.ptr[len] != '*') {
            len++;
        }
        return (struct wr_str){.ptr = pattern.ptr, .len = len};
    }
    while (pattern.ptr[pattern.len - 1 - len] != '*') {
        len++;
    }
    return (struct wr_str){.ptr = pattern.ptr + pattern.len - len, .len = len};
}

/* How many bytes two texts have in common, and in `*out_order` which one comes first. */
static size_t compare_on(struct wr_str a, struct wr_str b, enum side side, int *out_order)
{
    const size_t n = a.len < b.len ? a.len : b.len;

    for (size_t i = 0; i < n; i++) {
        const unsigned char x =
            (unsigned char) (side == SIDE_FRONT ? a.ptr[i] : a.ptr[a.len - 1 - i]);
        const unsigned char y =
            (unsigned char) (side == SIDE_FRONT ? b.ptr[i] : b.ptr[b.len - 1 - i]);

        if (x != y) {
            *out_order = x < y ? -1 : 1;
            return i;
        }
    }
    *out_order = (a.len > b.len) - (a.len < b.len);
    return n;
}

static int compare_affixes(struct wr_str a, struct wr_str b, enum side side)
{
    int order = 0;

    (void) compare_on(a, b, side, &order);
    return order;
}

/* By prefix, then by suffix, then in order of declaration. */
static int compare_wildcards(const void *a, const void *b)
{
    const struct wr_wildcard *const x = a, *const y = b;

    for (enum side side = SIDE_FRONT; side <= SIDE_BACK; side++) {
        const int order =
            compare_affixes(affix_of(x->pattern, side), affix_of(y->pattern, side), side);

        if (order != 0) {
            return order;
        }
    }
    return (x->order > y->order) - (x->order < y->order);
}

/* How many of the first of `n` sorted patterns have the affix of the first. */
static size_t count_same(const struct wr_wildcard *wildcards, size_t n, enum side side)
{
    const struct wr_str first = affix_of(wildcards[0].pattern, side);
    size_t count = 1;

    while (count < n && wr_str_equal(affix_of(wildcards[count].pattern, side), first)) {
        count++;
    }
    return count;
}

static size_t count_affixes(const struct wr_wildcard *wildcards, size_t n, enum side side)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i += count_same(&wildcards[i], n - i, side)) {
        count++;
    }
    return count;
}

static size_t least_of(const struct wr_wildcard *wildcards, size_t n)
{
    size_t least = SIZE_MAX;

    for (size_t i = 0; i < n; i++) {
        least = wildcards[i].order < least ? wildcards[i].order : least;
    }
    return least;
}

/* The longest of `last`, which stands before it in the table, and its parents that begins `text`.
 */
static const struct wr_affix *begins(const struct wr_affix *last, struct wr_str text,
                                     enum side side)
{
    if (last != NULL) {
        int order = 0;
        const size_t common = compare_on(last->text, text, side, &order);

        while (last != NULL && last->text.len > common) {
            last = last->parent;
        }
    }
    return last;
}

/* The table of the affixes of `n` sorted patterns. False when memory is out. */
static bool build(struct wr_arena *arena, const struct wr_wildcard *wildcards, size_t n,
                  enum side side, const struct wr_affix **out_affixes, size_t *out_n)
{
    const size_t n_affixes = count_affixes(wildcards, n, side);
    struct wr_affix *const affixes = wr_arena_calloc(arena, n_affixes, sizeof *affixes);

    if (affixes == NULL) {
        return false;
    }
    for (size_t i = 0, at = 0; i < n_affixes; i++) {
        struct wr_affix *const affix = &affixes[i];
        const struct wr_wildcard *const own = &wildcards[at];
        const size_t count = count_same(own, n - at, side);

        affix->text = affix_of(own->pattern, side);
        affix->parent = begins(i == 0 ? NULL : &affixes[i - 1], affix->text, side);
        affix->least = least_of(own, count);
        if (affix->parent != NULL && affix->parent->least < affix->least) {
            affix->least = affix->parent->least;
        }
        if (side == SIDE_BACK) {
            affix->wildcards = own;
            affix->n_wildcards = count;
        } else if (!build(arena, own, count, SIDE_BACK, &affix->suffixes, &affix->n_suffixes)) {
            return false;
        }
        at += count;
    }
    *out_affixes = affixes;
    *out_n = n_affixes;
    return true;
}

bool wr_wildcard_index_build(struct wr_wildcard_index *index, struct wr_arena *arena,
                             struct wr_wildcard *wildcards, size_t n)
{
    *index = (struct wr_wildcard_index){0};
    if (n > 0) {
        qsort(wildcards, n, sizeof *wildcards, compare_wildcards);
    }
    return build(arena, wildcards, n, SIDE_FRONT, &index->prefixes, &index->n);
}

/* The longest affix of a table that begins `text`; its parents begin it too. */
static const struct wr_affix *find_longest(const struct wr_affix *affixes, size_t n,
                                           struct wr_str text, enum side side)
{
    size_t low = 0, high = n; /* all before low are not greater than the text, all from high are */

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (compare_affixes(affixes[middle].text, text, side) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? NULL : begins(&affixes[low - 1], text, side);
}

/* The search in one place of the tables. */
struct search {
    struct wr_str text;
    wr_wildcard_fits_fn fits;
    const void *context;
    const struct wr_wildcard *best; /* NULL: none yet */
    size_t limit;                   /* order of the best */
};

static void search_patterns(struct search *search, const struct wr_affix *suffix)
{
    for (size_t i = 0; i < suffix->n_wildcards; i++) {
        const struct wr_wildcard *const wildcard = &suffix->wildcards[i];

        if (wildcard->order >= search->limit) {
            return;
        }
        if (search->fits(wildcard->value, search->context)) {
            search->best = wildcard;
            search->limit = wildcard->order;
            return;
        }
    }
}

const struct wr_wildcard *wr_wildcard_index_find(const struct wr_wildcard_index *index,
                                                 struct wr_str text, size_t limit,
                                                 wr_wildcard_fits_fn fits, const void *context)
{
    struct search search = {.text = text, .fits = fits, .context = context, .limit = limit};
    const struct wr_affix *prefix = find_longest(index->prefixes, index->n, text, SIDE_FRONT);

    for (; prefix != NULL && prefix->least < search.limit; prefix = prefix->parent) {
        const struct wr_affix *suffix =
            find_longest(prefix->suffixes, prefix->n_suffixes, text, SIDE_BACK);

        for (; suffix != NULL && suffix->least < search.limit; suffix = suffix->parent) {
            search_patterns(&search, suffix);
        }
    }
    return search.best;
}
