/* SPDX-License-Identifier: Apache-2.0 */
#include "store/over_limit_table.h"

#include <stdalign.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/lock.h"

/* Entries of a set: where a counter can be. */
#define WAYS 4

#define N_STRIPES 64

/* A counter that is over. All zero: free. */
struct entry {
    struct wr_hash hash;
    uint64_t requests;       /* the limit that it is over */
    int64_t ends_mono_us;    /* of the window, at the earliest: of no use from then on */
    int64_t told_mono_us;    /* the end as callers are told, never too early */
    int64_t trusted_mono_us; /* until when the store need not be asked */
    uint64_t held;           /* hits that the store has yet to count */
    uint64_t n_refusals;     /* by the store, in a row */
};

_Static_assert(sizeof(struct entry) == WR_OVER_LIMIT_ENTRY_BYTES, "the header says so");

/* Guards the sets whose number leaves its own as remainder. */
struct stripe {
    alignas(64) struct wr_mutex mutex; /* rank WR_LOCK_OVER_LIMIT */
    /* guarded by mutex, as those sets are */
    uint64_t n_refunds; /* answered; what was asked for before one is not remembered after it */
};

struct wr_over_limit_table {
    struct wr_hash_key key; /* immutable, as all below */
    size_t n_sets;
    int64_t flight_us;
    struct entry *entries; /* owned; WAYS a set */
    struct stripe stripes[N_STRIPES];
};

static struct stripe *stripe_of(struct wr_over_limit_table *table, struct wr_hash hash)
{
    return &table->stripes[hash.high % table->n_sets % N_STRIPES];
}

static struct entry *set_of(struct wr_over_limit_table *table, struct wr_hash hash)
{
    return &table->entries[hash.high % table->n_sets * WAYS];
}

/* NULL when there is none; those whose window is over are freed in passing. */
static struct entry *find_locked(struct wr_over_limit_table *table, struct wr_hash hash,
                                 int64_t mono_us)
{
    struct entry *const set = set_of(table, hash);
    struct entry *found = NULL;

    for (size_t i = 0; i < WAYS; i++) {
        if (set[i].ends_mono_us <= mono_us) {
            set[i] = (struct entry){0};
        } else if (wr_hash_equal(set[i].hash, hash)) {
            found = &set[i];
        }
    }
    return found;
}

/* The place for a new entry: a free one, which ends at 0, or that of the one that ends first. */
static struct entry *make_room_locked(struct wr_over_limit_table *table, struct wr_hash hash)
{
    struct entry *const set = set_of(table, hash);
    struct entry *first = set;

    for (size_t i = 1; i < WAYS; i++) {
        if (set[i].ends_mono_us < first->ends_mono_us) {
            first = &set[i];
        }
    }
    return first;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void hold_locked(struct entry *entry, uint64_t hits)
{
    entry->held = hits > WR_COUNT_MAX - entry->held ? WR_COUNT_MAX : entry->held + hits;
}

/* Whether what is sent now could be charged when the window is over. It ends when the entry says or
 * later, as the store's word was under way; but the two clocks may have parted since. */
static bool is_near_end(const struct wr_over_limit_table *table, const struct entry *entry,
                        int64_t mono_us)
{
    const int64_t told_us = entry->trusted_mono_us - WR_OVER_LIMIT_TRUST_US;
    const int64_t drift_us = (mono_us - told_us) * WR_OVER_LIMIT_DRIFT_PPM / 1000000;

    return entry->ends_mono_us - mono_us < table->flight_us + drift_us;
}

/* The hits that go with `take`: they are charged with it, or before it when it is a refund. They
 * would fall into the next window when this one is near its end; then they are taken off from a
 * refund, and die with the entry else. Taking off comes to the same, but at WR_COUNT_MAX. */
static void release_locked(const struct wr_over_limit_table *table, struct entry *entry,
                           const struct wr_take *take, const struct wr_over_limit_leave *leave,
                           struct wr_over_limit_asked *asked)
{
    const bool is_near = is_near_end(table, entry, asked->mono_us);

    asked->is_netted = take->is_refund && (is_near || leave->must_net);
    if (asked->is_netted) {
        asked->held = take->hits < entry->held ? take->hits : entry->held;
    } else if (!is_near) {
        asked->held = entry->held;
    }
    entry->held -= asked->held;
}

static bool is_known_over(const struct entry *entry, const struct wr_take *take, int64_t mono_us)
{
    return !take->must_book && !take->is_refund && entry->n_refusals >= WR_OVER_LIMIT_REFUSALS &&
           entry->requests == take->limit.requests && mono_us < entry->trusted_mono_us;
}

/* What the store told may have been under way for a while. A window of the calendar may be longer
 * than its unit: a month of 31 days, a day of 25 hours. */
static int64_t longest_reset(const struct wr_limit *limit)
{
    return limit->alignment == WR_ALIGN_CALENDAR ? INT64_MAX : limit->length_us;
}

static void answer_locked(struct entry *entry, struct wr_take *take, int64_t mono_us)
{
    hold_locked(entry, take->hits);
    take->answer = WR_TAKE_DECIDED;
    take->verdict = (struct wr_verdict){
        .over = true,
        .reset_us = min_of(entry->told_mono_us - mono_us, longest_reset(&take->limit)),
        .enforced = take->limit.requests,
    };
}

bool wr_over_limit_table_answer(struct wr_over_limit_table *table, struct wr_take *take,
                                const struct wr_over_limit_leave *leave, int64_t mono_us,
                                struct wr_over_limit_asked *out_asked)
{
    const struct wr_hash hash = wr_hash_of(&table->key, take->key);
    struct stripe *const stripe = stripe_of(table, hash);

