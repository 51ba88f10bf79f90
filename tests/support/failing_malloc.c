/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/failing_malloc.h"

#include <stdint.h>

static size_t n_left = SIZE_MAX;

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *memory, size_t size);
void *__real_aligned_alloc(size_t alignment, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);

void failing_malloc_start(size_t n)
{
    n_left = n;
}

void failing_malloc_stop(void)
{
    n_left = SIZE_MAX;
}

static int is_failing(void)
{
    if (n_left == SIZE_MAX) {
        return 0;
    }
    if (n_left == 0) {
        return 1;
    }
    n_left--;
    return 0;
}

void *__wrap_malloc(size_t size)
{
    return is_failing() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
    return is_failing() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *memory, size_t size)
{
    return is_failing() ? NULL : __real_realloc(memory, size);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size)
{
    return is_failing() ? NULL : __real_aligned_alloc(alignment, size);
}
