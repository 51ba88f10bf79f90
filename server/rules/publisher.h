/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Puts snapshots in force for whoever makes them, from files or messages: published, counted, told
 * to who waits for rules. What was replaced is kept for a while, so that it is freed by the
 * publisher's thread and not by the last worker that lets it go, while a call waits.
 *
 * Threads: owner thread only; which it is may change between two calls.
 */
#ifndef WR_RULES_PUBLISHER_H
#define WR_RULES_PUBLISHER_H

#include "metrics/metrics.h"
#include "rules/current.h"
#include "rules/option_doubts.h"
#include "rules/rules.h"

struct wr_publisher {
    struct wr_current_rules *current;    /* borrowed; where rules are published */
    struct wr_metrics_block *metrics;    /* borrowed */
    struct wr_doubtful_options doubtful; /* say what they do to the rules, if they do harm */
    void (*on_rules)(void *context);     /* called behind each publication; may be NULL */
    void *context;                       /* borrowed; of on_rules */
    struct wr_rules *latest, *replaced;  /* owned references; NULL: none */
};

/* Puts `*rules` in force, takes over the caller's reference and nulls it. */
void wr_publisher_publish(struct wr_publisher *publisher, struct wr_rules **rules);

/* Lets go what was replaced: workers have had the time to renew their views. */
void wr_publisher_let_go(struct wr_publisher *publisher);

/* Lets go all; what is in force stays. */
void wr_publisher_fini(struct wr_publisher *publisher);

#endif
