/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Metric blocks that are given out, written and summed at once: sums never go back, and at the end
 * nothing is missing.
 */
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics/metrics.h"
#include "tests/stress/crew.h"

enum {
    WRITERS = 6,
    SUMMERS = 2,
    BLOCKS = 10, /* of a writer, one after the other */
    ADDS = 20000 /* in a block */
};

struct shared {
    struct wr_metrics *metrics;
    _Atomic unsigned n_writing;
    _Atomic uint64_t n_sums;
};

static void write_all(struct shared *shared)
{
    for (int i = 0; i < BLOCKS; i++) {
        struct wr_metrics_block *const block = wr_metrics_block_new(shared->metrics);

        wr_check(block != NULL, "no memory");
        for (int k = 0; k < ADDS; k++) {
            wr_metrics_add(block, WR_METRIC_CALLS, 1);
            wr_metrics_add(block, WR_METRIC_CALLS_OK, 3);
        }
    }
    atomic_fetch_sub(&shared->n_writing, 1);
}

static void sum_all(struct shared *shared)
{
    uint64_t before = 0;

    while (atomic_load(&shared->n_writing) > 0) {
        const uint64_t sum = wr_metrics_sum(shared->metrics, WR_METRIC_CALLS);

        wr_check(sum >= before, "a sum went from %" PRIu64 " to %" PRIu64, before, sum);
        before = sum;
        atomic_fetch_add(&shared->n_sums, 1);
    }
}

static void run(size_t number, void *context)
{
    if (number < WRITERS) {
        write_all(context);
    } else {
        sum_all(context);
    }
}

int main(void)
{
    const uint64_t want = (uint64_t) WRITERS * BLOCKS * ADDS;
    struct shared shared = {.metrics = wr_metrics_new(), .n_writing = WRITERS};

    wr_check(shared.metrics != NULL, "no memory");
    wr_crew_run(WRITERS + SUMMERS, run, &shared);
    wr_check(wr_metrics_sum(shared.metrics, WR_METRIC_CALLS) == want, "calls are missing");
    wr_check(wr_metrics_sum(shared.metrics, WR_METRIC_CALLS_OK) == 3 * want, "others are missing");
    wr_check(wr_metrics_sum(shared.metrics, WR_METRIC_CALLS_OVER) == 0, "one came from nowhere");
    wr_check(atomic_load(&shared.n_sums) > 0, "nobody summed");
    printf("metric_blocks: %d writers, %d blocks, %" PRIu64 " adds, none missing in %" PRIu64
           " sums\n",
           WRITERS, WRITERS * BLOCKS, 2 * want, atomic_load(&shared.n_sums));
    wr_metrics_destroy(shared.metrics);
    return EXIT_SUCCESS;
}
