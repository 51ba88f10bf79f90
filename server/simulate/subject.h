/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rule that a simulation is about: that of the first descriptor of a file that has a limit, and
 * a call that meets it.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_SUBJECT_H
#define WR_SIMULATE_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/arena.h"
#include "rules/rules.h"
#include "service/request.h"

struct wr_sim_subject {
    struct wr_rules *rules; /* one reference */
    struct wr_arena arena;  /* of what follows */
    struct wr_request request;
    const struct wr_node *node; /* what it matches; has at least one limit */
};

/* False after messages to `err`. */
bool wr_sim_subject_init(struct wr_sim_subject *subject, const char *path, FILE *err);

void wr_sim_subject_fini(struct wr_sim_subject *subject);

#endif
