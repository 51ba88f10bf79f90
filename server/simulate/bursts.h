/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classic load: a burst in the last moment of a window, and one in the first of the next.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_BURSTS_H
#define WR_SIMULATE_BURSTS_H

#include <stdint.h>

#include "base/err.h"
#include "simulate/player.h"

/*
 * Single hits, `hits` of them `gap_us` before the end of the first window, and as many at its end.
 * Where windows begin with a hit, the first one comes at 0. How they end, see wr_sim_player_try.
 */
WR_MUST_USE enum wr_err wr_sim_burst_at_boundary(struct wr_sim_player *player, uint64_t hits,
                                                 int64_t gap_us);

#endif
