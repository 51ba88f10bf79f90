/* SPDX-License-Identifier: Apache-2.0 */
#include "store/fallback_store.h"

#include <stdlib.h>

#include "base/assert.h"
#include "store/fates.h"

/* What memory needs for a group of some takes. */
#define LOCAL_ARENA_SIZE 1024

struct fallback_store {
    struct wr_backend backend;
    struct wr_backend *remote;        /* owned */
    struct wr_backend *local;         /* owned; answers inline */
    const _Atomic uint32_t *replicas; /* borrowed */
    struct wr_metrics_block *metrics; /* of the metrics; written by atomic adds alone */
};

/* What is known of takes that stand or fall together. */
struct fate {
    bool is_refused; /* whatever memory says */
    bool has_fallen; /* one of them has no decision, and is to have one by memory */
};

/* One batch with takes that may fall back, in the call's arena. */
struct fallback_call {
    struct fallback_store *store;
    struct wr_batch *outer;
    struct wr_batch remote;   /* the same takes */
    struct wr_take *takes;    /* for memory: room for all */
    struct wr_take **origins; /* of each of them, the take of the outer batch; NULL: a refusal */
    size_t n_takes;
    const size_t *fates; /* of each take of the outer batch */
    struct fate *known;  /* of each fate */
};

static bool is_decided(const struct wr_take *take)
{
    return take->answer == WR_TAKE_DECIDED;
}

/* Whether `take` refuses those of one fate with it, whatever memory says of them: the remote store
 * said that it is over, or said nothing, and that alone refuses. */
static bool is_refusal(const struct wr_batch *batch, const struct wr_take *take)
{
    if (!is_decided(take)) {
        return take->refuses_unanswered;
    }
    return take->verdict.over && (take->is_enforced || batch->mode == WR_CHARGE_STOP);
}

/* Looks at what each fate comes to. */
static void know_fates(struct fallback_call *call)
{
    const struct wr_batch *const batch = call->outer;

    for (size_t i = 0; i < batch->n_takes; i++) {
        const struct wr_take *const take = &batch->takes[i];
        struct fate *const fate = &call->known[call->fates[i]];

        fate->is_refused |= is_refusal(batch, take);
        fate->has_fallen |= !is_decided(take) && take->has_local_fallback;
    }
}

static uint64_t share_of(uint64_t requests, uint32_t replicas)
{
    return requests / replicas + (requests % replicas != 0);
}

/* Every number of hits that a limit has. */
static void take_share(struct wr_limit *limit, uint32_t replicas)
{
    limit->requests = share_of(limit->requests, replicas);
    limit->burst = share_of(limit->burst, replicas);
    limit->warm_up_start = share_of(limit->warm_up_start, replicas);
}

static void add_take(struct fallback_call *call, struct wr_take *origin)
{
    call->takes[call->n_takes] = *origin;
    call->origins[call->n_takes++] = origin;
}

/* Tells memory of a refusal from outside: by a take that never fits, and has no counter but in
 * WR_CHARGE_STOP. No counter of a rule has its key. */
static void add_refusal(struct fallback_call *call, const struct wr_take *origin)
{
    call->takes[call->n_takes] = (struct wr_take){
        .key = WR_STR(""),
        .limit = {.length_us = 1000000, .count = WR_COUNT_ADMITTED},
        .hits = 1,
        .group = origin->group,
        .is_enforced = true,
    };
    call->origins[call->n_takes++] = NULL;
}

/* Chooses what memory takes. */
static void choose_takes(struct fallback_call *call)
{
    const struct wr_batch *const batch = call->outer;

    know_fates(call);
    for (size_t i = 0; i < batch->n_takes; i++) {
        struct wr_take *const take = &batch->takes[i];
        const struct fate *const fate = &call->known[call->fates[i]];

        if (is_refusal(batch, take)) {
            if (fate->has_fallen) {
                add_refusal(call, take);
            }
        } else if (take->has_local_fallback &&
                   (!is_decided(take) || (fate->has_fallen && !fate->is_refused))) {
            add_take(call, take);
        }
    }
}

static void local_done(struct wr_batch *batch, void *context)
{
    (void) batch;
    *(bool *) context = true;
}

/* Many threads may be here at once: blocks that a thread fills by plain adds are not for them. */
static void keep_metrics(struct fallback_store *store, const struct wr_metrics_block *block)
{
    for (size_t i = 0; i < WR_METRICS_COUNT; i++) {
        const uint64_t n = atomic_load_explicit(&block->counts[i], memory_order_relaxed);

        if (n > 0) {
            atomic_fetch_add_explicit(&store->metrics->counts[i], n, memory_order_relaxed);
        }
    }
}

