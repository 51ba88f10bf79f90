/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/current.h"

#include <criterion/criterion.h>

#include "tests/unit/rules/texts.h"

Test(current, there_is_none_before_the_first)
{
    struct wr_current_rules current;
    struct wr_rules_view view = {0};

    wr_current_rules_init(&current);
    cr_assert_null(wr_rules_view_renew(&view, &current));
    wr_rules_view_fini(&view);
    wr_current_rules_fini(&current);
}

Test(current, a_view_sees_what_was_published_when_it_is_renewed)
{
    struct wr_rules *one = rules_of("domain: one\n"), *two = rules_of("domain: two\n");
    const struct wr_rules *const first = one, *const second = two;
    struct wr_current_rules current;
    struct wr_rules_view view = {0}, late = {0};

    wr_current_rules_init(&current);
    wr_current_rules_publish(&current, &one);
    cr_assert_null(one);
    cr_assert_eq(wr_rules_view_renew(&view, &current), first);
    cr_assert_eq(wr_rules_view_renew(&view, &current), first);
    cr_assert_eq(view.generation, 1u);
    wr_current_rules_publish(&current, &two);
    /* Not renewed yet: still there. */
    cr_assert_not_null(wr_rules_domain(view.rules, wr_str_of("one")));
    cr_assert_eq(wr_rules_view_renew(&view, &current), second);
    cr_assert_eq(wr_rules_view_renew(&late, &current), second);
    wr_rules_view_fini(&view);
    wr_rules_view_fini(&view);
    wr_current_rules_fini(&current);
    cr_assert_not_null(wr_rules_domain(late.rules, wr_str_of("two")));
    wr_rules_view_fini(&late);
}

/* The leak check at the end of the program is what this fails by. */
Test(current, what_is_replaced_and_seen_by_nobody_is_freed)
{
    struct wr_current_rules current;
    struct wr_rules_view view = {0};

    wr_current_rules_init(&current);
    for (uint64_t i = 1; i <= 50; i++) {
        struct wr_rules *rules = rules_of("domain: d\n");

        wr_current_rules_publish(&current, &rules);
        if (i % 2 == 0) {
            (void) wr_rules_view_renew(&view, &current);
            cr_assert_eq(view.generation, i);
        }
    }
    wr_rules_view_fini(&view);
    wr_current_rules_fini(&current);
}
