/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/store/handed.h"

#include <criterion/criterion.h>

#include "tests/support/failing_malloc.h"

static void done(struct wr_batch *batch, void *context)
{
    struct handed *const handed = context;

    cr_assert_eq(batch, &handed->batch);
    handed->n_done++;
}

void handed_init(struct handed *handed)
{
    *handed = (struct handed){.metrics = wr_metrics_new()};
    cr_assert_not_null(handed->metrics);
    wr_arena_init(&handed->arena, 1024);
    handed->batch = (struct wr_batch){
        .now = {.wall_us = 1000000000, .mono_us = 10000000},
        .deadline_mono_us = INT64_MAX,
        .metrics = wr_metrics_block_new(handed->metrics),
        .arena = &handed->arena,
        .done = done,
        .context = handed,
    };
    cr_assert_not_null(handed->batch.metrics);
}

void handed_fini(struct handed *handed)
{
    wr_arena_fini(&handed->arena);
    wr_metrics_destroy(handed->metrics);
}

void handed_put(struct handed *handed, struct wr_backend *backend, struct wr_take *takes, size_t n)
{
    wr_arena_reset(&handed->arena);
    handed->n_done = 0;
    handed->batch.takes = takes;
    handed->batch.n_takes = n;
    wr_backend_take(backend, &handed->batch);
}

bool handed_put_failing(struct handed *handed, struct wr_backend *backend, struct wr_take *takes,
                        size_t n, size_t n_good)
{
    /* An empty one, which cannot do without an allocation. */
    wr_arena_fini(&handed->arena);
    wr_arena_init(&handed->arena, 1);
    failing_malloc_start(n_good);
    handed_put(handed, backend, takes, n);
    failing_malloc_stop();
    cr_assert_eq(handed->n_done, 1);
    if (takes[0].answer == WR_TAKE_DECIDED) {
        return true;
    }
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(takes[i].answer, WR_TAKE_NO_MEMORY, "take %zu", i);
    }
    return false;
}
