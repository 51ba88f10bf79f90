/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has to be there before health says SERVING: rules, and a store that answers.
 *
 * Invariant: when nobody sets anything any more, health is as the last settings say.
 * Threads: set from any thread; init by the owner.
 */
#ifndef WR_READINESS_H
#define WR_READINESS_H

#include <stdatomic.h>
#include <stdbool.h>

struct wr_health;

enum wr_ready_part {
    WR_READY_RULES = 1,
    WR_READY_STORE = 2,
    WR_READY_PER_SECOND = 4, /* the store of limits of a second */
};

struct wr_readiness {
    struct wr_health *health; /* borrowed */
    atomic_uint parts;        /* of wr_ready_part, those that are there */
};

/* Nothing is there. */
void wr_readiness_init(struct wr_readiness *readiness, struct wr_health *health);

void wr_readiness_set(struct wr_readiness *readiness, enum wr_ready_part part, bool is_there);

bool wr_readiness_has(struct wr_readiness *readiness, enum wr_ready_part part);

#endif
