/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/wildcard_index.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "rules/wildcard.h"

#define PATTERNS_MAX 64
#define TEXT_MAX 12

/* The value of a pattern is its text. */
static bool fits(const void *value, const void *context)
{
    return wr_wildcard_match(*(const struct wr_str *) value, *(const struct wr_str *) context);
}

/* How often it was asked. */
static size_t n_asked;

static bool fits_counted(const void *value, const void *context)
{
    n_asked++;
    return fits(value, context);
}

/* An index of the texts, which are in order of declaration. */
static struct wr_wildcard_index index_of(struct wr_arena *arena, const struct wr_str *texts,
                                         size_t n)
{
    struct wr_wildcard *const wildcards = wr_arena_calloc(arena, n, sizeof *wildcards);
    struct wr_wildcard_index index;

    for (size_t i = 0; i < n; i++) {
        wildcards[i] = (struct wr_wildcard){.pattern = texts[i], .order = i, .value = &texts[i]};
    }
    cr_assert(wr_wildcard_index_build(&index, arena, wildcards, n));
    return index;
}

/* The order of the pattern found; n when there is none. */
static size_t find(const struct wr_wildcard_index *index, struct wr_str text, size_t limit)
{
    const struct wr_wildcard *const found = wr_wildcard_index_find(index, text, limit, fits, &text);

    return found == NULL ? PATTERNS_MAX : found->order;
}

Test(wildcard_index, the_first_in_order_of_those_that_fit)
{
    static const struct wr_str patterns[] = {
        WR_STR("abc*"), WR_STR("*c"), WR_STR("a*"), WR_STR("*"), WR_STR("ab*c"), WR_STR("abcd*"),
    };
    static const struct {
        const char *text;
        size_t limit, want;
    } rows[] = {
        {"abcx", SIZE_MAX, 0},  {"abcde", SIZE_MAX, 0}, {"abc", SIZE_MAX, 0},
        {"xc", SIZE_MAX, 1},    {"abxc", SIZE_MAX, 1},  {"abx", SIZE_MAX, 2},
        {"x", SIZE_MAX, 3},     {"", SIZE_MAX, 3},      {"abcx", 0, PATTERNS_MAX},
        {"x", 3, PATTERNS_MAX}, {"abx", 3, 2},
    };
    struct wr_arena arena;

    wr_arena_init(&arena, 4096);

    const struct wr_wildcard_index index =
        index_of(&arena, patterns, sizeof patterns / sizeof patterns[0]);

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(find(&index, wr_str_of(rows[i].text), rows[i].limit), rows[i].want, "row %zu",
                     i);
    }
    wr_arena_fini(&arena);
}

Test(wildcard_index, an_empty_index_finds_nothing)
{
    struct wr_arena arena;

    wr_arena_init(&arena, 4096);

    const struct wr_wildcard_index index = index_of(&arena, NULL, 0);

    cr_assert_eq(find(&index, wr_str_of("a"), SIZE_MAX), (size_t) PATTERNS_MAX);
    wr_arena_fini(&arena);
}

static uint64_t next(uint64_t *state)
{
    return wr_random_next(state);
}

/* A text of few letters, so that much of it fits; with a star at least when `is_pattern`. */
static struct wr_str make(uint64_t *random, char *text, bool is_pattern)
{
    const size_t len = next(random) % (TEXT_MAX + 1);
    const char *const letters = is_pattern ? "ab*" : "ab";

    for (size_t i = 0; i < len; i++) {
        text[i] = letters[next(random) % (is_pattern ? 3 : 2)];
    }
    if (is_pattern && !wr_wildcard_is((struct wr_str){.ptr = text, .len = len})) {
        text[len == 0 ? 0 : next(random) % len] = '*';
        return (struct wr_str){.ptr = text, .len = len == 0 ? 1 : len};
    }
    return (struct wr_str){.ptr = text, .len = len};
}

/* The first that fits, one after the other. */
static size_t find_slowly(const struct wr_str *patterns, size_t n, struct wr_str text, size_t limit)
{
    for (size_t i = 0; i < n && i < limit; i++) {
        if (wr_wildcard_match(patterns[i], text)) {
            return i;
        }
    }
    return PATTERNS_MAX;
}

Test(wildcard_index, it_finds_what_a_search_of_all_finds)
{
    uint64_t random = 88172645463325252;
    size_t n_found = 0;

    for (size_t round = 0; round < 3000; round++) {
        static char bytes[PATTERNS_MAX][TEXT_MAX + 1];
        struct wr_str patterns[PATTERNS_MAX];
        const size_t n = next(&random) % PATTERNS_MAX;
        struct wr_arena arena;

        wr_arena_init(&arena, 4096);
        for (size_t i = 0; i < n; i++) {
            patterns[i] = make(&random, bytes[i], true);
        }

        const struct wr_wildcard_index index = index_of(&arena, patterns, n);

        for (size_t i = 0; i < 30; i++) {
            char copy[TEXT_MAX];
            const struct wr_str text = make(&random, copy, false);
            const size_t limit = i % 2 == 0 ? SIZE_MAX : next(&random) % PATTERNS_MAX;
            const size_t want = find_slowly(patterns, n, text, limit);

            cr_assert_eq(find(&index, text, limit), want, "round %zu, '%.*s'", round,
                         (int) text.len, text.ptr);
            n_found += want != PATTERNS_MAX;
        }
        wr_arena_fini(&arena);
    }
    cr_assert(n_found > 20000 && n_found < 88000, "%zu found", n_found);
}

Test(wildcard_index, few_patterns_are_tried)
{
    enum { N = 1000 };
    static char bytes[N][32];
    static struct wr_str patterns[N];
    static const char *const forms[][2] = {{"/a-", "/*"}, {"*-", ".b"}, {"/", "-*-x"}};

    for (size_t form = 0; form < 3; form++) {
        struct wr_arena arena;

        wr_arena_init(&arena, 4096);
        for (size_t i = 0; i < N; i++) {
            (void) snprintf(bytes[i], sizeof bytes[i], "%s%zu%s", forms[form][0], i,
                            forms[form][1]);
            patterns[i] = wr_str_of(bytes[i]);
        }

        const struct wr_wildcard_index index = index_of(&arena, patterns, N);

        for (size_t i = 0; i < N; i++) {
            n_asked = 0;

            const struct wr_wildcard *const found =
                wr_wildcard_index_find(&index, patterns[i], SIZE_MAX, fits_counted, &patterns[i]);

            cr_assert_eq(found->order, i);
            cr_assert_leq(n_asked, 3u, "form %zu, %zu", form, i);
        }
        wr_arena_fini(&arena);
    }
}
