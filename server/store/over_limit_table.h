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

/* How fast the store's clock and ours may part, in millionths. */
#define WR_OVER_LIMIT_DRIFT_PPM 1000

struct wr_over_limit_table;

/* What is kept of a take while the store is asked for it. */
struct wr_over_limit_asked {
    struct wr_hash hash;
    int64_t mono_us;    /* when it was asked for */
    uint64_t n_refunds; /* of its stripe at that time */
    uint64_t held;      /* hits of others, which are to go with it */
    bool had_entry;
    bool is_netted; /* it is a refund of no less, and they are to be taken off */
};

/* `max_entries` > 0 is rounded up to a multiple of 4. `flight_us` is how long after its time the
 * store may still charge a take. WR_ERR_NO_MEMORY, WR_ERR_SYSTEM (no random key). */
WR_MUST_USE enum wr_err wr_over_limit_table_new(size_t max_entries, int64_t flight_us,
                                                struct wr_over_limit_table **out_table);

/* NULL is fine. */
void wr_over_limit_table_destroy(struct wr_over_limit_table *table);

/* What may become of a take. */
struct wr_over_limit_leave {
    bool may_answer; /* the table may answer for it */
    bool must_net;   /* of a refund: held hits cannot be charged before it */
};

/*
 * Answers `take` at `mono_us` when it may, its counter being known to be over, and holds its hits.
 * Else false: the store is to be asked, with the hits that were held; those that could get there
 * when the window is over are not among them, but may be taken off a refund. Takes whose verdict
 * does not tell of hits to come must not be asked about (see over_limit_cache.h).
 */
bool wr_over_limit_table_answer(struct wr_over_limit_table *table, struct wr_take *take,
                                const struct wr_over_limit_leave *leave, int64_t mono_us,
                                struct wr_over_limit_asked *out_asked);

/* Holds again what was to go with a take, when `answer` says that it was not charged. */
void wr_over_limit_table_hold_again(struct wr_over_limit_table *table, enum wr_take_answer answer,
                                    const struct wr_over_limit_asked *asked, int64_t mono_us);

/* Learns from what became of `take`, which the store was asked for; now it is `mono_us`. */
void wr_over_limit_table_learn(struct wr_over_limit_table *table, const struct wr_take *take,
                               const struct wr_over_limit_asked *asked, int64_t mono_us);

#endif
