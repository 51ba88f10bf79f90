/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plays a load, whichever it is, against a scene.
 *
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_PLAY_H
#define WR_SIMULATE_PLAY_H

#include "base/diag.h"
#include "base/err.h"
#include "simulate/load_spec.h"
#include "simulate/player.h"

/*
 * Plays `spec`. Where it says none, durations and a boundary's hits are those of what the scene is
 * measured against. Errors are those of a player; WR_ERR_IO and WR_ERR_MALFORMED of a trace are
 * noted. `*out_played` is to be finished in any case.
 */
WR_MUST_USE enum wr_err wr_sim_play(const struct wr_sim_scene *scene,
                                    const struct wr_load_spec *spec, struct wr_diag *diag,
                                    struct wr_played *out_played);

#endif
