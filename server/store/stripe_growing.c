/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe_inside.h"

#include <string.h>

#include "base/assert.h"
#include "store/block.h"

/* When a place expires that was kept, and was let go for the take that is next: in the past. What
 * else is in its state is no counter's. */
#define LET_GO_US 1

/* Where a counter that grows is; without a slot: nowhere. */
struct spot {
    enum wr_state_class class;
    struct wr_slot *slot;
    uint64_t *state;
    uint64_t n_words; /* that the state has room for */
};

/* A refund needs those of no hits. */
static uint32_t words_for(const uint64_t *state, const struct wr_limit *limit, uint64_t hits)
{
    return wr_counter_kind_of(limit)->state_words(state, limit, hits);
}

static inline struct spot spot_of(struct wr_slot *slot, enum wr_state_class class)
{
    struct spot spot = {.class = class, .slot = slot};

    if (slot == NULL) {
        return spot;
    }
    if (class == WR_STATE_MONO_BLOCK) {
        spot.state = wr_slot_block(slot)->state;
        spot.n_words = wr_block_words(wr_slot_block(slot));
    } else {
        spot.state = slot->state;
        spot.n_words = wr_state_class_words[class];
    }
    return spot;
}

/* Looks first where a counter is that has not grown beyond what it needed at first. Where it is
 * when it has is fetched meanwhile: to wait for one after the other costs half as much again. */
static inline struct spot find_spot_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                           const struct wr_limit *limit) WR_REQUIRES(stripe->mutex)
{
    const enum wr_state_class first = wr_state_class_for(words_for(wr_stripe_never_hit, limit, 1));
    enum wr_state_class class = first;

    if (first == WR_STATE_MONO_SMALL && stripe->tables[WR_STATE_MONO_WIDE] != NULL) {
        wr_slot_table_fetch(wr_stripe_table_of_locked(stripe, WR_STATE_MONO_WIDE, hash), hash);
    }

    struct wr_slot *slot = wr_stripe_find_locked(stripe, first, hash);

    for (int i = WR_STATE_MONO_SMALL; slot == NULL && i <= WR_STATE_MONO_BLOCK; i++) {
        class = (enum wr_state_class) i;
        if (class != first) {
            slot = wr_stripe_find_locked(stripe, class, hash);
        }
    }
    return spot_of(slot, class);
}

/* What was counted in `spot`, if anything. */
static const uint64_t *counted_in(const struct spot *spot)
{
    return spot->slot == NULL || wr_slot_expiry(spot->slot) == LET_GO_US ? wr_stripe_never_hit
                                                                         : spot->state;
}

/* Adds a counter with a block for so many words. */
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

/* Adds a counter with room for so many words, which never expires. */
static enum wr_take_answer add_place_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                            uint32_t n_words, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    const enum wr_state_class class = wr_state_class_for(n_words);

    return class == WR_STATE_MONO_BLOCK
               ? add_block_locked(stripe, hash, n_words, events)
               : wr_stripe_add_locked(stripe, class, hash, wr_stripe_kept, 0, events);
}

/* Says that the counter in `spot` now expires at `expiry_us`. */
static void set_expiry_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                              const struct spot *spot, int64_t expiry_us) WR_REQUIRES(stripe->mutex)
{
    spot->slot->state[0] = (uint64_t) expiry_us;
    wr_stripe_note_expiry_locked(stripe, spot->class,
                                 wr_stripe_table_of_locked(stripe, spot->class, hash), expiry_us);
}

/* Moves a counter into a larger slot or a block, for which it gives its own places. Meanwhile it
 * does not expire. A place that is only kept has no state. */
