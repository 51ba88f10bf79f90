/* SPDX-License-Identifier: Apache-2.0 */
#include "store/over_limit_cache.h"

#include <stdlib.h>

#include "store/fates.h"

struct over_limit_cache {
    struct wr_backend backend;
    struct wr_backend *inner;          /* owned */
    struct wr_over_limit_table *table; /* owned */
    struct wr_clock *clock;            /* borrowed */
};

/* A take that the inner backend is asked for. */
struct asked {
    struct wr_take *origin; /* of the outer batch; NULL: it brings what was held for the next */
    bool is_lasting;
    struct wr_over_limit_asked in_table; /* when it is lasting */
};

/* One batch, in the call's arena. */
struct cache_call {
    struct over_limit_cache *cache;
    struct wr_batch *outer;
    struct wr_batch inner; /* the takes that are not answered from memory, copied */
    struct asked *asked;   /* one for each of them, in order */
    const size_t *fates;   /* of each take of the outer batch, as far as is_bound is there */
    bool *is_bound;        /* of each fate; NULL: none is */
};

/* Whether a refusal of `take` stands for whatever is taken later in the window. While a limit warms
 * up, only the store knows what is enforced. */
static bool is_lasting(const struct wr_batch *batch, const struct wr_take *take)
{
    return take->limit.algorithm == WR_ALGORITHM_FIXED_WINDOW && take->limit.warm_up_us == 0 &&
           (batch->mode == WR_CHARGE_STOP || take->limit.count == WR_COUNT_ALL);
}

static bool has_lasting(const struct wr_batch *batch)
{
    for (size_t i = 0; i < batch->n_takes; i++) {
        if (is_lasting(batch, &batch->takes[i])) {
            return true;
        }
    }
    return false;
}

static bool has_refund(const struct wr_batch *batch)
{
    for (size_t i = 0; i < batch->n_takes; i++) {
        if (batch->takes[i].is_refund) {
            return true;
        }
    }
    return false;
}

/* Finds the groups that have such a take. False when memory is out. */
static bool know_bound(struct cache_call *call)
{
    const struct wr_batch *const batch = call->outer;

    if (batch->mode == WR_CHARGE_STOP || !wr_fates_are_bound(batch)) {
        return true;
    }
    call->fates = wr_fates_of(batch);
    call->is_bound = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *call->is_bound);
    if (call->fates == NULL || call->is_bound == NULL) {
        return false;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        if (batch->takes[i].limit.count == WR_COUNT_ALL_OR_NOTHING) {
            call->is_bound[call->fates[i]] = true;
        }
    }
    return true;
}

/* Whether the take of that index is judged and charged as if it were by itself, and no other is by
 * it. */
static bool stands_alone(const struct cache_call *call, size_t index)
{
    if (call->outer->mode == WR_CHARGE_STOP) {
        return call->outer->n_takes == 1;
    }
    return call->is_bound == NULL || !call->is_bound[call->fates[index]];
}

static uint64_t saturated(uint64_t hits)
{
    return hits < WR_COUNT_MAX ? hits : WR_COUNT_MAX;
}

/* Whether held hits go by themselves, before the take: its own charge is none, or may come when
 * the window is over. */
static bool has_herald(const struct wr_take *take)
{
    return take->is_refund || take->must_book;
}

/* Brings what was held before `take`, and refuses nobody. */
static struct wr_take herald_of(const struct wr_take *take, uint64_t held)
{
    struct wr_take herald = *take;

    herald.hits = held;
    herald.is_refund = false;
    herald.is_enforced = false;
    herald.must_book = false;
    herald.has_local_fallback = false;
    herald.refuses_unanswered = false;
    return herald;
}

static void add_inner(struct cache_call *call, const struct wr_take *take,
                      const struct asked *asked)
{
    call->inner.takes[call->inner.n_takes] = *take;
    call->asked[call->inner.n_takes++] = *asked;
}

/* Adds `asked->origin` to the inner batch, with the hits that were held. */
static void add_with_held(struct cache_call *call, struct asked *asked)
{
    struct wr_take take = *asked->origin;
    struct wr_over_limit_asked *const in_table = &asked->in_table;

    if (in_table->is_netted) {
        take.hits = saturated(take.hits) - in_table->held;
    } else if (!has_herald(&take)) {
        take.hits = saturated(saturated(take.hits) + in_table->held);
    } else if (in_table->held > 0) {
        const struct wr_take herald = herald_of(&take, in_table->held);

        add_inner(call, &herald, &(struct asked){.is_lasting = true, .in_table = *in_table});
        in_table->held = 0;
    }
    add_inner(call, &take, asked);
}

/* Answers what is known and stands alone; the rest goes to the inner batch, with what was held.
 * Returns how many were answered. */
