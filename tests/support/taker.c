/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/support/taker.h"

#include "base/assert.h"

static void count_done(struct wr_batch *batch, void *context)
{
    (void) batch;
    *(int *) context += 1;
}

void wr_taker_batch(struct wr_taker *taker, struct wr_take *takes, size_t n)
{
    int n_done = 0;
    struct wr_arena own;
    struct wr_arena *const arena = taker->arena != NULL ? taker->arena : &own;
    struct wr_batch batch = {
        .takes = takes,
        .n_takes = n,
        .now = taker->now,
        .deadline_mono_us = INT64_MAX,
        .mode = taker->mode,
        .metrics = taker->metrics,
        .arena = arena,
        .done = count_done,
        .context = &n_done,
    };

    if (arena == &own) {
        wr_arena_init(&own, 1024);
    }
    wr_backend_take(taker->backend, &batch);
    WR_ASSERT(n_done == 1);
    if (arena == &own) {
        wr_arena_fini(&own);
    } else {
        wr_arena_reset(arena);
    }
}

static struct wr_take take_one(struct wr_taker *taker, struct wr_str key, uint64_t hits,
                               bool is_refund)
{
    struct wr_take take = {
        .key = key,
        .limit = taker->limit,
        .hits = hits,
        .is_refund = is_refund,
        .is_enforced = true,
    };

    wr_taker_batch(taker, &take, 1);
    return take;
}

struct wr_take wr_taker_take(struct wr_taker *taker, struct wr_str key, uint64_t hits)
{
    return take_one(taker, key, hits, false);
}

struct wr_take wr_taker_refund(struct wr_taker *taker, struct wr_str key, uint64_t hits)
{
    return take_one(taker, key, hits, true);
}

struct wr_take wr_taker_take_number(struct wr_taker *taker, uint64_t number)
{
    const struct wr_str key = {.ptr = (const char *) &number, .len = sizeof number};

    return take_one(taker, key, 1, false);
}
