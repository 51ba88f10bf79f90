/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any patterns and any text: the matcher of patterns, and a level of rules made of them, say the
 * same as a slow obvious one. The input is lines, `key=value` or a value; the last is what is
 * asked, the others are the rules.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/assert.h"
#include "base/diag.h"
#include "rules/draft.h"
#include "rules/rules.h"
#include "rules/wildcard.h"
#include "tests/fuzz/slow_match.h"

#define MAX_LINES 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct wr_entry entry_of(struct wr_str line)
{
    const char *const equals = line.len == 0 ? NULL : memchr(line.ptr, '=', line.len);

    if (equals == NULL) {
        return (struct wr_entry){.key = WR_STR("k"), .value = line};
    }

    const size_t key_len = (size_t) (equals - line.ptr);

    return (struct wr_entry){.key = {line.ptr, key_len},
                             .value = {equals + 1, line.len - key_len - 1}};
}

static size_t split(struct wr_str input, struct wr_entry *entries)
{
    size_t n = 0;

    while (n < MAX_LINES) {
        const char *const end = input.len == 0 ? NULL : memchr(input.ptr, '\n', input.len);
        const size_t len = end == NULL ? input.len : (size_t) (end - input.ptr);

        entries[n++] = entry_of((struct wr_str){input.ptr, len});
        if (end == NULL) {
            break;
        }
        input = (struct wr_str){end + 1, input.len - len - 1};
    }
    return n;
}

static bool is_pair_known(const struct wr_draft_rule *rules, size_t n, const struct wr_entry *entry)
{
    for (size_t i = 0; i < n; i++) {
        if (wr_str_equal(rules[i].key, entry->key) && wr_str_equal(rules[i].value, entry->value)) {
            return true;
        }
    }
    return false;
}

/* The entries as rules, without those that a rule file must not have. */
static size_t make_rules(const struct wr_entry *entries, size_t n, struct wr_draft_rule *rules)
{
    size_t n_rules = 0;

    for (size_t i = 0; i < n; i++) {
        if (entries[i].key.len > 0 && !is_pair_known(rules, n_rules, &entries[i])) {
            rules[n_rules++] =
                (struct wr_draft_rule){.key = entries[i].key, .value = entries[i].value};
        }
    }
    return n_rules;
}

static void compare_texts(const struct wr_entry *rule, const struct wr_entry *asked)
{
    WR_ASSERT(wr_wildcard_match(rule->value, asked->value) ==
              slow_match_text(rule->value, asked->value));
    WR_ASSERT(wr_wildcard_match(rule->key, asked->key) == slow_match_text(rule->key, asked->key));
}

static void compare_level(struct wr_draft_rule *draft_rules, size_t n_rules,
                          const struct wr_entry *asked)
{
    struct wr_draft draft = {
        .source = WR_STR("f"), .domain = WR_STR("d"), .rules = draft_rules, .n_rules = n_rules};
    struct wr_diag diag;
    struct wr_rules *rules = NULL;

    wr_diag_init(&diag, 1);
    wr_draft_check(&draft, 0, &diag);
    WR_ASSERT(!draft.is_refused);
    WR_ASSERT(wr_rules_new((struct wr_draft *const[]){&draft}, 1, &rules) == WR_OK);

    const struct wr_node *const node =
        wr_domain_match(wr_rules_domain(rules, draft.domain), asked, 1);
    const struct wr_draft_rule *const want = slow_match_rules(draft_rules, n_rules, asked, 1);

    WR_ASSERT((node == NULL) == (want == NULL));
    if (node != NULL) {
        WR_ASSERT(wr_str_equal(node->key, want->key) && wr_str_equal(node->value, want->value));
    }
    wr_rules_release(rules);
    wr_diag_fini(&diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wr_entry entries[MAX_LINES];
    struct wr_draft_rule rules[MAX_LINES];

    if (size > SLOW_TEXT_MAX) {
        return 0;
    }

    const size_t n = split((struct wr_str){(const char *) data, size}, entries);
    const struct wr_entry *const asked = &entries[n - 1];

    for (size_t i = 0; i + 1 < n; i++) {
        compare_texts(&entries[i], asked);
    }
    compare_level(rules, make_rules(entries, n - 1, rules), asked);
    return 0;
}
