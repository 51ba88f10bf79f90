/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe_inside.h"

#include <string.h>

#include "store/block.h"

/* Where a counter that grows is; without a slot: nowhere. */
struct spot {
    enum wr_state_class class;
    struct wr_slot *slot;
    uint64_t *state;
    uint64_t n_words; /* that the state has room for */
};

static uint32_t words_for(const uint64_t *state, const struct wr_limit *limit)
{
    return wr_counter_kind_of(limit)->state_words(state, limit);
}

static inline struct spot spot_of(struct wr_slot *slot, enum wr_state_class class)
{
    struct spot spot = {.class = class, .slot = slot};

    if (slot != NULL && class == WR_STATE_MONO_WIDE) {
        spot.state = slot->state;
        spot.n_words = WR_STATE_WIDE_WORDS;
    } else if (slot != NULL) {
        spot.state = wr_slot_block(slot)->state;
        spot.n_words = wr_block_words(wr_slot_block(slot));
    }
    return spot;
}

/* Looks first where a counter is that has not grown beyond what it needed at first. */
static inline struct spot find_spot_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                           const struct wr_limit *limit) WR_REQUIRES(stripe->mutex)
{
    const bool is_wide = words_for(wr_stripe_never_hit, limit) <= WR_STATE_WIDE_WORDS;
    const enum wr_state_class first = is_wide ? WR_STATE_MONO_WIDE : WR_STATE_MONO_BLOCK;
    const enum wr_state_class second = is_wide ? WR_STATE_MONO_BLOCK : WR_STATE_MONO_WIDE;
    struct wr_slot *const slot = wr_stripe_find_locked(stripe, first, hash);

    return slot != NULL ? spot_of(slot, first)
                        : spot_of(wr_stripe_find_locked(stripe, second, hash), second);
}

/* Adds a counter with a block for so many words, which never expires. */
static enum wr_take_answer add_block_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                            uint32_t n_words, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    const uint64_t n_places = wr_block_places(n_words);
    struct wr_block *const block = wr_block_grow(NULL, n_places);

    if (block == NULL) {
        return WR_TAKE_NO_MEMORY;
    }

    const uint64_t state[WR_SLOT_BLOCK_WORDS] = {INT64_MAX, (uint64_t) (uintptr_t) block};
    const enum wr_take_answer answer =
        wr_stripe_add_locked(stripe, WR_STATE_MONO_BLOCK, hash, state, n_places, events);

    if (answer != WR_TAKE_DECIDED) {
        wr_block_destroy(block);
    }
    return answer;
}

/* Moves a counter into a block, for which there is room. A place that is only kept has no state. */
static enum wr_take_answer move_to_block_locked(struct wr_stripe *stripe,
                                                const struct wr_hash *hash, struct wr_slot *slot,
                                                uint32_t n_words, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    uint64_t state[WR_STATE_WIDE_WORDS];

    memcpy(state, slot->state, sizeof state);

    const enum wr_take_answer answer = add_block_locked(stripe, hash, n_words, events);

    if (answer != WR_TAKE_DECIDED) {
        return answer;
    }

    struct wr_slot *const moved = wr_stripe_find_locked(stripe, WR_STATE_MONO_BLOCK, hash);

    if (state[0] != INT64_MAX) {
        memcpy(wr_slot_block(moved)->state, state, sizeof state);
        moved->state[0] = state[0];
        wr_stripe_note_expiry_locked(stripe, WR_STATE_MONO_BLOCK,
                                     wr_stripe_table_of_locked(stripe, WR_STATE_MONO_BLOCK, hash),
                                     wr_slot_expiry(moved));
    }
    slot = wr_stripe_find_locked(stripe, WR_STATE_MONO_WIDE, hash);
    if (slot != NULL) {
        wr_stripe_remove_locked(stripe, WR_STATE_MONO_WIDE, hash, slot);
    }
    return WR_TAKE_DECIDED;
}

/* Makes sure that there is a counter with room for `n_words`, more than it has in `spot`. Making
 * room may take one with it that has expired. */
static enum wr_take_answer enlarge_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                          const struct wr_limit *limit, struct spot spot,
                                          uint32_t n_words, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    if (spot.slot == NULL) {
        return add_block_locked(stripe, hash, n_words, events);
    }
    if (spot.class == WR_STATE_MONO_WIDE) {
        return move_to_block_locked(stripe, hash, spot.slot, n_words, events);
    }

    const uint64_t n_more = wr_block_places(n_words) - wr_slot_block(spot.slot)->n_places;

    if (!wr_stripe_make_room_locked(stripe, n_more, events)) {
        return WR_TAKE_FULL;
    }
    spot = find_spot_locked(stripe, hash, limit);
    if (spot.slot == NULL) {
        return add_block_locked(stripe, hash, n_words, events);
    }

    struct wr_block *const block =
        wr_block_grow(wr_slot_block(spot.slot), wr_block_places(n_words));

    if (block == NULL) {
        return WR_TAKE_NO_MEMORY;
    }
    wr_slot_set_block(spot.slot, block);
    stripe->n_used += n_more;
    return WR_TAKE_DECIDED;
}

