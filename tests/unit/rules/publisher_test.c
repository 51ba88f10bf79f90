/* SPDX-License-Identifier: Apache-2.0 */
#include "rules/publisher.h"

#include <criterion/criterion.h>

#include "tests/unit/rules/texts.h"

static void count_up(void *context)
{
    (*(int *) context)++;
}

/* The domain that is in force, by name. */
static bool is_in_force(struct wr_current_rules *current, const char *domain)
{
    struct wr_rules_view view = {0};
    const bool is_there =
        wr_rules_domain(wr_rules_view_renew(&view, current), wr_str_of(domain)) != NULL;

    wr_rules_view_fini(&view);
    return is_there;
}

Test(publisher, puts_rules_in_force_and_tells)
{
    struct wr_metrics *const metrics = wr_metrics_new();
    struct wr_current_rules current;
    int n_told = 0;

    cr_assert_not_null(metrics);
    wr_current_rules_init(&current);

    struct wr_publisher publisher = {.current = &current,
                                     .metrics = wr_metrics_block_new(metrics),
                                     .on_rules = count_up,
                                     .context = &n_told};
    struct wr_rules *rules = rules_of("domain: a");

    wr_publisher_publish(&publisher, &rules);
    cr_assert_null(rules);
    cr_assert(is_in_force(&current, "a"));
    rules = rules_of("domain: b");
    wr_publisher_publish(&publisher, &rules);
    cr_assert(is_in_force(&current, "b"));
    cr_assert_not_null(publisher.replaced);
    wr_publisher_let_go(&publisher);
    cr_assert_null(publisher.replaced);
    cr_assert_eq(n_told, 2);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONFIG_LOADS), 2u);
    wr_publisher_fini(&publisher);
    cr_assert(is_in_force(&current, "b"));
    wr_current_rules_fini(&current);
    wr_metrics_destroy(metrics);
}
