/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two or three limits that stand and fall together, as prey of schedules, in a local store. After
 * each take every one of them must have been charged, or none.
 *
 * Threads: owner thread only.
 */
#ifndef WR_TESTS_STRESS_GUARANTEES_LAYERS_H
#define WR_TESTS_STRESS_GUARANTEES_LAYERS_H

#include <stddef.h>

#include "base/arena.h"
#include "tests/stress/guarantees/record.h"
#include "tests/stress/guarantees/rule.h"
#include "tests/stress/guarantees/schedule.h"
#include "tests/support/taker.h"

#define WR_PREY_LAYERS 3

struct wr_prey_layers {
    struct wr_prey prey;
    struct wr_metrics *metrics; /* owned */
    struct wr_taker taker;      /* its backend is owned */
    struct wr_arena arena;
    size_t n;
    struct wr_layer {
        struct wr_drawn_rule rule;
        struct wr_limit limit;
        char key[64];
        uint64_t left; /* at the last look */
        struct wr_record record;
    } layers[WR_PREY_LAYERS];
};

void wr_prey_layers_open(struct wr_prey_layers *layers);

void wr_prey_layers_close(struct wr_prey_layers *layers);

/* Fresh counters by `n` `rules`. A schedule begins after the one before ended: a store's time does
 * not go back. */
void wr_prey_layers_init(struct wr_prey_layers *layers, const struct wr_schedule_name *name,
                         const struct wr_drawn_rule *rules, size_t n);

#endif
