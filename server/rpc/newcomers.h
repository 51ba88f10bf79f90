/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connections that were accepted and have not said yet that they speak HTTP/2: those that do are
 * handed to a transport with all their bytes unread, those that speak something else are told so
 * and closed, and so are, after a while, those that say nothing.
 *
 * Threads: owner thread only; adopt runs on it.
 */
#ifndef WR_RPC_NEWCOMERS_H
#define WR_RPC_NEWCOMERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "metrics/metrics.h"

struct wr_newcomers;

/* Takes over a connected, non-blocking socket. */
typedef void (*wr_adopt_fn)(void *context, int fd);

struct wr_newcomers_options {
    int64_t timeout_us; /* 0: they may be silent for ever */
    wr_adopt_fn adopt;
    void *context;                    /* borrowed; of adopt */
    struct wr_metrics_block *metrics; /* borrowed; of the owner thread */
};

/* WR_ERR_NO_MEMORY, WR_ERR_SYSTEM. */
WR_MUST_USE enum wr_err wr_newcomers_new(const struct wr_newcomers_options *options,
                                         struct wr_newcomers **out_newcomers);

void wr_newcomers_destroy(struct wr_newcomers *newcomers);

/* Readable when a turn has something to do before anything is due; borrowed. */
int wr_newcomers_fd(const struct wr_newcomers *newcomers);

bool wr_newcomers_is_empty(const struct wr_newcomers *newcomers);

/* When the next is due to be closed, INT64_MAX when none is. */
int64_t wr_newcomers_due_us(const struct wr_newcomers *newcomers);

/* Takes over `fd`, a connected, non-blocking socket. WR_ERR_NO_MEMORY, WR_ERR_SYSTEM; then it
 * stays the caller's. */
WR_MUST_USE enum wr_err wr_newcomers_add(struct wr_newcomers *newcomers, int fd, int64_t mono_us);

/* Hands over, or closes, those whose time has come. */
void wr_newcomers_turn(struct wr_newcomers *newcomers, int64_t mono_us);

/* Closes those that are still waited for, as destroy does too. */
void wr_newcomers_dismiss(struct wr_newcomers *newcomers);

#endif
