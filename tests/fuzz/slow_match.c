/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/slow_match.h"

#include <string.h>

#include "base/assert.h"

/* fits[k] says, row by row, whether the pattern's characters so far fit the text's first k. */
bool slow_match_text(struct wr_str pattern, struct wr_str text)
{
    bool fits[SLOW_TEXT_MAX + 1] = {true};

    WR_ASSERT(text.len <= SLOW_TEXT_MAX);
    for (size_t i = 0; i < pattern.len; i++) {
        bool next[SLOW_TEXT_MAX + 1] = {pattern.ptr[i] == '*' && fits[0]};

        for (size_t k = 1; k <= text.len; k++) {
            next[k] = pattern.ptr[i] == '*' ? fits[k] || next[k - 1]
                                            : fits[k - 1] && pattern.ptr[i] == text.ptr[k - 1];
        }
        memcpy(fits, next, sizeof fits);
    }
    return fits[text.len];
}

static bool has_star(struct wr_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '*') {
            return true;
        }
    }
    return false;
}

static bool is_spelt(const struct wr_draft_rule *rule, const struct wr_entry *entry)
{
    return wr_str_equal(rule->key, entry->key) && wr_str_equal(rule->value, entry->value);
}

static bool fits_pattern(const struct wr_draft_rule *rule, const struct wr_entry *entry)
{
    return (has_star(rule->key) || has_star(rule->value)) &&
           slow_match_text(rule->key, entry->key) &&
           (rule->value.len == 0 || slow_match_text(rule->value, entry->value));
}

static bool is_default(const struct wr_draft_rule *rule, const struct wr_entry *entry)
{
    return rule->value.len == 0 && wr_str_equal(rule->key, entry->key);
}

/* The pair itself, else the first pattern, else the key with any value. An empty value is never a
 * pair itself. */
static const struct wr_draft_rule *find(const struct wr_draft_rule *rules, size_t n_rules,
                                        const struct wr_entry *entry)
{
    static bool (*const steps[])(const struct wr_draft_rule *,
                                 const struct wr_entry *) = {is_spelt, fits_pattern, is_default};

    for (size_t step = entry->value.len > 0 ? 0 : 1; step < sizeof steps / sizeof steps[0];
         step++) {
        for (size_t i = 0; i < n_rules; i++) {
            if (steps[step](&rules[i], entry)) {
                return &rules[i];
            }
        }
    }
    return NULL;
}

const struct wr_draft_rule *slow_match_rules(const struct wr_draft_rule *rules, size_t n_rules,
                                             const struct wr_entry *entries, size_t n)
{
    const struct wr_draft_rule *rule = NULL;

    for (size_t i = 0; i < n; i++) {
        rule = find(rules, n_rules, &entries[i]);
        if (rule == NULL) {
            return NULL;
        }
        rules = rule->children;
        n_rules = rule->n_children;
    }
    return rule;
}
