/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe_inside.h"

#include <stdlib.h>

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
    const uint32_t n_tables = wr_stripe_table_mask(stripe, class) + 1;
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

uint64_t wr_stripe_empty_class(struct wr_stripe *stripe, enum wr_state_class class,
                               uint32_t *out_n_counters)
{
    struct wr_slot_table *const tables = stripe->tables[class];
    uint64_t n_places = 0;

    for (uint32_t i = 0; tables != NULL && i <= wr_stripe_table_mask(stripe, class); i++) {
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

        (void) wr_stripe_empty_class(stripe, (enum wr_state_class) i, &n_counters);
        free(stripe->tables[i]);
    }
    wr_mutex_fini(&stripe->mutex);
}

void wr_stripe_sweep_locked(struct wr_stripe *stripe, enum wr_state_class class,
                            struct wr_slot_table *table, struct wr_stripe_events *events)
{
    const int64_t now_us = wr_state_class_time(class, &stripe->latest);

    if (table->earliest_us <= now_us) {
        const struct wr_slot_sweep swept = wr_slot_table_sweep(table, now_us);

        stripe->n_used -= swept.n_counters * wr_state_class_places[class] + swept.n_places;
        events->n_swept += swept.n_counters;
    }
}

/* Sweeps the tables of a class, until there are `n_places`. Returns when the next counter of it
 * expires. */
static int64_t sweep_class_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                  uint64_t n_places, struct wr_stripe_events *events)
    WR_REQUIRES(stripe->mutex)
{
    const uint32_t mask = wr_stripe_table_mask(stripe, class);
    int64_t earliest_us = INT64_MAX;

    for (uint32_t i = 0; stripe->tables[class] != NULL && i <= mask; i++) {
        struct wr_slot_table *const table = &stripe->tables[class][(stripe->turn + i) & mask];

        wr_stripe_sweep_locked(stripe, class, table, events);
        if (n_places <= stripe->share - stripe->n_used) {
            break;
        }
        if (table->earliest_us < earliest_us) {
            earliest_us = table->earliest_us;
        }
    }
    return earliest_us;
}

bool wr_stripe_make_room_locked(struct wr_stripe *stripe, uint64_t n_places,
                                struct wr_stripe_events *events)
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
        wr_stripe_note_earlier(
            wr_state_class_is_wall(class) ? &earliest.wall_us : &earliest.mono_us, expiry_us);
    }
    *until = earliest;
    return false;
}

enum wr_take_answer wr_stripe_add_locked(struct wr_stripe *stripe, enum wr_state_class class,
                                         const struct wr_hash *hash, const uint64_t *state,
                                         uint64_t n_block_places, struct wr_stripe_events *events)
{
    if (stripe->tables[class] == NULL && !open_class(stripe, class)) {
        return WR_TAKE_NO_MEMORY;
    }

    struct wr_slot_table *const table = wr_stripe_table_of_locked(stripe, class, hash);

    wr_stripe_sweep_locked(stripe, class, table, events);

    const uint64_t n_places = wr_state_class_places[class] + n_block_places;

    if (!wr_stripe_make_room_locked(stripe, n_places, events)) {
        return WR_TAKE_FULL;
    }
    if (!wr_slot_table_add(table, hash, state)) {
        return WR_TAKE_NO_MEMORY;
    }
    stripe->n_used += n_places;
    return WR_TAKE_DECIDED;
}

void wr_stripe_remove_locked(struct wr_stripe *stripe, enum wr_state_class class,
                             const struct wr_hash *hash, struct wr_slot *slot)
{
    stripe->n_used -= wr_state_class_places[class];
    if (class == WR_STATE_MONO_BLOCK) {
        stripe->n_used -= wr_slot_block(slot)->n_places;
    }
    wr_slot_table_remove(wr_stripe_table_of_locked(stripe, class, hash), slot);
}

struct wr_stripe_size wr_stripe_measure(struct wr_stripe *stripe)
{
    struct wr_stripe_size size = {.memory_bytes = sizeof *stripe};

    wr_mutex_lock(&stripe->mutex);

    uint64_t n_block_places = stripe->n_used;

    for (int i = 0; i < WR_STATE_CLASSES; i++) {
        const struct wr_slot_table *const tables = stripe->tables[i];
        const uint32_t mask = wr_stripe_table_mask(stripe, (enum wr_state_class) i);

        for (uint32_t k = 0; tables != NULL && k <= mask; k++) {
            size.n_counters += tables[k].n_used;
            size.memory_bytes += sizeof tables[k] + wr_slot_table_bytes(&tables[k]);
            n_block_places -= (uint64_t) tables[k].n_used * wr_state_class_places[i];
        }
    }
    size.memory_bytes += n_block_places * WR_BLOCK_PLACE_BYTES;
    wr_mutex_unlock(&stripe->mutex);
    return size;
}
