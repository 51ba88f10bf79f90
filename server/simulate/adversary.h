/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load that looks for the most that can be got through in any trailing window: all that passes,
 * again and again, from some moment of a window on, with and without a hit at its beginning.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_ADVERSARY_H
#define WR_SIMULATE_ADVERSARY_H

#include <stdint.h>

#include "base/err.h"
#include "simulate/player.h"

/* Plays until `end_us` of virtual time from each of nine moments; the worst goes to `*out_played`.
 * Errors are those of a player. */
WR_MUST_USE enum wr_err wr_sim_adversary_play(const struct wr_sim_scene *scene, int64_t end_us,
                                              struct wr_played *out_played);

#endif
