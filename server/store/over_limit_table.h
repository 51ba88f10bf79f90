/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory of the over-limit cache: counters that are over their limit until their windows end,
 * each with the hits that the store has yet to count. Sets of four entries under striped locks; the
 * place of a counter is chosen by a keyed hash, and of four that live the one whose window ends
 * first makes room.
 *
 *   free ── refused ──► counted (n refusals) ── WR_OVER_LIMIT_REFUSALS ──► answers for a while
 *    ▲                                                                        │       ▲
 *    └── window over, refund, or admitted ◄── store is asked again ◄── time over       │
 *                                                  └────────────── refused ────────────┘
 *
 * Invariant: an entry is of no use once its window is over, and no refusal from before the end of a
 * refund is remembered after it.
 * Threads: any thread; new and destroy by the owner. One stripe is locked at a time and nothing is
 * called under it.
 */
#ifndef WR_STORE_OVER_LIMIT_TABLE_H
#define WR_STORE_OVER_LIMIT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/hash.h"
#include "store/backend.h"

/* Memory of one entry: what a size in bytes is divided by. */
#define WR_OVER_LIMIT_ENTRY_BYTES 64

/* How long the store's word is taken for. */
#define WR_OVER_LIMIT_TRUST_US INT64_C(100000)

/* Refusals by the store, in a row, before the table answers. */
#define WR_OVER_LIMIT_REFUSALS 3

struct wr_over_limit_table;

/* What is kept of a take while the store is asked for it. */
struct wr_over_limit_asked {
    struct wr_hash hash;
    int64_t mono_us;    /* when it was asked for */
    uint64_t n_refunds; /* of its stripe at that time */
    uint64_t held;      /* hits of others, which are to go with it; of a refund at most its own */
    bool had_entry;
};

/* `max_entries` > 0 is rounded up to a multiple of 4. WR_ERR_NO_MEMORY, WR_ERR_SYSTEM (no random
 * key). */
WR_MUST_USE enum wr_err wr_over_limit_table_new(size_t max_entries,
                                                struct wr_over_limit_table **out_table);

/* NULL is fine. */
void wr_over_limit_table_destroy(struct wr_over_limit_table *table);

/*
 * Answers `take` at `mono_us` when it may, its counter being known to be over, and holds its hits.
 * Else false: the store is to be asked, with the hits that were held. Takes whose verdict does not
 * tell of hits to come must not be asked about (see over_limit_cache.h).
 */
bool wr_over_limit_table_answer(struct wr_over_limit_table *table, struct wr_take *take,
                                bool may_answer, int64_t mono_us,
                                struct wr_over_limit_asked *out_asked);

/* Learns from what became of `take`, which the store was asked for; now it is `mono_us`. */
void wr_over_limit_table_learn(struct wr_over_limit_table *table, const struct wr_take *take,
                               const struct wr_over_limit_asked *asked, int64_t mono_us);

#endif
