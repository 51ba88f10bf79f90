/* SPDX-License-Identifier: Apache-2.0 */
#include "service/distinct_rules.h"

#include "base/str_set.h"

bool wr_distinct_rules(struct wr_arena *arena, const struct wr_rule *const *rules, size_t n,
                       const struct wr_rule **out_rules, size_t *out_n)
{
    struct wr_str_set seen;
    /* A rule is told from another by where it is: the set holds the bytes of the pointers. */
    struct wr_str *const views = wr_arena_calloc(arena, n, sizeof *views);

    if (views == NULL || !wr_str_set_init(&seen, arena, n)) {
        return false;
    }
    *out_n = 0;
    for (size_t i = 0; i < n; i++) {
        views[i] = (struct wr_str){.ptr = (const char *) &rules[i], .len = sizeof rules[i]};
        if (rules[i] != NULL && wr_str_set_add(&seen, &views[i])) {
            out_rules[(*out_n)++] = rules[i];
        }
    }
    return true;
}
