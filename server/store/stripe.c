/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "limit/algorithm.h"

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

/* Gives a class its tables. False when memory is out. */
static bool open_class(struct wr_stripe *stripe, enum wr_state_class class)
{
    const uint32_t n_tables = stripe->table_mask + 1;
    struct wr_slot_table *const tables = malloc(n_tables * sizeof *tables);

    if (tables == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < n_tables; i++) {
        wr_slot_table_init(&tables[i], wr_state_class_words[class], class == WR_STATE_MONO_BLOCK);
    }
    stripe->tables[class] = tables;
    return true;
}

/* The class that most counters are of has its tables from the beginning. */
enum wr_err wr_stripe_init(struct wr_stripe *stripe, uint64_t share)
{
    *stripe = (struct wr_stripe){.share = share, .table_mask = tables_for(share) - 1};
    if (!open_class(stripe, WR_STATE_WALL_2)) {
        return WR_ERR_NO_MEMORY;
    }
    wr_mutex_init(&stripe->mutex, WR_LOCK_STRIPE);
    return WR_OK;
}

/* Removes all counters of a class. Returns how many places of the share they had. */
static uint64_t empty_class(struct wr_stripe *stripe, enum wr_state_class class,
                            uint32_t *out_n_counters)
{
    struct wr_slot_table *const tables = stripe->tables[class];
    uint64_t n_places = 0;

    for (uint32_t i = 0; tables != NULL && i <= stripe->table_mask; i++) {
        const struct wr_slot_sweep swept = wr_slot_table_sweep(&tables[i], INT64_MAX);

        *out_n_counters += swept.n_counters;
        n_places += swept.n_counters * wr_state_class_places[class] + swept.n_places;
    }
    return n_places;
}

void wr_stripe_fini(struct wr_stripe *stripe)
{
    for (int i = 0; i < WR_STATE_CLASSES; i++) {
        uint32_t n_counters = 0;

        (void) empty_class(stripe, (enum wr_state_class) i, &n_counters);
        free(stripe->tables[i]);
    }
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
    for (int i = 0; i < WR_STATE_CLASSES; i++) {
        const enum wr_state_class class = (enum wr_state_class) i;

        if (wr_state_class_is_wall(class)) {
            stripe->n_used -= empty_class(stripe, class, &events->n_restarts);
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

static void sweep_locked(struct wr_stripe *stripe, enum wr_state_class class,
                         struct wr_slot_table *table, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    const int64_t now_us = wr_state_class_time(class, &stripe->latest);

    if (table->earliest_us <= now_us) {
        const struct wr_slot_sweep swept = wr_slot_table_sweep(table, now_us);

        stripe->n_used -= swept.n_counters * wr_state_class_places[class] + swept.n_places;
        events->n_swept += swept.n_counters;
    }
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
    sweep_locked(stripe, stripe->tended, &stripe->tables[stripe->tended][i], events);
}

/* Sweeps the tables of a class, until there are `n_places`. Returns when the next counter of it
 * expires. */
static int64_t sweep_class_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                  uint64_t n_places, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    int64_t earliest_us = INT64_MAX;

    for (uint32_t i = 0; stripe->tables[class] != NULL && i <= stripe->table_mask; i++) {
        struct wr_slot_table *const table =
            &stripe->tables[class][(stripe->turn + i) & stripe->table_mask];

        sweep_locked(stripe, class, table, events);
        if (n_places <= stripe->share - stripe->n_used) {
            break;
        }
        if (table->earliest_us < earliest_us) {
            earliest_us = table->earliest_us;
        }
    }
    return earliest_us;
}

static void note_earlier(int64_t *until_us, int64_t expiry_us)
{
    if (expiry_us < *until_us) {
        *until_us = expiry_us;
    }
}

/*
 * True when the share has room for so many places more, if need be after sweeping table by table
 * until enough has expired. When it has not, the earliest expiry is kept, so that more is refused
 * without another look until then.
 */
static bool make_room_locked(struct wr_stripe *stripe, uint64_t n_places,
                             struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    struct wr_now *const until = &stripe->full_until;

    if (n_places <= stripe->share - stripe->n_used) {
        return true;
    }
    if (until->wall_us > stripe->latest.wall_us && until->mono_us > stripe->latest.mono_us) {
        return false;
    }

    struct wr_now earliest = {.wall_us = INT64_MAX, .mono_us = INT64_MAX};

    for (int i = 0; i < WR_STATE_CLASSES; i++) {
        const enum wr_state_class class = (enum wr_state_class) i;
        const int64_t expiry_us = sweep_class_locked(stripe, class, n_places, events);

        if (n_places <= stripe->share - stripe->n_used) {
            return true;
        }
        note_earlier(wr_state_class_is_wall(class) ? &earliest.wall_us : &earliest.mono_us,
                     expiry_us);
    }
    *until = earliest;
    return false;
}

/* What is used up may be given back, and expire earlier than was found when the stripe was full. */
static inline void note_expiry_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                      struct wr_slot_table *table, int64_t expiry_us)
    WR_REQUIRES(stripe->mutex)
{
    if (expiry_us < table->earliest_us) {
        table->earliest_us = expiry_us;
        note_earlier(wr_state_class_is_wall(class) ? &stripe->full_until.wall_us
                                                   : &stripe->full_until.mono_us,
                     expiry_us);
    }
}

static struct wr_slot_table *table_of_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                             const struct wr_hash *hash) WR_REQUIRES(stripe->mutex)
{
    return &stripe->tables[class][(hash->high >> 32) & stripe->table_mask];
}

