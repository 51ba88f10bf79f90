/* SPDX-License-Identifier: Apache-2.0 */
#include "store/local_store.h"

#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/assert.h"
#include "base/hash.h"
#include "store/group.h"
#include "store/stripe.h"

/* Many more stripes than threads, so that two seldom meet in one. */
#define STRIPES_PER_CORE 32
#define MAX_STRIPES 1024

/* Shares fill unevenly, by about the square root of what they hold: with shares of this size the
 * first new counter is refused when some nine tenths of all are live, with larger ones later. */
#define MIN_SHARE 4096

/* A stripe that nobody takes from is swept too: every so many takes of a stripe tend another. */
#define TAKES_PER_TENDING 16

/* Takes whose hashes are made and whose stripes are fetched before the first is locked. */
#define HASHED_AT_ONCE 16

struct local_store {
    struct wr_backend backend;
    struct wr_hash_key key;    /* immutable, as all below */
    struct wr_stripe *stripes; /* owned; in ascending order of rank */
    unsigned n_stripes;        /* a power of two */
};

static struct local_store *store_of(struct wr_backend *backend)
{
    return (struct local_store *) backend;
}

static void note_answer(const struct wr_take *take, struct wr_metrics_block *metrics)
{
    if (take->answer == WR_TAKE_FULL) {
        wr_metrics_add(metrics, WR_METRIC_STORE_FULL, 1);
    } else if (take->answer == WR_TAKE_NO_MEMORY) {
        wr_metrics_add(metrics, WR_METRIC_STORE_NO_MEMORY, 1);
    }
}

static void note_events(const struct wr_stripe_events *events, struct wr_metrics_block *metrics)
{
    if (events->n_contended > 0) {
        wr_metrics_add(metrics, WR_METRIC_STORE_CONTENDED, events->n_contended);
    }
    if (events->n_restarts > 0) {
        wr_metrics_add(metrics, WR_METRIC_STORE_RESTARTS, events->n_restarts);
    }
    if (events->n_swept > 0) {
        wr_metrics_add(metrics, WR_METRIC_STORE_SWEPT, events->n_swept);
    }
}

static struct wr_stripe *stripe_of(struct local_store *store, const struct wr_hash *hash)
{
    return &store->stripes[hash->high & (store->n_stripes - 1)];
}

static void tend_another(struct local_store *store, const struct wr_now *now,
                         struct wr_stripe_events *events)
{
    if (events->turn % TAKES_PER_TENDING == 0) {
        const uint64_t other = events->turn / TAKES_PER_TENDING % store->n_stripes;

        wr_stripe_tend(&store->stripes[other], now, events);
    }
}

static void take_one(struct local_store *store, const struct wr_hash *hash, struct wr_take *take,
                     const struct wr_batch *batch, struct wr_stripe_events *events)
{
    wr_stripe_take(stripe_of(store, hash), hash, take, &batch->now, events);
    note_answer(take, batch->metrics);
    tend_another(store, &batch->now, events);
}

static void take_some(struct local_store *store, struct wr_take *takes, size_t n,
                      const struct wr_batch *batch, struct wr_stripe_events *events)
{
    struct wr_hash hashes[HASHED_AT_ONCE];

    for (size_t i = 0; i < n; i++) {
        hashes[i] = wr_hash_of(&store->key, takes[i].key);
        __builtin_prefetch(stripe_of(store, &hashes[i]), 1);
    }
    for (size_t i = 0; i < n; i++) {
        take_one(store, &hashes[i], &takes[i], batch, events);
    }
}

static bool is_all_or_nothing(const struct wr_take *take)
{
    return take->limit.count == WR_COUNT_ALL_OR_NOTHING;
}

static bool has_groups(const struct wr_batch *batch)
{
    if (batch->mode == WR_CHARGE_STOP) {
        return true;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        if (is_all_or_nothing(&batch->takes[i])) {
            return true;
        }
    }
    return false;
}

/* The takes of `batch`, sorted into groups; NULL when memory is out. */
static struct wr_group_member *sort_into_groups(struct local_store *store,
                                                const struct wr_batch *batch)
{
    struct wr_group_member *const members =
        wr_arena_calloc(batch->arena, batch->n_takes, sizeof *members);

    if (members == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < batch->n_takes; i++) {
        members[i].take = &batch->takes[i];
        members[i].hash = wr_hash_of(&store->key, batch->takes[i].key);
        members[i].stripe = stripe_of(store, &members[i].hash);
    }
    wr_group_sort(members, batch->n_takes, batch->mode == WR_CHARGE_STOP);
    return members;
}

/* How many of `n` members are of the group of the first; `*out_is_plain` when none of them cares
 * what becomes of the others. */
static size_t measure_group(const struct wr_group_member *members, size_t n,
                            const struct wr_batch *batch, bool *out_is_plain)
{
    const bool is_stop = batch->mode == WR_CHARGE_STOP;
    size_t n_group = 0;

    *out_is_plain = !is_stop;
    while (n_group < n && (is_stop || members[n_group].take->group == members->take->group)) {
        *out_is_plain = *out_is_plain && !is_all_or_nothing(members[n_group].take);
        n_group++;
    }
    return n_group;
}