/* The call's arena and metrics belong to another thread by now. */
static void ask_local(struct fallback_call *call)
{
    struct wr_metrics_block metrics = {0};
    struct wr_arena arena;
    bool is_answered = false;
    struct wr_batch batch = *call->outer;

    wr_arena_init(&arena, LOCAL_ARENA_SIZE);
    batch.takes = call->takes;
    batch.n_takes = call->n_takes;
    batch.metrics = &metrics;
    batch.arena = &arena;
    batch.done = local_done;
    batch.context = &is_answered;
    wr_backend_take(call->store->local, &batch);
    WR_ASSERT(is_answered);
    wr_arena_fini(&arena);
    keep_metrics(call->store, &metrics);
}

/* A share of a number that is not known would be a guess: then nothing is judged here. */
static void fall_back(struct fallback_call *call)
{
    const uint32_t replicas = atomic_load_explicit(call->store->replicas, memory_order_relaxed);

    if (replicas == 0) {
        return;
    }
    choose_takes(call);
    for (size_t i = 0; i < call->n_takes; i++) {
        take_share(&call->takes[i].limit, replicas);
    }
    ask_local(call);
    for (size_t i = 0; i < call->n_takes; i++) {
        struct wr_take *const origin = call->origins[i];
        const struct wr_take *const take = &call->takes[i];

        if (origin == NULL) {
            continue;
        }
        if (!is_decided(origin)) {
            origin->answer = take->answer;
        }
        if (is_decided(take)) {
            origin->verdict = take->verdict;
            origin->limit.requests = take->limit.requests;
            origin->is_degraded = true;
        }
    }
}

static void remote_done(struct wr_batch *batch, void *context)
{
    struct fallback_call *const call = context;
    struct wr_batch *const outer = call->outer;
    size_t n_fallen = 0;

    for (size_t i = 0; i < batch->n_takes; i++) {
        n_fallen += !is_decided(&batch->takes[i]) && batch->takes[i].has_local_fallback;
    }
    if (n_fallen > 0) {
        fall_back(call);
    }
    outer->done(outer, outer->context);
}

/* NULL when memory is out. */
static struct fallback_call *make_call(struct fallback_store *store, struct wr_batch *batch)
{
    struct fallback_call *const call = wr_arena_alloc(batch->arena, sizeof *call);

    if (call == NULL) {
        return NULL;
    }
    *call = (struct fallback_call){
        .store = store,
        .outer = batch,
        .remote = *batch,
        .takes = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *call->takes),
        .origins = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *call->origins),
        .fates = wr_fates_of(batch),
        .known = wr_arena_calloc(batch->arena, batch->n_takes, sizeof *call->known),
    };
    call->remote.done = remote_done;
    call->remote.context = call;
    return call->takes != NULL && call->origins != NULL && call->fates != NULL &&
                   call->known != NULL
               ? call
               : NULL;
}

static void fallback_store_take(struct wr_backend *backend, struct wr_batch *batch)
{
    struct fallback_store *const store = (struct fallback_store *) backend;
    size_t n = 0;

    for (size_t i = 0; i < batch->n_takes; i++) {
        n += batch->takes[i].has_local_fallback;
    }
    if (n == 0) {
        wr_backend_take(store->remote, batch);
        return;
    }

    struct fallback_call *const call = make_call(store, batch);

    if (call == NULL) {
        wr_batch_end(batch, WR_TAKE_NO_MEMORY);
        return;
    }
    wr_backend_take(store->remote, &call->remote);
}

static void fallback_store_destroy(struct wr_backend *backend)
{
    struct fallback_store *const store = (struct fallback_store *) backend;

    wr_backend_destroy(store->remote);
    wr_backend_destroy(store->local);
    free(store);
}

enum wr_err wr_fallback_store_new(const struct wr_fallback_options *options,
                                  struct wr_backend **remote, struct wr_backend **local,
                                  struct wr_backend **out_backend)
{
    static const struct wr_backend_ops ops = {
        .take = fallback_store_take,
        .destroy = fallback_store_destroy,
    };
    struct fallback_store *const store = malloc(sizeof *store);
    struct wr_metrics_block *const metrics =
        store != NULL ? wr_metrics_block_new(options->metrics) : NULL;

    if (metrics == NULL) {
        free(store);
        return WR_ERR_NO_MEMORY;
    }
    *store = (struct fallback_store){
        .backend = {.ops = &ops},
        .remote = *remote,
        .local = *local,
        .replicas = options->replicas,
        .metrics = metrics,
    };
    *remote = NULL;
    *local = NULL;
    *out_backend = &store->backend;
    return WR_OK;
}
