/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of a stripe share: stripe_room.c has the places of its share and the tables,
 * stripe_growing.c the counters that grow, stripe.c the rest.
 *
 * Threads: the caller holds the stripe's lock.
 */
#ifndef WR_STORE_STRIPE_INSIDE_H
#define WR_STORE_STRIPE_INSIDE_H

#include "limit/algorithm.h"
#include "store/stripe.h"

/* States of a counter that was never hit, and of a place that is kept for one. */
extern const uint64_t wr_stripe_never_hit[WR_STATE_WORDS_MAX];
extern const uint64_t wr_stripe_kept[WR_STATE_WIDE_WORDS];

static inline void wr_stripe_note_earlier(int64_t *until_us, int64_t expiry_us)
{
    if (expiry_us < *until_us) {
        *until_us = expiry_us;
    }
}

/* What is used up may be given back, and expire earlier than was found when the stripe was full. */
static inline void wr_stripe_note_expiry_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                                struct wr_slot_table *table, int64_t expiry_us)
    WR_REQUIRES(stripe->mutex)
{
    if (expiry_us < table->earliest_us) {
        table->earliest_us = expiry_us;
        wr_stripe_note_earlier(wr_state_class_is_wall(class) ? &stripe->full_until.wall_us
                                                             : &stripe->full_until.mono_us,
                               expiry_us);
    }
}

/* Counters that grow take several places, so that a share holds fewer of them: a class of these has
 * a quarter of the tables, and as many counters in each. */
static inline uint32_t wr_stripe_table_mask(const struct wr_stripe *stripe,
                                            enum wr_state_class class)
{
    return stripe->table_mask >> (wr_state_class_grows(class) ? 2 : 0);
}

static inline struct wr_slot_table *wr_stripe_table_of_locked(struct wr_stripe *stripe,
                                                              enum wr_state_class class,
                                                              const struct wr_hash *hash)
    WR_REQUIRES(stripe->mutex)
{
    return &stripe->tables[class][(hash->high >> 32) & wr_stripe_table_mask(stripe, class)];
}

static inline struct wr_slot *wr_stripe_find_locked(struct wr_stripe *stripe,
                                                    enum wr_state_class class,
                                                    const struct wr_hash *hash)
    WR_REQUIRES(stripe->mutex)
{
    return stripe->tables[class] == NULL
               ? NULL
               : wr_slot_table_find(wr_stripe_table_of_locked(stripe, class, hash), hash);
}

/* Answers `take`. Field by field: as a whole, the verdict would be read wider than it was written,
 * which the processor has to wait for. */
static inline void wr_stripe_answer(struct wr_take *take, const struct wr_verdict *verdict)
{
    take->answer = WR_TAKE_DECIDED;
    take->verdict.over = verdict->over;
    take->verdict.remaining = verdict->remaining;
    take->verdict.reset_us = verdict->reset_us;
    take->verdict.enforced = verdict->enforced;
}

static inline struct wr_verdict wr_stripe_judge(const struct wr_counter_kind *kind, void *state,
                                                const struct wr_take *take,
                                                const struct wr_limit *limit, int64_t now_us)
{
    return take->is_refund ? kind->refund(state, limit, take->hits, now_us)
                           : kind->take(state, limit, take->hits, now_us);
}

/* Removes all counters of a class. Returns how many places of the share they had. */
uint64_t wr_stripe_empty_class(struct wr_stripe *stripe, enum wr_state_class class,
                               uint32_t *out_n_counters);

/* Removes what has expired from a table. */
void wr_stripe_sweep_locked(struct wr_stripe *stripe, enum wr_state_class class,
                            struct wr_slot_table *table, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex);

/* Removes what has expired from the table that a class has for `hash`, if any. */
static inline void
wr_stripe_sweep_table_of_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                const struct wr_hash *hash, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    if (stripe->tables[class] != NULL) {
        wr_stripe_sweep_locked(stripe, class, wr_stripe_table_of_locked(stripe, class, hash),
                               events);
    }
}

/*
 * True when the share has room for so many places more, if need be after sweeping table by table
 * until enough has expired. When it has not, the earliest expiry is kept, so that more is refused
 * without another look until then.
 */
bool wr_stripe_make_room_locked(struct wr_stripe *stripe, uint64_t n_places,
                                struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex);

/* Adds a counter that is not there yet, whose block has so many places. */
enum wr_take_answer wr_stripe_add_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                         const struct wr_hash *hash, const uint64_t *state,
                                         uint64_t n_block_places, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex);

void wr_stripe_remove_locked(struct wr_stripe *stripe, enum wr_state_class class,
                             const struct wr_hash *hash, struct wr_slot *slot)
    WR_REQUIRES(stripe->mutex);

/* A look or a refund that finds nothing leaves nothing, and so does a refused hit that is not
 * booked: only what was used makes a counter. Save for one that warms up, which notes that it was
 * hit; where there is no room for that, the refusal stands all the same. */
void wr_stripe_charge_new_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                 const struct wr_hash *hash, struct wr_take *take,
                                 const struct wr_limit *limit, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex);

/* Charges a counter that grows. */
void wr_stripe_charge_growing_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                     struct wr_take *take, const struct wr_limit *limit,
                                     struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex);

/* The state of a counter that grows; NULL when there is none. */
const uint64_t *wr_stripe_growing_state_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                               const struct wr_limit *limit)
    WR_REQUIRES(stripe->mutex);

/* As wr_stripe_reserve_locked, for a counter that grows. */
enum wr_take_answer wr_stripe_reserve_growing_locked(struct wr_stripe *stripe,
                                                     const struct wr_hash *hash,
                                                     const struct wr_limit *limit, uint64_t hits,
                                                     struct wr_stripe_events *events,
                                                     bool *out_is_new) WR_REQUIRES(stripe->mutex);

/* As wr_stripe_release_locked, for a counter that grows. */
void wr_stripe_release_growing_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                      const struct wr_limit *limit) WR_REQUIRES(stripe->mutex);

#endif
