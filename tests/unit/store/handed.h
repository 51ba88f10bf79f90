/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A batch with an arena of its own, handed to a backend that may answer later.
 *
 * Threads: one thread.
 */
#ifndef WR_TESTS_UNIT_STORE_HANDED_H
#define WR_TESTS_UNIT_STORE_HANDED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "store/backend.h"

struct handed {
    struct wr_batch batch;
    struct wr_arena arena;
    struct wr_metrics *metrics; /* owned; with the batch's block */
    int n_done;
};

/* Without takes, charged by count, now 1000 s of wall and 10 s of monotonic time. */
void handed_init(struct handed *handed);

void handed_fini(struct handed *handed);

/* Hands over `takes`, which are answered when n_done is 1. */
void handed_put(struct handed *handed, struct wr_backend *backend, struct wr_take *takes, size_t n);

/* The same while no allocation succeeds from the `n_good`-th on. Whether the takes were decided; if
 * not, each was told that memory is out. */
bool handed_put_failing(struct handed *handed, struct wr_backend *backend, struct wr_take *takes,
                        size_t n, size_t n_good);

#endif
