/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/metrics.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

#include "tests/support/failing_malloc.h"

static const enum wr_metric all[] = {
#define WR_METRICS_ITEM(id, name, help) id,
    WR_METRICS_TABLE(WR_METRICS_ITEM)
#undef WR_METRICS_ITEM
};

#define N_ALL (sizeof all / sizeof all[0])

Test(metrics, every_metric_has_a_name_of_its_own_that_says_it_is_a_total)
{
    cr_assert_eq(N_ALL, (size_t) WR_METRICS_COUNT);
    for (size_t i = 0; i < N_ALL; i++) {
        const char *const name = wr_metric_name(all[i]);
        const size_t len = strlen(name);

        cr_assert_gt(len, strlen("_total"));
        cr_assert_str_eq(name + len - strlen("_total"), "_total");
        cr_assert_eq(strspn(name, "abcdefghijklmnopqrstuvwxyz_0123456789"), len, "%s", name);
        for (size_t k = 0; k < i; k++) {
            cr_assert_str_neq(name, wr_metric_name(all[k]));
        }
    }
}

Test(metrics, every_metric_is_explained_in_a_sentence)
{
    for (size_t i = 0; i < N_ALL; i++) {
        const char *const help = wr_metric_help(all[i]);
        const size_t len = strlen(help);

        cr_assert_gt(len, 10u, "%s", wr_metric_name(all[i]));
        cr_assert_eq(help[len - 1], '.', "%s", help);
        cr_assert_null(strchr(help, '\n'), "%s", help);
    }
}

Test(metrics, begin_at_zero_with_and_without_blocks)
{
    struct wr_metrics *const metrics = wr_metrics_new();

    cr_assert_not_null(metrics);
    for (size_t i = 0; i < N_ALL; i++) {
        cr_assert_eq(wr_metrics_sum(metrics, all[i]), 0u);
    }
    cr_assert_not_null(wr_metrics_block_new(metrics));
    for (size_t i = 0; i < N_ALL; i++) {
        cr_assert_eq(wr_metrics_sum(metrics, all[i]), 0u);
    }
    wr_metrics_destroy(metrics);
}

Test(metrics, a_sum_goes_over_all_blocks_and_one_metric)
{
    struct wr_metrics *const metrics = wr_metrics_new();
    struct wr_metrics_block *blocks[3];

    cr_assert_not_null(metrics);
    for (size_t i = 0; i < 3; i++) {
        blocks[i] = wr_metrics_block_new(metrics);
        cr_assert_not_null(blocks[i]);
        wr_metrics_add(blocks[i], WR_METRIC_CALLS, 1 + i);
        wr_metrics_add(blocks[i], WR_METRIC_CALLS, 10);
    }
    wr_metrics_add(blocks[1], WR_METRIC_CALLS_OK, 5);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CALLS), 36u);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CALLS_OK), 5u);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CALLS_OVER), 0u);
    wr_metrics_destroy(metrics);
}

Test(metrics, a_count_that_somebody_else_keeps_is_summed_with_the_blocks)
{
    static _Atomic uint64_t count;
    struct wr_metrics *const metrics = wr_metrics_new();

    cr_assert_not_null(metrics);
    wr_metrics_add(wr_metrics_block_new(metrics), WR_METRIC_CONNECTIONS, 2);
    wr_metrics_bind(metrics, WR_METRIC_CONNECTIONS, &count);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS), 2u);
    atomic_fetch_add(&count, 40);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CONNECTIONS), 42u);
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CALLS), 0u);
    wr_metrics_destroy(metrics);
}

Test(metrics, blocks_share_no_cache_line)
{
    struct wr_metrics *const metrics = wr_metrics_new();

    cr_assert_not_null(metrics);
    for (uint32_t i = 0; i < 10; i++) {
        const struct wr_metrics_block *const block = wr_metrics_block_new(metrics);

        cr_assert_eq((uintptr_t) block % 64, 0u);
        cr_assert_eq(block->number, i);
    }
    cr_assert_eq(sizeof(struct wr_metrics_block) % 64, 0u);
    wr_metrics_destroy(metrics);
}

Test(metrics, two_tables_in_one_process_know_nothing_of_each_other)
{
    struct wr_metrics *const a = wr_metrics_new(), *const b = wr_metrics_new();

    cr_assert(a != NULL && b != NULL);
    wr_metrics_add(wr_metrics_block_new(a), WR_METRIC_CALLS, 7);
    cr_assert_eq(wr_metrics_sum(b, WR_METRIC_CALLS), 0u);
    wr_metrics_destroy(a);
    wr_metrics_destroy(b);
}

Test(metrics, none_can_be_destroyed)
{
    wr_metrics_destroy(NULL);
}

Test(metrics, without_memory_there_are_none_and_no_further_blocks)
{
    struct wr_metrics *const metrics = wr_metrics_new();

    cr_assert_not_null(metrics);
    wr_metrics_add(wr_metrics_block_new(metrics), WR_METRIC_CALLS, 2);
    failing_malloc_start(0);
    cr_assert_null(wr_metrics_new());
    cr_assert_null(wr_metrics_block_new(metrics));
    failing_malloc_stop();
    cr_assert_eq(wr_metrics_sum(metrics, WR_METRIC_CALLS), 2u);
    wr_metrics_destroy(metrics);
}
