/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/bursts.h"

static enum wr_err burst(struct wr_sim_player *player, int64_t at_us, uint64_t hits)
{
    enum wr_err err = WR_OK;

    for (uint64_t i = 0; i < hits && err == WR_OK; i++) {
        err = wr_sim_player_try(player, at_us, 1, NULL);
    }
    return err;
}

enum wr_err wr_sim_burst_at_boundary(struct wr_sim_player *player, uint64_t hits, int64_t gap_us)
{
    const struct wr_sim_windows *const windows = &player->scene->windows;
    const int64_t end_us = wr_sim_windows_length(windows, player->played.origin_us);
    const uint64_t n_openers = windows->begin_at_hit && hits > 0 ? 1 : 0;

    if (!wr_sim_player_may_try(player->scene, 2.0 * (double) hits)) {
        return WR_ERR_TOO_LARGE;
    }

    enum wr_err err = burst(player, 0, n_openers);

    player->played.duration_us = 2 * end_us;
    if (err == WR_OK) {
        err = burst(player, end_us > gap_us ? end_us - gap_us : 0, hits - n_openers);
    }
    return err == WR_OK ? burst(player, end_us, hits) : err;
}
