/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/wire/failing_malloc.h"

#include <stdint.h>

static size_t calls_left = SIZE_MAX;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);

void failing_malloc_start(size_t n)
{
    calls_left = n;
}

void failing_malloc_stop(void)
{
    calls_left = SIZE_MAX;
}

static bool may_pass(void)
{
    if (calls_left == SIZE_MAX) {
        return true;
    }
    if (calls_left == 0) {
        return false;
    }
    calls_left--;
    return true;
}

void *__wrap_malloc(size_t size)
{
    return may_pass() ? __real_malloc(size) : NULL;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return may_pass() ? __real_calloc(n, size) : NULL;
}

size_t failing_malloc_sweep(failing_attempt_fn attempt, const void *context)
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