static size_t part_takes(struct cache_call *call)
{
    const struct wr_batch *const outer = call->outer;
    const int64_t mono_us = outer->now.mono_us;
    const bool gives_back = has_refund(outer);
    size_t n_known = 0;

    for (size_t i = 0; i < outer->n_takes; i++) {
        struct asked asked = {
            .origin = &outer->takes[i],
            .is_lasting = is_lasting(outer, &outer->takes[i]),
        };
        const struct wr_over_limit_leave leave = {
            .may_answer = !gives_back && stands_alone(call, i),
            .must_net = outer->mode == WR_CHARGE_STOP && outer->n_takes > 1,
        };

        if (!asked.is_lasting) {
            add_inner(call, asked.origin, &asked);
        } else if (wr_over_limit_table_answer(call->cache->table, asked.origin, &leave, mono_us,
                                              &asked.in_table)) {
            n_known++;
        } else {
            add_with_held(call, &asked);
        }
    }
    return n_known;
}

static void inner_done(struct wr_batch *batch, void *context)
{
    struct cache_call *const call = context;
    struct wr_batch *const outer = call->outer;
    const int64_t mono_us = wr_clock_read(call->cache->clock).mono_us;

    for (size_t i = 0; i < batch->n_takes; i++) {
        const struct wr_take *const take = &batch->takes[i];
        const struct asked *const asked = &call->asked[i];
        struct wr_take *const origin = asked->origin;

        if (origin == NULL) {
            wr_over_limit_table_hold_again(call->cache->table, take->answer, &asked->in_table,
                                           mono_us);
            continue;
        }
        origin->answer = take->answer;
        origin->is_degraded = take->is_degraded;
        origin->limit.requests = take->limit.requests;
        origin->verdict = take->verdict;
        if (asked->is_lasting) {
            wr_over_limit_table_learn(call->cache->table, origin, &asked->in_table, mono_us);
        }
    }
    outer->done(outer, outer->context);
}

/* The most takes that the inner batch can have. */
static size_t count_most(const struct wr_batch *batch)
{
    size_t n = batch->n_takes;

    for (size_t i = 0; i < batch->n_takes; i++) {
        n += has_herald(&batch->takes[i]);
    }
    return n;
}

/* NULL when memory is out. */
static struct cache_call *make_call(struct over_limit_cache *cache, struct wr_batch *batch)
{
    struct cache_call *const call = wr_arena_alloc(batch->arena, sizeof *call);
    const size_t n = count_most(batch);

    if (call == NULL) {
        return NULL;
    }
    *call = (struct cache_call){
        .cache = cache,
        .outer = batch,
        .inner = *batch,
        .asked = wr_arena_calloc(batch->arena, n, sizeof *call->asked),
    };
    call->inner.takes = wr_arena_calloc(batch->arena, n, sizeof *call->inner.takes);
    call->inner.n_takes = 0;
    call->inner.done = inner_done;
    call->inner.context = call;
    return call->asked != NULL && call->inner.takes != NULL && know_bound(call) ? call : NULL;
}

static void over_limit_cache_take(struct wr_backend *backend, struct wr_batch *batch)
{
    struct over_limit_cache *const cache = (struct over_limit_cache *) backend;

    if (!has_lasting(batch)) {
        wr_backend_take(cache->inner, batch);
        return;
    }

    struct cache_call *const call = make_call(cache, batch);

    if (call == NULL) {
        wr_batch_end(batch, WR_TAKE_NO_MEMORY);
        return;
    }

    const size_t n_known = part_takes(call);

    wr_metrics_add(batch->metrics, WR_METRIC_DESCRIPTORS_CACHED, n_known);
    if (call->inner.n_takes == 0) {
        batch->done(batch, batch->context);
        return;
    }
    wr_backend_take(cache->inner, &call->inner);
}

static void over_limit_cache_destroy(struct wr_backend *backend)
{
    struct over_limit_cache *const cache = (struct over_limit_cache *) backend;

    wr_backend_destroy(cache->inner);
    wr_over_limit_table_destroy(cache->table);
    free(cache);
}

enum wr_err wr_over_limit_cache_new(const struct wr_over_limit_cache_options *options,
                                    struct wr_backend **inner, struct wr_backend **out_backend)
{
    static const struct wr_backend_ops ops = {
        .take = over_limit_cache_take,
        .destroy = over_limit_cache_destroy,
    };
    struct over_limit_cache *const cache = malloc(sizeof *cache);

    if (cache == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    *cache = (struct over_limit_cache){.backend = {.ops = &ops}, .clock = options->clock};

    const enum wr_err err =
        wr_over_limit_table_new(options->max_entries, options->flight_us, &cache->table);

    if (err != WR_OK) {
        free(cache);
        return err;
    }
    cache->inner = *inner;
    *inner = NULL;
    *out_backend = &cache->backend;
    return WR_OK;
}
