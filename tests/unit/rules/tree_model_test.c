/* SPDX-License-Identifier: Apache-2.0 */
/* The tree against a search that is slow and obvious: the same rule for every pair. */
#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "base/random.h"
#include "rules/rules.h"
#include "tests/unit/rules/texts.h"

#define RULES_MAX 24
#define TEXT_MAX 6

struct model {
    struct wr_draft_rule rules[RULES_MAX];
    char keys[RULES_MAX][TEXT_MAX], values[RULES_MAX][TEXT_MAX];
    size_t n;
};

static uint64_t next(uint64_t *state)
{
    return wr_random_next(state);
}

static struct wr_str make(uint64_t *random, char *text, size_t max, const char *letters)
{
    const size_t len = next(random) % (max + 1), n_letters = strlen(letters);

    for (size_t i = 0; i < len; i++) {
        text[i] = letters[next(random) % n_letters];
    }
    return (struct wr_str){.ptr = text, .len = len};
}

static bool has_pair(const struct model *model, const struct wr_draft_rule *rule)
{
    for (size_t i = 0; i < model->n; i++) {
        if (wr_str_equal(model->rules[i].key, rule->key) &&
            wr_str_equal(model->rules[i].value, rule->value)) {
            return true;
        }
    }
    return false;
}

/* Rules of few letters, no pair twice; the limit of each is its place in the order. */
static void fill(struct model *model, uint64_t *random)
{
    const size_t n = next(random) % (RULES_MAX + 1);

    model->n = 0;
    for (size_t i = 0; i < n; i++) {
        const bool is_plain = next(random) % 2 == 0;
        struct wr_draft_rule *const rule = &model->rules[model->n];

        *rule = (struct wr_draft_rule){
            .key = make(random, model->keys[model->n], 2, is_plain ? "ab" : "ab*"),
            .value = make(random, model->values[model->n], TEXT_MAX, "ab*"),
            .has_limit = true,
            .limit = {.unit = WR_STR("hour"), .requests_per_unit = (uint32_t) model->n},
        };
        model->n += rule->key.len > 0 && !has_pair(model, rule);
    }
}

static bool has_star(struct wr_str text)
{
    return text.len > 0 && memchr(text.ptr, '*', text.len) != NULL;
}

/* Each '*' tries every length. */
static bool fits_slowly(struct wr_str pattern, struct wr_str text)
{
    if (pattern.len == 0) {
        return text.len == 0;
    }

    const struct wr_str rest = {.ptr = pattern.ptr + 1, .len = pattern.len - 1};

    if (pattern.ptr[0] != '*') {
        return text.len > 0 && text.ptr[0] == pattern.ptr[0] &&
               fits_slowly(rest, (struct wr_str){.ptr = text.ptr + 1, .len = text.len - 1});
    }
    for (size_t i = 0; i <= text.len; i++) {
        if (fits_slowly(rest, (struct wr_str){.ptr = text.ptr + i, .len = text.len - i})) {
            return true;
        }
    }
    return false;
}

/* As the documentation has it: the pair as it is written, else the first with a '*' that fits, else
 * the key with any value. -1: none. */
static int find_slowly(const struct model *model, const struct wr_entry *entry)
{
    for (size_t i = 0; i < model->n && entry->value.len > 0; i++) {
        if (wr_str_equal(model->rules[i].key, entry->key) &&
            wr_str_equal(model->rules[i].value, entry->value)) {
            return (int) i;
        }
    }
    for (size_t i = 0; i < model->n; i++) {
        const struct wr_draft_rule *const rule = &model->rules[i];

        if ((has_star(rule->key) || has_star(rule->value)) && fits_slowly(rule->key, entry->key) &&
            (rule->value.len == 0 || fits_slowly(rule->value, entry->value))) {
            return (int) i;
        }
    }
    for (size_t i = 0; i < model->n; i++) {
        if (wr_str_equal(model->rules[i].key, entry->key) && model->rules[i].value.len == 0) {
            return (int) i;
        }
    }
    return -1;
}

static int find(const struct wr_rules *rules, const struct wr_entry *entry)
{
    const struct wr_node *const node =
        wr_domain_match(wr_rules_domain(rules, wr_str_of("d")), entry, 1);

    return node == NULL ? -1 : (int) node->rules->limit.requests;
}

Test(tree_model, every_pair_finds_the_rule_that_a_slow_search_finds)
{
    uint64_t random = 88172645463325252;
    size_t n_found = 0, n_missed = 0;

    for (size_t round = 0; round < 4000; round++) {
        struct model model;
        struct wr_rules *rules = NULL;

        fill(&model, &random);

        struct wr_draft draft = {.domain = WR_STR("d"), .rules = model.rules, .n_rules = model.n};
        struct wr_draft *drafts[] = {&draft};

        cr_assert_eq(wr_rules_new(drafts, 1, &rules), WR_OK);
        for (size_t i = 0; i < 25; i++) {
            char key[2], value[TEXT_MAX];
            const char *const letters = i % 5 == 0 ? "ab*" : "ab";
            const struct wr_entry entry = {.key = make(&random, key, 2, letters),
                                           .value = make(&random, value, TEXT_MAX, letters)};
            const int want = find_slowly(&model, &entry), got = find(rules, &entry);

            cr_assert_eq(got, want, "round %zu: %.*s=%.*s finds %d, not %d", round,
                         (int) entry.key.len, entry.key.ptr, (int) entry.value.len, entry.value.ptr,
                         got, want);
            n_found += want >= 0;
            n_missed += want < 0;
        }
        wr_rules_release(rules);
    }
    cr_assert(n_found > 10000 && n_missed > 10000, "%zu, %zu", n_found, n_missed);
}