static enum wr_take_answer move_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                       const struct spot *spot, uint32_t n_words,
                                       struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    uint64_t state[WR_STATE_WIDE_WORDS];
    const enum wr_state_class class = wr_state_class_for(n_words);

    memcpy(state, spot->state, spot->n_words * sizeof state[0]);
    spot->slot->state[0] = INT64_MAX;
    stripe->n_used -= wr_state_class_places[spot->class];

    const enum wr_take_answer answer = add_place_locked(stripe, hash, n_words, events);
    const struct spot left = spot_of(wr_stripe_find_locked(stripe, spot->class, hash), spot->class);

    stripe->n_used += wr_state_class_places[spot->class];
    WR_ASSERT(left.slot != NULL);
    if (answer != WR_TAKE_DECIDED) {
        set_expiry_locked(stripe, hash, &left, (int64_t) state[0]);
        return answer;
    }

    const struct spot moved = spot_of(wr_stripe_find_locked(stripe, class, hash), class);

    WR_ASSERT(moved.slot != NULL);
    if (state[0] != INT64_MAX) {
        memcpy(moved.state, state, spot->n_words * sizeof state[0]);
        set_expiry_locked(stripe, hash, &moved, (int64_t) state[0]);
    }
    wr_stripe_remove_locked(stripe, spot->class, hash, left.slot);
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
        return add_place_locked(stripe, hash, n_words, events);
    }
    if (spot.class != WR_STATE_MONO_BLOCK) {
        return move_locked(stripe, hash, &spot, n_words, events);
    }

    const uint64_t n_more = wr_block_places(n_words) - wr_slot_block(spot.slot)->n_places;

    if (!wr_stripe_make_room_locked(stripe, n_more, events)) {
        return WR_TAKE_FULL;
    }
    spot = find_spot_locked(stripe, hash, limit);
    if (spot.slot == NULL) {
        return add_place_locked(stripe, hash, n_words, events);
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

static void charge_in_spot_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                  const struct spot *spot, struct wr_take *take,
                                  const struct wr_limit *limit) WR_REQUIRES(stripe->mutex)
{
    if (wr_slot_expiry(spot->slot) == LET_GO_US) {
        spot->state[0] = 0;
    }

    const struct wr_verdict verdict = wr_stripe_judge(wr_counter_kind_of(limit), spot->state, take,
                                                      limit, stripe->latest.mono_us);

    wr_stripe_answer(take, &verdict);
    if (spot->state[0] == 0) {
        wr_stripe_remove_locked(stripe, spot->class, hash, spot->slot);
        return;
    }
    set_expiry_locked(stripe, hash, spot, (int64_t) spot->state[0]);
}

/* The words that the state needs for the take. A refused one adds nothing, and a log makes room for
 * nothing that is given back. 0: it leaves nothing. */
static uint32_t words_needed_locked(const struct wr_stripe *stripe, const struct spot *spot,
                                    const struct wr_take *take, const struct wr_limit *limit)
    WR_REQUIRES(stripe->mutex)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    const uint64_t *const counted = counted_in(spot);

    if (take->hits == 0 ||
        (take->is_refund && (spot->slot == NULL || limit->algorithm == WR_ALGORITHM_SLIDING_LOG))) {
        return 0;
    }
    if (take->is_refund) {
        return words_for(counted, limit, 0);
    }

    const uint32_t n_words = words_for(counted, limit, take->hits);

    if (n_words > spot->n_words && limit->count != WR_COUNT_ALL &&
        kind->peek(counted, limit, take->hits, stripe->latest.mono_us).over) {
        return spot->slot != NULL ? (uint32_t) spot->n_words : words_for(counted, limit, 0);
    }
    return n_words;
}

void wr_stripe_charge_growing_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                     struct wr_take *take, const struct wr_limit *limit,
                                     struct wr_stripe_events *events)
{
    struct spot spot = find_spot_locked(stripe, hash, limit);
    const uint32_t n_words = words_needed_locked(stripe, &spot, take, limit);
    const enum wr_state_class class = wr_state_class_for(n_words);
    struct wr_verdict verdict;

    if (spot.slot == NULL && n_words > 0 && class != WR_STATE_MONO_BLOCK) {
        wr_stripe_charge_new_locked(stripe, class, hash, take, limit, events);
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
    const struct spot spot = find_spot_locked(stripe, hash, limit);

    return counted_in(&spot);
}

enum wr_take_answer wr_stripe_reserve_growing_locked(struct wr_stripe *stripe,
                                                     const struct wr_hash *hash,
                                                     const struct wr_limit *limit, uint64_t hits,
                                                     struct wr_stripe_events *events,
                                                     bool *out_is_new)
{
    for (int i = WR_STATE_MONO_SMALL; i <= WR_STATE_MONO_BLOCK; i++) {
        wr_stripe_sweep_table_of_locked(stripe, (enum wr_state_class) i, hash, events);
    }

    const struct spot spot = find_spot_locked(stripe, hash, limit);
    const uint32_t n_words = words_for(counted_in(&spot), limit, hits);

    *out_is_new = spot.slot == NULL;
    return n_words <= spot.n_words ? WR_TAKE_DECIDED
                                   : enlarge_locked(stripe, hash, limit, spot, n_words, events);
}

/* It stays, for the next take, which may need all of it; without a state it has expired. */
void wr_stripe_release_growing_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                      const struct wr_limit *limit)
{
    const struct spot spot = find_spot_locked(stripe, hash, limit);

    WR_ASSERT(spot.slot != NULL && wr_slot_expiry(spot.slot) == INT64_MAX);
    set_expiry_locked(stripe, hash, &spot, LET_GO_US);
}
