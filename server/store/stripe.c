/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe.h"

#include <stdlib.h>

#include "base/assert.h"
#include "limit/algorithm.h"

/* Shares of over four million counters have larger tables instead of more. */
#define MAX_TABLES (UINT32_C(1) << 14)

/* Of the class that there is. */
#define STATE_WORDS 2

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
        wr_slot_table_init(&stripe->tables[i], STATE_WORDS);
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

/* Makes `latest` the time that takes which came with `now` count at: late ones at the latest so
 * far.
 */
static void set_time_locked(struct wr_stripe *stripe, const struct wr_now *now,
                            struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    if (now->mono_us < stripe->latest.mono_us) {
        return;
    }
    if (is_set_back(&stripe->latest, now)) {
        begin_anew_locked(stripe, events);
    } else if (now->wall_us < stripe->latest.wall_us) {
        return;
    }
    stripe->latest = *now;
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

/* The tables of the class that the key is of. */
static struct wr_slot_table *table_of_locked(struct wr_stripe *stripe, const struct wr_hash *hash)
    WR_REQUIRES(stripe->mutex)
{
    return &stripe->tables[(hash->high >> 32) & stripe->table_mask];
}

/* Answers `take`. Field by field: as a whole, the verdict would be read wider than it was written,
 * which the processor has to wait for. */
static void answer(struct wr_take *take, const struct wr_verdict *verdict)
{
    take->answer = WR_TAKE_DECIDED;
    take->verdict.over = verdict->over;
    take->verdict.remaining = verdict->remaining;
    take->verdict.reset_us = verdict->reset_us;
    take->verdict.enforced = verdict->enforced;
}

static inline struct wr_verdict judge(const struct wr_counter_kind *kind, void *state,
                                      const struct wr_take *take, const struct wr_limit *limit,
                                      int64_t now_us)
{
    return take->is_refund ? kind->refund(state, limit, take->hits, now_us)
                           : kind->take(state, limit, take->hits, now_us);
}

/* A look or a refund that finds nothing leaves nothing, and so does a refused hit that is not
 * booked: only what was used makes a counter. */
static void charge_new_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                              struct wr_take *take, const struct wr_limit *limit,
                              struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    const int64_t now_us = wr_counter_time(kind, &stripe->latest);
    uint64_t state[STATE_WORDS] = {0};
    const struct wr_verdict verdict = judge(kind, state, take, limit, now_us);

    if (state[0] != 0) {
        struct wr_slot_table *const table = table_of_locked(stripe, hash);

        sweep_locked(stripe, table, now_us, events);
        if (!make_room_locked(stripe, now_us, events)) {
            take->answer = WR_TAKE_FULL;
            return;
        }
        if (!wr_slot_table_add(table, hash, state)) {
            take->answer = WR_TAKE_NO_MEMORY;
            return;
        }
        stripe->n_used++;
    }
    answer(take, &verdict);
}

static inline void charge_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                 struct wr_take *take, const struct wr_limit *limit,
                                 struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    struct wr_slot_table *const table = table_of_locked(stripe, hash);
    struct wr_slot *const slot = wr_slot_table_find(table, hash);

    if (slot == NULL) {
        charge_new_locked(stripe, hash, take, limit, events);
        return;
    }

    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);

    const struct wr_verdict verdict =
        judge(kind, slot->state, take, limit, wr_counter_time(kind, &stripe->latest));

    answer(take, &verdict);
    wr_slot_table_note_expiry(table, wr_slot_expiry(slot));
}

static inline void enter(struct wr_stripe *stripe, const struct wr_now *now,
                         struct wr_stripe_events *events) WR_ACQUIRE(stripe->mutex)
{
    lock(stripe, events);
    set_time_locked(stripe, now, events);
}

static inline void leave(struct wr_stripe *stripe, struct wr_stripe_events *events)
    WR_RELEASE(stripe->mutex)
{
    tend_next_locked(stripe, stripe->latest.wall_us, events);
    events->turn = stripe->turn;
    wr_mutex_unlock(&stripe->mutex);
}

void wr_stripe_take(struct wr_stripe *stripe, const struct wr_hash *hash, struct wr_take *take,
                    const struct wr_now *now, struct wr_stripe_events *events)
{
    enter(stripe, now, events);
    charge_locked(stripe, hash, take, &take->limit, events);
    leave(stripe, events);
}

void wr_stripe_enter(struct wr_stripe *stripe, const struct wr_now *now,
                     struct wr_stripe_events *events)
{
    enter(stripe, now, events);
}

void wr_stripe_leave(struct wr_stripe *stripe, struct wr_stripe_events *events)
{
    leave(stripe, events);
}

void wr_stripe_charge_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                             struct wr_take *take, const struct wr_limit *limit,
                             struct wr_stripe_events *events)
{
    charge_locked(stripe, hash, take, limit, events);
}

struct wr_verdict wr_stripe_peek_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                        const struct wr_limit *limit, uint64_t hits)
{
    static const uint64_t never_hit[STATE_WORDS] = {0};
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    const struct wr_slot *const slot = wr_slot_table_find(table_of_locked(stripe, hash), hash);

    return kind->peek(slot == NULL ? never_hit : slot->state, limit, hits,
                      wr_counter_time(kind, &stripe->latest));
}

/* Swept first, so that the counter is either live, or not there: then a slot that does not expire
 * keeps its place. */
enum wr_take_answer wr_stripe_reserve_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                             struct wr_stripe_events *events, bool *out_is_kept)
{
    static const uint64_t kept[STATE_WORDS] = {INT64_MAX};
    struct wr_slot_table *const table = table_of_locked(stripe, hash);
    const int64_t now_us = stripe->latest.wall_us;

    *out_is_kept = false;
    sweep_locked(stripe, table, now_us, events);
    if (wr_slot_table_find(table, hash) != NULL) {
        return WR_TAKE_DECIDED;
    }
    if (!make_room_locked(stripe, now_us, events)) {
        return WR_TAKE_FULL;
    }
    if (!wr_slot_table_add(table, hash, kept)) {
        return WR_TAKE_NO_MEMORY;
    }
    stripe->n_used++;
    *out_is_kept = true;
    return WR_TAKE_DECIDED;
}

void wr_stripe_release_locked(struct wr_stripe *stripe, const struct wr_hash *hash)
{
    struct wr_slot_table *const table = table_of_locked(stripe, hash);
    struct wr_slot *const slot = wr_slot_table_find(table, hash);

    WR_ASSERT(slot != NULL && wr_slot_expiry(slot) == INT64_MAX);
    wr_slot_table_remove(table, slot);
    stripe->n_used--;
}

void wr_stripe_tend(struct wr_stripe *stripe, const struct wr_now *now,
                    struct wr_stripe_events *events)
{
    if (wr_mutex_trylock(&stripe->mutex)) {
        set_time_locked(stripe, now, events);
        tend_next_locked(stripe, stripe->latest.wall_us, events);
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
        .memory_bytes = sizeof *stripe + n_slots * wr_slot_bytes(STATE_WORDS) +
                        (stripe->table_mask + UINT64_C(1)) * sizeof *stripe->tables,
    };

    wr_mutex_unlock(&stripe->mutex);
    return size;
}
