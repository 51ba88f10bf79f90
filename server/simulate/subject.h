/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a simulation is about: the rules of a file, a call with one descriptor, and the limits that
 * it meets. Rules on trial (shadow_mode, quota_mode) are played as enforced ones: what they would
 * refuse is what is asked about.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_SUBJECT_H
#define WR_SIMULATE_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/arena.h"
#include "base/err.h"
#include "rules/rules.h"
#include "service/request.h"

struct wr_sim_subject {
    struct wr_rules *rules; /* one reference */
    struct wr_arena arena;  /* of what follows */
    struct wr_request request;
    const struct wr_node *node; /* what it matches; has at least one limit */
    bool was_on_trial;
};

/*
 * Of the file `path`. `descriptor` is what to ask, see simulate/descriptor.h; NULL: what meets the
 * first limit in the file. To be finished in any case. After messages to `err`: WR_ERR_IO when the
 * file cannot be read, WR_ERR_MALFORMED when it is refused or has no such limit, WR_ERR_INVALID
 * when `descriptor` is none; WR_ERR_NO_MEMORY without.
 */
WR_MUST_USE enum wr_err wr_sim_subject_init(struct wr_sim_subject *subject, const char *path,
                                            const char *descriptor, FILE *err);

void wr_sim_subject_fini(struct wr_sim_subject *subject);

/* How many attempts one at it counts as: one a limit, and several where a take is so much dearer.
 */
uint64_t wr_sim_subject_cost(const struct wr_sim_subject *subject);

/* Writes what is asked and the limits that it meets, without a line feed. */
void wr_sim_subject_describe(const struct wr_sim_subject *subject, FILE *out);

#endif
