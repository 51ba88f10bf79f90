/* SPDX-License-Identifier: Apache-2.0 */
#include "store/split_store.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "store/fates.h"

#define US_PER_SECOND INT64_C(1000000)

enum side {
    SIDE_MAIN,
    SIDE_PER_SECOND,
    SIDES,
};

struct split_store {
    struct wr_backend backend;
    struct wr_backend *sides[SIDES]; /* owned */
};

/* The takes of one side, copied, since a batch has them in one row. */
struct half {
    struct wr_batch batch;
    size_t *origins; /* of each take, the place in the outer batch */
};

/* One batch for both, in the call's arena. */
struct split_call {
    struct wr_batch *outer;
    struct half halves[SIDES];
    atomic_int n_left; /* halves without an answer; whoever makes it 0 owns all again */
};

static bool is_short(const struct wr_take *take)
{
    return take->limit.length_us <= US_PER_SECOND;
}

/* What is known of a group. */
struct group {
    bool is_bound;
    bool has_long; /* a window for the main store */
};

/* What is known of the group of each fate, when any is bound. False when memory is out. */
static bool know_groups(const struct wr_batch *batch, const size_t *fates, struct group **out)
{
    struct group *const groups = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *groups);

    if (fates == NULL || groups == NULL) {
        return false;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        const struct wr_take *const take = &batch->takes[i];
        struct group *const group = &groups[fates[i]];

        group->is_bound |= take->limit.count == WR_COUNT_ALL_OR_NOTHING;
        group->has_long |= !is_short(take);
    }
    *out = groups;
    return true;
}

/* `group` is NULL where none is bound. */
static enum side side_of(const struct wr_batch *batch, const struct wr_take *take,
                         const struct group *group)
{
    if (batch->mode == WR_CHARGE_STOP || take->is_domain_group || !is_short(take)) {
        return SIDE_MAIN;
    }
    return group != NULL && group->is_bound && group->has_long ? SIDE_MAIN : SIDE_PER_SECOND;
}

/* Says where each take goes, and how many go to each. NULL when memory is out. */
static const enum side *choose_sides(const struct wr_batch *batch, size_t *counts)
{
    enum side *const sides = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *sides);
    const bool has_bound = wr_fates_are_bound(batch);
    const size_t *const fates = has_bound ? wr_fates_of(batch) : NULL;
    struct group *groups = NULL;

    if (sides == NULL || (has_bound && !know_groups(batch, fates, &groups))) {
        return NULL;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        sides[i] = side_of(batch, &batch->takes[i], groups != NULL ? &groups[fates[i]] : NULL);
        counts[sides[i]]++;
    }
    return sides;
}

static void half_done(struct wr_batch *batch, void *context)
{
    struct split_call *const call = context;

    (void) batch;
    if (atomic_fetch_sub_explicit(&call->n_left, 1, memory_order_acq_rel) > 1) {
        return;
    }

    struct wr_batch *const outer = call->outer;

    for (size_t side = 0; side < SIDES; side++) {
        const struct half *const half = &call->halves[side];

        for (size_t i = 0; i < half->batch.n_takes; i++) {
            outer->takes[half->origins[i]] = half->batch.takes[i];
        }
    }
    outer->done(outer, outer->context);
}

static bool half_init(struct half *half, struct split_call *call, size_t n)
{
    struct wr_arena *const arena = call->outer->arena;

    half->batch = *call->outer;
    half->batch.takes = wr_arena_calloc(arena, n, sizeof *half->batch.takes);
    half->batch.n_takes = 0;
    half->batch.done = half_done;
    half->batch.context = call;
    half->origins = wr_arena_calloc(arena, n, sizeof *half->origins);
    return half->batch.takes != NULL && half->origins != NULL;
}

/* NULL when memory is out. `sides` says where each take goes, `counts` how many go to each. */
static struct split_call *make_call(struct wr_batch *batch, const enum side *sides,
                                    const size_t *counts)
{
    struct split_call *const call = wr_arena_calloc(batch->arena, 1, sizeof *call);

    if (call == NULL) {
        return NULL;
    }
    call->outer = batch;
    atomic_init(&call->n_left, SIDES);
    for (size_t side = 0; side < SIDES; side++) {
        if (!half_init(&call->halves[side], call, counts[side])) {
            return NULL;
        }
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        struct half *const half = &call->halves[sides[i]];

        half->origins[half->batch.n_takes] = i;
        half->batch.takes[half->batch.n_takes++] = batch->takes[i];
    }
    return call;
}

static void split_store_take(struct wr_backend *backend, struct wr_batch *batch)
{
    struct split_store *const store = (struct split_store *) backend;
    size_t counts[SIDES] = {0};
    const enum side *const sides = choose_sides(batch, counts);

    if (sides == NULL) {
        wr_batch_end(batch, WR_TAKE_NO_MEMORY);
        return;
    }
    if (counts[SIDE_PER_SECOND] == 0 || counts[SIDE_MAIN] == 0) {
        wr_backend_take(store->sides[counts[SIDE_MAIN] == 0 ? SIDE_PER_SECOND : SIDE_MAIN], batch);
        return;
    }

    struct split_call *const call = make_call(batch, sides, counts);

    if (call == NULL) {
        wr_batch_end(batch, WR_TAKE_NO_MEMORY);
        return;
    }
    wr_backend_take(store->sides[SIDE_MAIN], &call->halves[SIDE_MAIN].batch);
    wr_backend_take(store->sides[SIDE_PER_SECOND], &call->halves[SIDE_PER_SECOND].batch);
}

static void split_store_destroy(struct wr_backend *backend)
{
    struct split_store *const store = (struct split_store *) backend;

    for (size_t side = 0; side < SIDES; side++) {
        wr_backend_destroy(store->sides[side]);
    }
    free(store);
}

enum wr_err wr_split_store_new(struct wr_backend **main, struct wr_backend **per_second,
                               struct wr_backend **out_backend)
{
    static const struct wr_backend_ops ops = {
        .take = split_store_take,
        .destroy = split_store_destroy,
    };
    struct split_store *const store = malloc(sizeof *store);

    if (store == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    *store = (struct split_store){
        .backend = {.ops = &ops},
        .sides = {[SIDE_MAIN] = *main, [SIDE_PER_SECOND] = *per_second},
    };
    *main = NULL;
    *per_second = NULL;
    *out_backend = &store->backend;
    return WR_OK;
}