    wr_mutex_lock(&stripe->mutex);

    struct entry *const entry = find_locked(table, hash, mono_us);
    const bool is_known = leave->may_answer && entry != NULL && is_known_over(entry, take, mono_us);

    *out_asked = (struct wr_over_limit_asked){
        .hash = hash,
        .mono_us = mono_us,
        .n_refunds = stripe->n_refunds,
        .had_entry = entry != NULL,
    };
    if (is_known) {
        answer_locked(entry, take, mono_us);
    } else if (entry != NULL) {
        release_locked(table, entry, take, leave, out_asked);
    }
    wr_mutex_unlock(&stripe->mutex);
    return is_known;
}

/* `entry` is that of the counter; NULL: it has none yet. */
static void remember_locked(struct wr_over_limit_table *table, struct entry *entry,
                            const struct wr_take *take, const struct wr_over_limit_asked *asked,
                            int64_t mono_us)
{
    const int64_t ends_mono_us = asked->mono_us + take->verdict.reset_us;
    const int64_t told_mono_us = mono_us + take->verdict.reset_us;

    if (ends_mono_us <= mono_us) {
        return;
    }
    if (entry == NULL) {
        entry = make_room_locked(table, asked->hash);
        *entry = (struct entry){.hash = asked->hash, .told_mono_us = INT64_MAX};
    }
    if (entry->requests != take->limit.requests) {
        entry->requests = take->limit.requests;
        entry->n_refusals = 0;
    }
    entry->n_refusals++;
    entry->told_mono_us = min_of(entry->told_mono_us, told_mono_us);
    entry->ends_mono_us = min_of(ends_mono_us, entry->told_mono_us);
    entry->trusted_mono_us = asked->mono_us + WR_OVER_LIMIT_TRUST_US;
}

static bool is_certain(const struct wr_take *take)
{
    return take->answer == WR_TAKE_DECIDED && !take->is_degraded;
}

/* Whether an answer says that nothing was charged. */
static bool is_uncharged(enum wr_take_answer answer)
{
    return answer == WR_TAKE_AWAY || answer == WR_TAKE_LATE || answer == WR_TAKE_NO_MEMORY;
}

/* Puts an entry right by an answer that is no refusal. One that is not over a limit is not over a
 * higher one either; what was held still waits for the next take. */
static void put_right_locked(struct entry *entry, const struct wr_take *take,
                             const struct wr_over_limit_asked *asked)
{
    if (take->is_refund || (is_certain(take) && take->limit.requests <= entry->requests)) {
        entry->n_refusals = 0;
    }
    if (is_uncharged(take->answer)) {
        hold_locked(entry, asked->held);
    }
    if (entry->n_refusals == 0 && entry->held == 0) {
        *entry = (struct entry){0};
    }
}

void wr_over_limit_table_hold_again(struct wr_over_limit_table *table, enum wr_take_answer answer,
                                    const struct wr_over_limit_asked *asked, int64_t mono_us)
{
    struct stripe *const stripe = stripe_of(table, asked->hash);

    if (!is_uncharged(answer)) {
        return;
    }
    wr_mutex_lock(&stripe->mutex);

    struct entry *const entry = find_locked(table, asked->hash, mono_us);

    if (entry != NULL) {
        hold_locked(entry, asked->held);
    }
    wr_mutex_unlock(&stripe->mutex);
}

void wr_over_limit_table_learn(struct wr_over_limit_table *table, const struct wr_take *take,
                               const struct wr_over_limit_asked *asked, int64_t mono_us)
{
    const bool is_over = is_certain(take) && take->verdict.over && !take->is_refund;
    struct stripe *const stripe = stripe_of(table, asked->hash);

    if (!is_over && !take->is_refund && !asked->had_entry) {
        return;
    }
    wr_mutex_lock(&stripe->mutex);

    struct entry *const entry = find_locked(table, asked->hash, mono_us);

    stripe->n_refunds += take->is_refund;
    if (is_over && asked->n_refunds == stripe->n_refunds) {
        remember_locked(table, entry, take, asked, mono_us);
    } else if (!is_over && entry != NULL) {
        put_right_locked(entry, take, asked);
    }
    wr_mutex_unlock(&stripe->mutex);
}

void wr_over_limit_table_destroy(struct wr_over_limit_table *table)
{
    if (table == NULL) {
        return;
    }
    for (size_t i = 0; i < N_STRIPES; i++) {
        wr_mutex_fini(&table->stripes[i].mutex);
    }
    free(table->entries);
    free(table);
}

enum wr_err wr_over_limit_table_new(size_t max_entries, int64_t flight_us,
                                    struct wr_over_limit_table **out_table)
{
    WR_ASSERT(max_entries > 0 && flight_us >= 0);

    const size_t n_sets = (max_entries - 1) / WAYS + 1;
    struct wr_over_limit_table *const table =
        aligned_alloc(alignof(struct wr_over_limit_table), sizeof *table);

    if (table == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    *table = (struct wr_over_limit_table){
        .n_sets = n_sets,
        .flight_us = flight_us,
        .entries = calloc(n_sets, WAYS * sizeof *table->entries),
    };
    for (size_t i = 0; i < N_STRIPES; i++) {
        wr_mutex_init(&table->stripes[i].mutex, WR_LOCK_OVER_LIMIT);
    }

    const enum wr_err err =
        table->entries == NULL ? WR_ERR_NO_MEMORY : wr_hash_key_draw(&table->key);

    if (err != WR_OK) {
        wr_over_limit_table_destroy(table);
        return err;
    }
    *out_table = table;
    return WR_OK;
}