static inline struct wr_slot *find_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                          const struct wr_hash *hash) WR_REQUIRES(stripe->mutex)
{
    return stripe->tables[class] == NULL
               ? NULL
               : wr_slot_table_find(table_of_locked(stripe, class, hash), hash);
}

/* Adds a counter that is not there yet, whose block has so many places. */
static enum wr_take_answer add_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                      const struct wr_hash *hash, const uint64_t *state,
                                      uint64_t n_block_places, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    if (stripe->tables[class] == NULL && !open_class(stripe, class)) {
        return WR_TAKE_NO_MEMORY;
    }

    struct wr_slot_table *const table = table_of_locked(stripe, class, hash);

    sweep_locked(stripe, class, table, events);

    const uint64_t n_places = wr_state_class_places[class] + n_block_places;

    if (!make_room_locked(stripe, n_places, events)) {
        return WR_TAKE_FULL;
    }
    if (!wr_slot_table_add(table, hash, state)) {
        return WR_TAKE_NO_MEMORY;
    }
    stripe->n_used += n_places;
    return WR_TAKE_DECIDED;
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

static const uint64_t never_hit[WR_STATE_WORDS_MAX];

static inline struct wr_verdict judge(const struct wr_counter_kind *kind, void *state,
                                      const struct wr_take *take, const struct wr_limit *limit,
                                      int64_t now_us)
{
    return take->is_refund ? kind->refund(state, limit, take->hits, now_us)
                           : kind->take(state, limit, take->hits, now_us);
}

/* A look or a refund that finds nothing leaves nothing, and so does a refused hit that is not
 * booked: only what was used makes a counter. */
static void charge_new_locked(struct wr_stripe *stripe, enum wr_state_class class,
                              const struct wr_hash *hash, struct wr_take *take,
                              const struct wr_limit *limit, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    uint64_t state[WR_STATE_WIDE_WORDS];

    memset(state, 0, wr_state_class_words[class] * sizeof state[0]);

    const struct wr_verdict verdict =
        judge(kind, state, take, limit, wr_state_class_time(class, &stripe->latest));

    if (state[0] != 0) {
        take->answer = add_locked(stripe, class, hash, state, 0, events);
        if (take->answer != WR_TAKE_DECIDED) {
            return;
        }
    }
    answer(take, &verdict);
}

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
    const bool is_wide = words_for(never_hit, limit) <= WR_STATE_WIDE_WORDS;
    const enum wr_state_class first = is_wide ? WR_STATE_MONO_WIDE : WR_STATE_MONO_BLOCK;
    const enum wr_state_class second = is_wide ? WR_STATE_MONO_BLOCK : WR_STATE_MONO_WIDE;
    struct wr_slot *const slot = find_locked(stripe, first, hash);

    return slot != NULL ? spot_of(slot, first) : spot_of(find_locked(stripe, second, hash), second);
}

