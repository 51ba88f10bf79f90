/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/wire/failing_sweep.h"

#include "tests/support/failing_malloc.h"

size_t failing_sweep(failing_attempt_fn attempt, const void *context)
{
    bool is_done = false;
    size_t n_failed = 0;

    while (!is_done) {
        struct wr_arena arena;

        wr_arena_init(&arena, 16 * (n_failed + 1));
        failing_malloc_start(1);
        is_done = attempt(&arena, context);
        failing_malloc_stop();
        wr_arena_fini(&arena);
        n_failed += is_done ? 0 : 1;
    }
    return n_failed;
}
