/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What options of the server do to some rules, and nothing that rules alone show.
 *
 * Threads: owner thread only.
 */
#ifndef WR_RULES_OPTION_DOUBTS_H
#define WR_RULES_OPTION_DOUBTS_H

#include <stdbool.h>

#include "base/diag.h"
#include "rules/rules.h"

struct wr_doubtful_options {
    /* --stop-increment-when-over-limit: a limit that may be over without refusing its request keeps
     * the others of it from being charged, so that they may never fill. It is the incumbent's
     * meaning. */
    bool stops_when_over;
    /* The store may have the counters of one request apart, as in a cluster under names that have
     * no common slot: limits that stand or fall together are judged each by itself. */
    bool keeps_groups_apart;
};

/* Warns of each that is on where the rules have such limits, and names the first. */
void wr_option_doubts_note(const struct wr_rules *rules, const struct wr_doubtful_options *options,
                           struct wr_diag *diag);

/* The same in the log. */
void wr_option_doubts_log(const struct wr_rules *rules, const struct wr_doubtful_options *options);

#endif
