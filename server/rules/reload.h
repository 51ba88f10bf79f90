/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread that keeps the rules in force as the files have them. It looks at the files when the
 * system tells of a change, when it is asked to, and from time to time, and takes them once they
 * have settled; the whole work of a reload is its own, off the way of requests.
 *
 * Threads: new, load, start, stop and destroy by the owner; look from any thread; on_rules runs in
 * load and on the thread.
 */
#ifndef WR_RULES_RELOAD_H
#define WR_RULES_RELOAD_H

#include <stdint.h>

#include "base/err.h"
#include "metrics/metrics.h"
#include "rules/current.h"
#include "rules/load.h"

struct wr_reload;

struct wr_reload_options {
    const struct wr_load_options *load; /* borrowed */
    struct wr_current_rules *current;   /* borrowed; where rules are published */
    struct wr_metrics *metrics;         /* borrowed */
    void (*on_rules)(void *context);    /* called behind each publication; may be NULL */
    void *context;                      /* borrowed; of on_rules */
    int64_t poll_us; /* between two looks when nothing is known to have happened */
    bool polls_only; /* do without the system's events */
};

/* WR_ERR_NO_MEMORY, WR_ERR_SYSTEM. */
WR_MUST_USE enum wr_err wr_reload_new(const struct wr_reload_options *options,
                                      struct wr_reload **out_reload);

/* Takes all files as they are now, before the thread is started; what is wrong with them is logged.
 * WR_ERR_NOT_FOUND when a path is missing, WR_ERR_IO when it cannot be read: what is there was
 * taken. WR_ERR_NO_MEMORY. */
WR_MUST_USE enum wr_err wr_reload_load(struct wr_reload *reload);

WR_MUST_USE enum wr_err wr_reload_start(struct wr_reload *reload);

/* Has the thread look at the files now. */
void wr_reload_look(struct wr_reload *reload);

/* Joins; a load that runs is given up before its next file, or once what was read is put together.
 * Does nothing unless started. */
void wr_reload_stop(struct wr_reload *reload);

/* Stops too. The rules in force stay. */
void wr_reload_destroy(struct wr_reload *reload);

#endif
