/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small open-addressing table of counters: linear probing, no tombstones. A stripe has many of
 * them, none much larger than WR_SLOT_TABLE_TARGET, so that growing, shrinking or sweeping one is
 * a small step: it grows by a fifth when four fifths are used and shrinks when three fifths are
 * free.
 *
 * Invariant: every counter is reached from its home slot without crossing a free one, and no
 * counter expires before `earliest_us`.
 * Threads: the caller holds the lock that guards the table.
 */
#ifndef WR_STORE_SLOT_TABLE_H
#define WR_STORE_SLOT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"

/* Counters in a table that are aimed at when a stripe is as full as it may be. */
#define WR_SLOT_TABLE_TARGET 256

/*
 * One counter, half a cache line. The state of a fixed window is what was used; its start is the
 * expiry less the length, which is part of the counter's identity and so comes with every take.
 */
struct wr_slot {
    struct wr_hash hash;
    int64_t expiry_us; /* wall clock; 0: the slot is free */
    uint64_t used;
};

struct wr_slot_table {
    struct wr_slot *slots; /* owned; NULL while there is no counter */
    uint32_t capacity;
    uint32_t n_used;     /* live, or expired and not yet swept */
    int64_t earliest_us; /* no counter expires earlier; INT64_MAX when there is none */
};

void wr_slot_table_init(struct wr_slot_table *table);

void wr_slot_table_fini(struct wr_slot_table *table);

/* The counter of `hash`, expired or not; NULL when there is none. Holds until the next change. */
struct wr_slot *wr_slot_table_find(const struct wr_slot_table *table, const struct wr_hash *hash);

/* Adds a counter that is not there yet. False when memory is out; then nothing changed. */
WR_MUST_USE bool wr_slot_table_add(struct wr_slot_table *table, const struct wr_slot *slot);

/* Says that a counter of the table now expires at `expiry_us`. */
void wr_slot_table_note_expiry(struct wr_slot_table *table, int64_t expiry_us);

/*
 * Removes every counter that has expired by `now_us`, and gives memory back. Returns how many were
 * removed.
 */
uint32_t wr_slot_table_sweep(struct wr_slot_table *table, int64_t now_us);

#endif