static void take_group(struct local_store *store, struct wr_group_member *members, size_t n,
                       const struct wr_batch *batch, struct wr_stripe_events *events)
{
    wr_group_take(members, n, batch->mode, &batch->now, events);
    for (size_t i = 0; i < n; i++) {
        note_answer(members[i].take, batch->metrics);
    }
    tend_another(store, &batch->now, events);
}

static void take_groups(struct local_store *store, const struct wr_batch *batch,
                        struct wr_stripe_events *events)
{
    struct wr_group_member *const members = sort_into_groups(store, batch);

    if (members == NULL) {
        for (size_t i = 0; i < batch->n_takes; i++) {
            batch->takes[i].answer = WR_TAKE_NO_MEMORY;
            note_answer(&batch->takes[i], batch->metrics);
        }
        return;
    }
    for (size_t i = 0, n = 0; i < batch->n_takes; i += n) {
        bool is_plain = false;

        n = measure_group(&members[i], batch->n_takes - i, batch, &is_plain);
        if (!is_plain) {
            take_group(store, &members[i], n, batch, events);
            continue;
        }
        for (size_t k = i; k < i + n; k++) {
            take_one(store, &members[k].hash, members[k].take, batch, events);
        }
    }
}

static void local_store_take(struct wr_backend *backend, struct wr_batch *batch)
{
    struct local_store *const store = store_of(backend);
    struct wr_stripe_events events = {0};
    const size_t n_plain = has_groups(batch) ? 0 : batch->n_takes;

    for (size_t i = 0; i < n_plain; i += HASHED_AT_ONCE) {
        const size_t left = n_plain - i;

        take_some(store, batch->takes + i, left < HASHED_AT_ONCE ? left : HASHED_AT_ONCE, batch,
                  &events);
    }
    if (n_plain < batch->n_takes) {
        take_groups(store, batch, &events);
    }
    note_events(&events, batch->metrics);
    batch->done(batch, batch->context);
}

static void local_store_destroy(struct wr_backend *backend)
{
    struct local_store *const store = store_of(backend);

    for (unsigned i = 0; i < store->n_stripes; i++) {
        wr_stripe_fini(&store->stripes[i]);
    }
    free(store->stripes);
    free(store);
}

static const struct wr_backend_ops local_store_ops = {
    .take = local_store_take,
    .destroy = local_store_destroy,
};

static unsigned choose_n_stripes(uint64_t max_counters)
{
    const long n_cores = sysconf(_SC_NPROCESSORS_ONLN);
    const unsigned long wish = (n_cores > 0 ? (unsigned long) n_cores : 1) * STRIPES_PER_CORE;
    unsigned n = 1;

    while (n < wish && n < MAX_STRIPES && max_counters / (2 * n) >= MIN_SHARE) {
        n *= 2;
    }
    return n;
}

/* Initialises stripes into `n_stripes`, so that destroy knows how many there are. */
static enum wr_err init_stripes(struct local_store *store, unsigned n, uint64_t max_counters)
{
    const uint64_t share = max_counters / n + (max_counters % n != 0);

    store->stripes = aligned_alloc(alignof(struct wr_stripe), n * sizeof *store->stripes);
    if (store->stripes == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    while (store->n_stripes < n) {
        const enum wr_err err = wr_stripe_init(&store->stripes[store->n_stripes], share);

        if (err != WR_OK) {
            return err;
        }
        store->n_stripes++;
    }
    return WR_OK;
}

enum wr_err wr_local_store_new(const struct wr_local_store_options *options,
                               struct wr_backend **out_backend)
{
    const unsigned n =
        options->n_stripes != 0 ? options->n_stripes : choose_n_stripes(options->max_counters);

    WR_ASSERT(options->max_counters > 0 && (n & (n - 1)) == 0);

    struct local_store *const store = calloc(1, sizeof *store);

    if (store == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    store->backend.ops = &local_store_ops;

    enum wr_err err = wr_hash_key_draw(&store->key);

    if (err == WR_OK) {
        err = init_stripes(store, n, options->max_counters);
    }
    if (err != WR_OK) {
        local_store_destroy(&store->backend);
        return err;
    }
    *out_backend = &store->backend;
    return WR_OK;
}

void wr_local_store_stats(struct wr_backend *backend, struct wr_local_store_stats *out_stats)
{
    struct local_store *const store = store_of(backend);
    struct wr_local_store_stats stats = {.memory_bytes = sizeof *store};

    WR_ASSERT(backend->ops == &local_store_ops);
    for (unsigned i = 0; i < store->n_stripes; i++) {
        const struct wr_stripe_size size = wr_stripe_measure(&store->stripes[i]);

        stats.n_counters += size.n_counters;
        stats.memory_bytes += size.memory_bytes;
    }
    *out_stats = stats;
}