static void remove_locked(struct wr_stripe *stripe, enum wr_state_class class,
                          const struct wr_hash *hash, struct wr_slot *slot)
    WR_REQUIRES(stripe->mutex)
{
    stripe->n_used -= wr_state_class_places[class];
    if (class == WR_STATE_MONO_BLOCK) {
        stripe->n_used -= wr_slot_block(slot)->n_places;
    }
    wr_slot_table_remove(table_of_locked(stripe, class, hash), slot);
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
        add_locked(stripe, WR_STATE_MONO_BLOCK, hash, state, n_places, events);

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

    struct wr_slot *const moved = find_locked(stripe, WR_STATE_MONO_BLOCK, hash);

    if (state[0] != INT64_MAX) {
        memcpy(wr_slot_block(moved)->state, state, sizeof state);
        moved->state[0] = state[0];
        note_expiry_locked(stripe, WR_STATE_MONO_BLOCK,
                           table_of_locked(stripe, WR_STATE_MONO_BLOCK, hash),
                           wr_slot_expiry(moved));
    }
    slot = find_locked(stripe, WR_STATE_MONO_WIDE, hash);
    if (slot != NULL) {
        remove_locked(stripe, WR_STATE_MONO_WIDE, hash, slot);
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

    if (!make_room_locked(stripe, n_more, events)) {
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
    const struct wr_verdict verdict =
        judge(wr_counter_kind_of(limit), spot->state, take, limit, stripe->latest.mono_us);

    answer(take, &verdict);
    if (spot->state[0] == 0) {
        remove_locked(stripe, spot->class, hash, spot->slot);
        return;
    }
    spot->slot->state[0] = spot->state[0];
    note_expiry_locked(stripe, spot->class, table_of_locked(stripe, spot->class, hash),
                       wr_slot_expiry(spot->slot));
}

/* Charges a counter that grows. */
static void charge_growing_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                  struct wr_take *take, const struct wr_limit *limit,
                                  struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    struct spot spot = find_spot_locked(stripe, hash, limit);
    struct wr_verdict verdict;

    if (may_grow(&spot, take, limit)) {
        const uint32_t n_words = words_for(spot.slot == NULL ? never_hit : spot.state, limit);

        if (spot.slot == NULL && n_words <= WR_STATE_WIDE_WORDS) {
            charge_new_locked(stripe, WR_STATE_MONO_WIDE, hash, take, limit, events);
            return;
        }
        if (n_words > spot.n_words) {
            take->answer = enlarge_locked(stripe, hash, limit, spot, n_words, events);
            if (take->answer != WR_TAKE_DECIDED) {
                if (look_instead_locked(stripe, hash, take, limit, &verdict)) {
                    answer(take, &verdict);
                }
                return;
            }
            spot = find_spot_locked(stripe, hash, limit);
        }
    }
    if (spot.slot == NULL) {
        (void) look_instead_locked(stripe, hash, take, limit, &verdict);
        answer(take, &verdict);
        return;
    }
    charge_in_spot_locked(stripe, hash, &spot, take, limit);
}

static inline void charge_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                 struct wr_take *take, const struct wr_limit *limit,
                                 struct wr_stripe_events *events) WR_REQUIRES(stripe->mutex)
{
    const enum wr_state_class class = wr_state_class_of(limit);

    if (class == WR_STATE_MONO_WIDE) {
        charge_growing_locked(stripe, hash, take, limit, events);
        return;
    }

    struct wr_slot *const slot = find_locked(stripe, class, hash);

    if (slot == NULL) {
        charge_new_locked(stripe, class, hash, take, limit, events);
        return;
    }

    const struct wr_verdict verdict = judge(wr_counter_kind_of(limit), slot->state, take, limit,
                                            wr_state_class_time(class, &stripe->latest));

    answer(take, &verdict);
    note_expiry_locked(stripe, class, table_of_locked(stripe, class, hash), wr_slot_expiry(slot));
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

    if (class == WR_STATE_MONO_WIDE) {
        return find_spot_locked(stripe, hash, limit).state;
    }

    const struct wr_slot *const slot = find_locked(stripe, class, hash);

    return slot == NULL ? NULL : slot->state;
}

