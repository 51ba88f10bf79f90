/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What store/backend.h says of batches, in the plainest form: one counter after the other in an
 * array, by the pure functions of limit/. What stores answer is compared with it.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_SUPPORT_TAKE_MODEL_H
#define WR_TESTS_SUPPORT_TAKE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "limit/algorithm.h"
#include "store/backend.h"

#define WR_TAKE_MODEL_KEYS 10

/* Of the largest state: of 1000 wide buckets, or 500 entries of a log, that warm up. */
#define WR_TAKE_MODEL_WORDS 1040

/* All zero: no counter. */
struct wr_take_model {
    struct {
        struct wr_str key; /* borrowed from the take that was first */
        uint64_t state[WR_TAKE_MODEL_WORDS];
    } counters[WR_TAKE_MODEL_KEYS];
    size_t n_counters;
    bool forgets_duplicates; /* a fault, by which a comparison shows that it finds faults */
};

/* Answers `takes` of one batch, all of them decided. At most WR_TAKE_MODEL_KEYS keys in all. */
void wr_take_model_batch(struct wr_take_model *model, struct wr_take *takes, size_t n,
                         enum wr_charge_mode mode, int64_t now_us);

#endif
