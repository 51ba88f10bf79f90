/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long to wait before the next attempt: pauses that double, with a jitter of half their length,
 * so that many clients of a control plane that comes back do not come all at once.
 *
 * Threads: plain values of one owner.
 */
#ifndef WR_XDS_PAUSES_H
#define WR_XDS_PAUSES_H

#include <stdint.h>

struct wr_xds_pauses {
    int64_t min_us, max_us; /* 0 < min <= max */
    uint32_t n;             /* in a row */
};

/* The next pause: from the half to the whole of min · 2^n, at most of max. `random` is any number.
 */
int64_t wr_xds_pauses_next(struct wr_xds_pauses *pauses, uint64_t random);

/* Begins anew. */
void wr_xds_pauses_reset(struct wr_xds_pauses *pauses);

#endif