struct wr_verdict wr_stripe_peek_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                        const struct wr_limit *limit, uint64_t hits)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    const uint64_t *const state = state_of_locked(stripe, hash, limit);

    return kind->peek(state == NULL ? never_hit : state, limit, hits,
                      wr_counter_time(kind, &stripe->latest));
}

static void sweep_table_of_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                  const struct wr_hash *hash, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    if (stripe->tables[class] != NULL) {
        sweep_locked(stripe, class, table_of_locked(stripe, class, hash), events);
    }
}

static const uint64_t kept[WR_STATE_WIDE_WORDS] = {INT64_MAX};

static enum wr_take_answer reserve_growing_locked(struct wr_stripe *stripe,
                                                  const struct wr_hash *hash,
                                                  const struct wr_limit *limit,
                                                  struct wr_stripe_events *events, bool *out_is_new)
    WR_REQUIRES(stripe->mutex)
{
    sweep_table_of_locked(stripe, WR_STATE_MONO_BLOCK, hash, events);

    const struct spot spot = find_spot_locked(stripe, hash, limit);
    const uint32_t n_words = words_for(spot.slot == NULL ? never_hit : spot.state, limit);

    *out_is_new = spot.slot == NULL;
    if (spot.slot == NULL && n_words <= WR_STATE_WIDE_WORDS) {
        return add_locked(stripe, WR_STATE_MONO_WIDE, hash, kept, 0, events);
    }
    return n_words <= spot.n_words ? WR_TAKE_DECIDED
                                   : enlarge_locked(stripe, hash, limit, spot, n_words, events);
}

/* Swept first, so that the counter is either live, or not there: then a slot that does not expire
 * keeps its place. */
enum wr_take_answer wr_stripe_reserve_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                                             const struct wr_limit *limit,
                                             struct wr_stripe_events *events, bool *out_is_kept)
{
    const enum wr_state_class class = wr_state_class_of(limit);
    enum wr_take_answer answer = WR_TAKE_DECIDED;
    bool is_new = false;

    sweep_table_of_locked(stripe, class, hash, events);
    if (class == WR_STATE_MONO_WIDE) {
        answer = reserve_growing_locked(stripe, hash, limit, events, &is_new);
    } else if (find_locked(stripe, class, hash) == NULL) {
        is_new = true;
        answer = add_locked(stripe, class, hash, kept, 0, events);
    }
    *out_is_kept |= is_new && answer == WR_TAKE_DECIDED;
    return answer;
}

/* A block stays, for the next take; without a state it has expired. */
void wr_stripe_release_locked(struct wr_stripe *stripe, const struct wr_hash *hash,
                              const struct wr_limit *limit)
{
    enum wr_state_class class = wr_state_class_of(limit);
    struct wr_slot *slot = find_locked(stripe, class, hash);

    if (slot == NULL) {
        class = WR_STATE_MONO_BLOCK;
        slot = find_locked(stripe, class, hash);
    }
    WR_ASSERT(slot != NULL && wr_slot_expiry(slot) == INT64_MAX);
    if (class == WR_STATE_MONO_BLOCK) {
        slot->state[0] = 1;
        note_expiry_locked(stripe, class, table_of_locked(stripe, class, hash), 1);
        return;
    }
    remove_locked(stripe, class, hash, slot);
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

struct wr_stripe_size wr_stripe_measure(struct wr_stripe *stripe)
{
    struct wr_stripe_size size = {.memory_bytes = sizeof *stripe};

    wr_mutex_lock(&stripe->mutex);

    uint64_t n_block_places = stripe->n_used;

    for (int i = 0; i < WR_STATE_CLASSES; i++) {
        const struct wr_slot_table *const tables = stripe->tables[i];

        for (uint32_t k = 0; tables != NULL && k <= stripe->table_mask; k++) {
            size.n_counters += tables[k].n_used;
            size.memory_bytes +=
                sizeof tables[k] + tables[k].capacity * wr_slot_bytes(tables[k].state_words);
            n_block_places -= (uint64_t) tables[k].n_used * wr_state_class_places[i];
        }
    }
    size.memory_bytes += n_block_places * WR_BLOCK_PLACE_BYTES;
    wr_mutex_unlock(&stripe->mutex);
    return size;
}