/* What a take that found no room would have come to. True if it would have left nothing. */
static bool look_instead_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                const struct wr_take *take, const struct wr_limit *limit,
                                struct wr_verdict *out_verdict) WR_REQUIRES(stripe->mutex)
{
    const uint64_t hits = take->is_refund ? 0 : take->hits;

    *out_verdict = wr_stripe_peek_locked(stripe, hash, limit, hits);
    if (take->is_refund) {
        out_verdict->over = false;
    }
    return hits == 0 || (out_verdict->over && limit->count != WR_COUNT_ALL);
}

/* A refund needs none of the room that a log makes for one more entry. */
static bool may_grow(const struct spot *spot, const struct wr_take *take,
                     const struct wr_limit *limit)
{
    return take->hits > 0 && !(take->is_refund && (spot->slot == NULL ||
                                                   limit->algorithm == WR_ALGORITHM_SLIDING_LOG));
}

static void charge_in_spot_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                  const struct spot *spot, struct wr_take *take,
                                  const struct wr_limit *limit) WR_REQUIRES(stripe->mutex)
{
    const struct wr_verdict verdict = wr_stripe_judge(wr_counter_kind_of(limit), spot->state, take,
                                                      limit, stripe->latest.mono_us);

    wr_stripe_answer(take, &verdict);
    if (spot->state[0] == 0) {
        wr_stripe_remove_locked(stripe, spot->class, hash, spot->slot);
        return;
    }
    spot->slot->state[0] = spot->state[0];
    wr_stripe_note_expiry_locked(stripe, spot->class,
                                 wr_stripe_table_of_locked(stripe, spot->class, hash),
                                 wr_slot_expiry(spot->slot));
}

void wr_stripe_charge_growing_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                     struct wr_take *take, const struct wr_limit *limit,
                                     struct wr_stripe_events *events)
{
    struct spot spot = find_spot_locked(stripe, hash, limit);
    struct wr_verdict verdict;

    if (may_grow(&spot, take, limit)) {
        const uint32_t n_words =
            words_for(spot.slot == NULL ? wr_stripe_never_hit : spot.state, limit);

        if (spot.slot == NULL && n_words <= WR_STATE_WIDE_WORDS) {
            wr_stripe_charge_new_locked(stripe, WR_STATE_MONO_WIDE, hash, take, limit, events);
            return;
        }
        if (n_words > spot.n_words) {
            take->answer = enlarge_locked(stripe, hash, limit, spot, n_words, events);
            if (take->answer != WR_TAKE_DECIDED) {
                if (look_instead_locked(stripe, hash, take, limit, &verdict)) {
                    wr_stripe_answer(take, &verdict);
                }
                return;
            }
            spot = find_spot_locked(stripe, hash, limit);
        }
    }
    if (spot.slot == NULL) {
        (void) look_instead_locked(stripe, hash, take, limit, &verdict);
        wr_stripe_answer(take, &verdict);
        return;
    }
    charge_in_spot_locked(stripe, hash, &spot, take, limit);
}

const uint64_t *wr_stripe_growing_state_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                               const struct wr_limit *limit)
{
    return find_spot_locked(stripe, hash, limit).state;
}

enum wr_take_answer wr_stripe_reserve_growing_locked(struct wr_stripe *stripe,
                                                     const struct wr_hash *hash,
                                                     const struct wr_limit *limit,
                                                     struct wr_stripe_events *events,
                                                     bool *out_is_new)
{
    if (stripe->tables[WR_STATE_MONO_BLOCK] != NULL) {
        wr_stripe_sweep_locked(stripe, WR_STATE_MONO_BLOCK,
                               wr_stripe_table_of_locked(stripe, WR_STATE_MONO_BLOCK, hash),
                               events);
    }

    const struct spot spot = find_spot_locked(stripe, hash, limit);
    const uint32_t n_words = words_for(spot.slot == NULL ? wr_stripe_never_hit : spot.state, limit);

    *out_is_new = spot.slot == NULL;
    if (spot.slot == NULL && n_words <= WR_STATE_WIDE_WORDS) {
        return wr_stripe_add_locked(stripe, WR_STATE_MONO_WIDE, hash, wr_stripe_kept, 0, events);
    }
    return n_words <= spot.n_words ? WR_TAKE_DECIDED
                                   : enlarge_locked(stripe, hash, limit, spot, n_words, events);
}
