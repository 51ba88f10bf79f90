/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single hits that come at a rate, whatever becomes of them.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_ARRIVALS_H
#define WR_SIMULATE_ARRIVALS_H

#include <stdint.h>

#include "base/err.h"
#include "simulate/load_spec.h"
#include "simulate/player.h"

/* Evenly, from 0 until `end_us`; how they end, see wr_sim_player_try. */
WR_MUST_USE enum wr_err wr_sim_arrive_evenly(struct wr_sim_player *player,
                                             const struct wr_rate *rate, int64_t end_us);

/* At random, independently of one another (a Poisson process); a seed always means the same. */
WR_MUST_USE enum wr_err wr_sim_arrive_at_random(struct wr_sim_player *player,
                                                const struct wr_rate *rate, uint64_t seed,
                                                int64_t end_us);

#endif
