/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What keeps the rules in force, from files or from a control plane, for as long as the server
 * runs.
 *
 * Threads: main; on_rules runs on main while it is opened, and on the thread that it starts.
 */
#ifndef WR_RULES_FEED_H
#define WR_RULES_FEED_H

#include <stdbool.h>

#include "base/arena.h"
#include "metrics/metrics.h"
#include "options.h"
#include "rules/current.h"
#include "rules_source.h"

struct wr_reload;
struct wr_xds_client;

/* All borrowed while the feed lives. */
struct wr_rules_feed_frame {
    const struct wr_options *options;
    const struct wr_rules_source *source;
    struct wr_current_rules *current;
    struct wr_metrics *metrics;
    void (*on_rules)(void *context); /* behind each publication */
    void *context;
};

struct wr_rules_feed {
    /* owned; one of them, NULL until opened */
    struct wr_reload *reload;
    struct wr_xds_client *xds;
    struct wr_arena arena; /* of the client's options */
};

/* Rules of files are in force behind it, as far as they are good; those of a control plane come
 * once it is started. EX_OK, or another of sysexits.h after a message. The feed begins as {0}, and
 * is closed either way. */
int wr_rules_feed_open(struct wr_rules_feed *feed, const struct wr_rules_feed_frame *frame);

/* Starts its thread. EX_OK, or another of sysexits.h after a message. */
int wr_rules_feed_start(struct wr_rules_feed *feed);

/* Has files looked at now; what it does is logged when `is_told`. */
void wr_rules_feed_look(struct wr_rules_feed *feed, bool is_told);

/* Joins its thread. */
void wr_rules_feed_stop(struct wr_rules_feed *feed);

/* Stops too. */
void wr_rules_feed_close(struct wr_rules_feed *feed);

#endif
