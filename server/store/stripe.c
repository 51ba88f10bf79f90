/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe.h"

#include <stdlib.h>

#include "limit/fixed_window.h"

/* Shares of over four million counters have larger tables instead of more. */
#define MAX_TABLES (UINT32_C(1) << 14)

static uint32_t tables_for(uint64_t share)
{
    uint32_t n = 1;

    while ((uint64_t) n * WR_SLOT_TABLE_TARGET < share && n < MAX_TABLES) {
        n *= 2;
    }
    return n;
}

enum wr_err wr_stripe_init(struct wr_stripe *stripe, uint64_t share)
{
    const uint32_t n_tables = tables_for(share);

    *stripe = (struct wr_stripe){.share = share, .table_mask = n_tables - 1};
    stripe->tables = malloc(n_tables * sizeof *stripe->tables);
    if (stripe->tables == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    for (uint32_t i = 0; i < n_tables; i++) {
        wr_slot_table_init(&stripe->tables[i]);
    }
    wr_mutex_init(&stripe->mutex, WR_LOCK_STRIPE);
    return WR_OK;
}

void wr_stripe_fini(struct wr_stripe *stripe)
{
    for (uint32_t i = 0; i <= stripe->table_mask; i++) {
        wr_slot_table_fini(&stripe->tables[i]);
    }
    free(stripe->tables);
    wr_mutex_fini(&stripe->mutex);
}

static void lock(struct wr_stripe *stripe, struct wr_stripe_events *events)
    WR_ACQUIRE(stripe->mutex) WR_UNCHECKED
{
    if (wr_mutex_trylock(&stripe->mutex)) {
        return;
    }
    events->n_contended++;
    wr_mutex_lock(&stripe->mutex);
}

static void begin_anew_locked(struct wr_stripe *stripe, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    for (uint32_t i = 0; i <= stripe->table_mask; i++) {
        wr_slot_table_fini(&stripe->tables[i]);
    }
    events->n_restarts += (uint32_t) stripe->n_used;
    stripe->n_used = 0;
    stripe->full_until_us = INT64_MIN;
}

/* Whether the clock was set back between two reads in order. The offset of wall to monotonic time
 * tells, even when wall time has caught up; steps forward since may hide that, but no wall time
 * that is still behind. */
static bool is_set_back(const struct wr_now *before, const struct wr_now *now)
{
    const int64_t back_us = before->wall_us - now->wall_us;
    const int64_t passed_us = now->mono_us - before->mono_us;

    return back_us > WR_CLOCK_JITTER_US || back_us + passed_us > WR_CLOCK_WAIT_US;
}

/* The wall time that a take which came with `now` counts at: a late one at the latest so far. */
static int64_t time_locked(struct wr_stripe *stripe, const struct wr_now *now,
                           struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    if (now->mono_us < stripe->latest.mono_us) {
        return stripe->latest.wall_us;
    }
    if (is_set_back(&stripe->latest, now)) {
        begin_anew_locked(stripe, events);
    } else if (now->wall_us < stripe->latest.wall_us) {
        return stripe->latest.wall_us;
    }
    stripe->latest = *now;
    return now->wall_us;
}

static void sweep_locked(struct wr_stripe *stripe, struct wr_slot_table *table, int64_t now_us,
                         struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    if (table->earliest_us <= now_us) {
        const uint32_t n = wr_slot_table_sweep(table, now_us);

        stripe->n_used -= n;
        events->n_swept += n;
    }
}

static void tend_next_locked(struct wr_stripe *stripe, int64_t now_us,
                             struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    stripe->turn++;
    sweep_locked(stripe, &stripe->tables[stripe->turn & stripe->table_mask], now_us, events);
}

/*
 * True when the share has room for one more counter, if need be after sweeping table by table until
 * one has expired. When all are live, the earliest expiry is kept, so that further new counters are
 * refused without another look until then.
 */
static bool make_room_locked(struct wr_stripe *stripe, int64_t now_us,
                             struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    if (stripe->n_used < stripe->share) {
        return true;
    }
    if (stripe->full_until_us > now_us) {
        return false;
    }

    int64_t earliest_us = INT64_MAX;

    for (uint32_t i = 0; i <= stripe->table_mask; i++) {
        struct wr_slot_table *const table =
            &stripe->tables[(stripe->turn + i) & stripe->table_mask];

        sweep_locked(stripe, table, now_us, events);
        if (stripe->n_used < stripe->share) {
            return true;
        }
        if (table->earliest_us < earliest_us) {
            earliest_us = table->earliest_us;
        }
    }
    stripe->full_until_us = earliest_us;
    return false;
}

static struct wr_verdict judge(const struct wr_take *take, struct wr_fixed_window *state,
                               int64_t now_us)
{
    return take->is_refund ? wr_fixed_window_refund(state, &take->limit, take->hits, now_us)
                           : wr_fixed_window_take(state, &take->limit, take->hits, now_us);
}

/* A look that finds a spent window leaves the counter as expired as it was. Windows only move on,
 * so the table's earliest expiry holds. */
static void take_known(struct wr_slot *slot, struct wr_take *take, int64_t now_us)
{
    const int64_t length_us = take->limit.length_us;
    const int64_t before_us = slot->expiry_us - length_us;
    struct wr_fixed_window state = {.start_us = before_us, .used = slot->used};

    take->verdict = judge(take, &state, now_us);
    take->answer = WR_TAKE_DECIDED;
    if (state.start_us != before_us) {
        if (state.used == 0) {
            return;
        }
        slot->expiry_us = state.start_us + length_us;
    }
    slot->used = state.used;
}

/* A look or a refund that finds nothing leaves nothing, and so does a refused hit that is not
 * booked: only what was used makes a counter. */
static void take_new_locked(struct wr_stripe *stripe, struct wr_slot_table *table,
                            const struct wr_hash *hash, struct wr_take *take, int64_t now_us,
                            struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    struct wr_fixed_window state = {0};
    const struct wr_verdict verdict = judge(take, &state, now_us);

    if (state.used > 0) {
        const int64_t expiry_us = state.start_us + take->limit.length_us;
        const struct wr_slot slot = {
            .hash = *hash,
            .expiry_us = expiry_us,
            .used = state.used,
        };

        sweep_locked(stripe, table, now_us, events);
        if (!make_room_locked(stripe, now_us, events)) {
            take->answer = WR_TAKE_FULL;
            return;
        }
        if (!wr_slot_table_add(table, &slot)) {
            take->answer = WR_TAKE_NO_MEMORY;
            return;
        }
        stripe->n_used++;
    }
    take->verdict = verdict;
    take->answer = WR_TAKE_DECIDED;
}

/* The tables of the class that the take's key is of; fixed windows are the only class. */
static struct wr_slot_table *table_of_locked(struct wr_stripe *stripe, const struct wr_hash *hash)
    WR_REQUIRES(stripe->mutex)
{
    return &stripe->tables[(hash->high >> 32) & stripe->table_mask];
}

void wr_stripe_take(struct wr_stripe *stripe, const struct wr_hash *hash, struct wr_take *take,
                    const struct wr_now *now, struct wr_stripe_events *events)
{
    lock(stripe, events);

    const int64_t now_us = time_locked(stripe, now, events);
    struct wr_slot_table *const table = table_of_locked(stripe, hash);
    struct wr_slot *const slot = wr_slot_table_find(table, hash);

    if (slot != NULL) {
        take_known(slot, take, now_us);
    } else {
        take_new_locked(stripe, table, hash, take, now_us, events);
    }
    tend_next_locked(stripe, now_us, events);
    events->turn = stripe->turn;
    wr_mutex_unlock(&stripe->mutex);
}

void wr_stripe_tend(struct wr_stripe *stripe, const struct wr_now *now,
                    struct wr_stripe_events *events)
{
    if (wr_mutex_trylock(&stripe->mutex)) {
        tend_next_locked(stripe, time_locked(stripe, now, events), events);
        wr_mutex_unlock(&stripe->mutex);
    }
}

struct wr_stripe_size wr_stripe_measure(struct wr_stripe *stripe)
{
    uint64_t n_slots = 0;

    wr_mutex_lock(&stripe->mutex);
    for (uint32_t i = 0; i <= stripe->table_mask; i++) {
        n_slots += stripe->tables[i].capacity;
    }

    const struct wr_stripe_size size = {
        .n_counters = stripe->n_used,
        .memory_bytes = sizeof *stripe + n_slots * sizeof(struct wr_slot) +
                        (stripe->table_mask + UINT64_C(1)) * sizeof *stripe->tables,
    };

    wr_mutex_unlock(&stripe->mutex);
    return size;
}
