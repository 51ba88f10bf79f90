/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe_inside.h"

#include <string.h>

#include "base/assert.h"

const uint64_t wr_stripe_never_hit[WR_STATE_WORDS_MAX];
const uint64_t wr_stripe_kept[WR_STATE_WIDE_WORDS] = {INT64_MAX};

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
    for (int i = 0; i < WR_STATE_CLASSES; i++) {
        const enum wr_state_class class = (enum wr_state_class) i;

        if (wr_state_class_is_wall(class)) {
            stripe->n_used -= wr_stripe_empty_class(stripe, class, &events->n_restarts);
        }
    }
    stripe->full_until = (struct wr_now){.wall_us = INT64_MIN, .mono_us = INT64_MIN};
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

/* Class by class, of those that have tables, and table by table. */
static inline void tend_next_locked(struct wr_stripe *stripe, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    const uint64_t i = ++stripe->turn & stripe->table_mask;

    while (i == 0) {
        stripe->tended = (enum wr_state_class)((stripe->tended + 1) % WR_STATE_CLASSES);
        if (stripe->tables[stripe->tended] != NULL) {
            break;
        }
    }
    wr_stripe_sweep_locked(
        stripe, stripe->tended,
        &stripe->tables[stripe->tended][i & wr_stripe_table_mask(stripe, stripe->tended)], events);
}

void wr_stripe_charge_new_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                 const struct wr_hash *hash, struct wr_take *take,
                                 const struct wr_limit *limit, struct wr_stripe_events *events)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    uint64_t state[WR_STATE_WIDE_WORDS];

    memset(state, 0, wr_state_class_words[class] * sizeof state[0]);

    const struct wr_verdict verdict =
        wr_stripe_judge(kind, state, take, limit, wr_state_class_time(class, &stripe->latest));

    if (state[0] != 0) {
        const bool is_refused = verdict.over && limit->count != WR_COUNT_ALL;

        take->answer = wr_stripe_add_locked(stripe, class, hash, state, 0, events);
        if (take->answer != WR_TAKE_DECIDED && !is_refused) {
            return;
        }
    }
    wr_stripe_answer(take, &verdict);
}

static inline void charge_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                 struct wr_take *take, const struct wr_limit *limit,
                                 struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    const enum wr_state_class class = wr_state_class_of(limit);

    if (wr_state_class_grows(class)) {
        wr_stripe_charge_growing_locked(stripe, hash, take, limit, events);
        return;
    }

    struct wr_slot *const slot = wr_stripe_find_locked(stripe, class, hash);

    if (slot == NULL) {
        wr_stripe_charge_new_locked(stripe, class, hash, take, limit, events);
        return;
    }

    const struct wr_verdict verdict =
        wr_stripe_judge(wr_counter_kind_of(limit), slot->state, take, limit,
                        wr_state_class_time(class, &stripe->latest));

    wr_stripe_answer(take, &verdict);
    wr_stripe_note_expiry_locked(stripe, class, wr_stripe_table_of_locked(stripe, class, hash),
                                 wr_slot_expiry(slot));
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
    tend_next_locked(stripe, events);
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

/* The counter's state; NULL when there is none. */
static const uint64_t *state_of_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                       const struct wr_limit *limit) WR_REQUIRES(stripe->mutex)
{
    const enum wr_state_class class = wr_state_class_of(limit);

    if (wr_state_class_grows(class)) {
        return wr_stripe_growing_state_locked(stripe, hash, limit);
    }

    const struct wr_slot *const slot = wr_stripe_find_locked(stripe, class, hash);

    return slot == NULL ? NULL : slot->state;
}

struct wr_verdict wr_stripe_peek_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                        const struct wr_limit *limit, uint64_t hits)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    const uint64_t *const state = state_of_locked(stripe, hash, limit);

    return kind->peek(state == NULL ? wr_stripe_never_hit : state, limit, hits,
                      wr_counter_time(kind, &stripe->latest));
}

/* Swept first, so that the counter is either live, or not there: then a slot that does not expire
 * keeps its place. */
enum wr_take_answer wr_stripe_reserve_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                             const struct wr_limit *limit, uint64_t hits,
                                             struct wr_stripe_events *events, bool *out_is_kept)
{
    const enum wr_state_class class = wr_state_class_of(limit);
    enum wr_take_answer answer = WR_TAKE_DECIDED;
    bool is_new = false;

    if (wr_state_class_grows(class)) {
        answer = wr_stripe_reserve_growing_locked(stripe, hash, limit, hits, events, &is_new);
    } else {
        wr_stripe_sweep_table_of_locked(stripe, class, hash, events);
        if (wr_stripe_find_locked(stripe, class, hash) == NULL) {
            is_new = true;
            answer = wr_stripe_add_locked(stripe, class, hash, wr_stripe_kept, 0, events);
        }
    }
    *out_is_kept |= is_new && answer == WR_TAKE_DECIDED;
    return answer;
}

void wr_stripe_release_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                              const struct wr_limit *limit)
{
    const enum wr_state_class class = wr_state_class_of(limit);

    if (wr_state_class_grows(class)) {
        wr_stripe_release_growing_locked(stripe, hash, limit);
        return;
    }

    struct wr_slot *const slot = wr_stripe_find_locked(stripe, class, hash);

    WR_ASSERT(slot != NULL && wr_slot_expiry(slot) == INT64_MAX);
    wr_stripe_remove_locked(stripe, class, hash, slot);
}

void wr_stripe_tend(struct wr_stripe *stripe, const struct wr_now *now,
                    struct wr_stripe_events *events)
{
    if (wr_mutex_trylock(&stripe->mutex)) {
        set_time_locked(stripe, now, events);
        tend_next_locked(stripe, events);
        wr_mutex_unlock(&stripe->mutex);
    }
}
