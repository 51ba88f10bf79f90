/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recorded trace, row by row from a file: TIME[,HITS], as simulate/csv.h and trace_time.h have
 * it, in order of time. A first row that begins with a letter names the columns.
 *
 * Invariant: what is kept is one row, however long the file is.
 * Threads: owner thread only; reading may block.
 */
#ifndef WR_SIMULATE_TRACE_H
#define WR_SIMULATE_TRACE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/err.h"
#include "simulate/csv.h"
#include "simulate/trace_time.h"

struct wr_trace_row {
    struct wr_trace_time time;
    uint64_t hits; /* 1 to UINT32_MAX */
};

struct wr_trace {
    const char *path; /* borrowed */
    FILE *file;       /* owned */
    struct wr_csv csv;
    bool has_head, has_rows;
    struct wr_trace_time before; /* of the last row */
};

/* WR_ERR_IO, which is noted. */
WR_MUST_USE enum wr_err wr_trace_open(struct wr_trace *trace, const char *path,
                                      struct wr_diag *diag);

/* Reads the next row. WR_ERR_NOT_FOUND at the end of the file; WR_ERR_MALFORMED, also for a file
 * without rows, and WR_ERR_IO, which are noted. */
WR_MUST_USE enum wr_err wr_trace_next(struct wr_trace *trace, struct wr_diag *diag,
                                      struct wr_trace_row *out_row);

void wr_trace_close(struct wr_trace *trace);

#endif
