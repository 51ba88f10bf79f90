/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The windows that a load is played around and that a picture shows the ends of.
 *
 * Threads: pure functions of immutable values.
 */
#ifndef WR_SIMULATE_WINDOWS_H
#define WR_SIMULATE_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

#include "limit/limit.h"
#include "simulate/load_spec.h"

struct wr_sim_windows {
    int64_t length_us;                  /* they begin at multiples of it since the Unix epoch */
    const struct wr_calendar *calendar; /* not NULL: with its days, weeks, months or years */
    bool begin_at_hit;                  /* the first one begins with the first hit */
};

/* Those of `limit`, or of what is measured against where that is of another length. */
struct wr_sim_windows wr_sim_windows_of(const struct wr_limit *limit,
                                        const struct wr_rate *against);

/* The first moment at or after `wall_us` that a window begins at. */
int64_t wr_sim_windows_next(const struct wr_sim_windows *windows, int64_t wall_us);

/* How long the window is that begins at `wall_us`. */
int64_t wr_sim_windows_length(const struct wr_sim_windows *windows, int64_t wall_us);

#endif
