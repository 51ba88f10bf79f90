/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/arrivals.h"

#include <math.h>

static double mean_us(const struct wr_rate *rate)
{
    return (double) rate->per_us / (double) rate->hits;
}

/* WR_ERR_TOO_LARGE when more are about to come than may. */
static enum wr_err begin(struct wr_sim_player *player, const struct wr_rate *rate, int64_t end_us)
{
    const double attempts = (double) end_us / mean_us(rate);

    player->played.duration_us = end_us;
    return wr_sim_player_may_try(player->scene, attempts) ? WR_OK : WR_ERR_TOO_LARGE;
}

enum wr_err wr_sim_arrive_evenly(struct wr_sim_player *player, const struct wr_rate *rate,
                                 int64_t end_us)
{
    enum wr_err err = begin(player, rate, end_us);

    for (uint64_t i = 0; err == WR_OK; i++) {
        const double at_us = (double) i * (double) rate->per_us / (double) rate->hits;

        if (at_us >= (double) end_us) {
            break;
        }
        err = wr_sim_player_try(player, (int64_t) at_us, 1, NULL);
    }
    return err;
}

/* xorshift64*, so that a seed means the same everywhere; from 0, left out, to 1. */
static double draw(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return ((double) (*state * UINT64_C(2685821657736338717) >> 11) + 1) / 9007199254740992.0;
}

enum wr_err wr_sim_arrive_at_random(struct wr_sim_player *player, const struct wr_rate *rate,
                                    uint64_t seed, int64_t end_us)
{
    enum wr_err err = begin(player, rate, end_us);
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    double at_us = 0;

    while (err == WR_OK) {
        at_us -= mean_us(rate) * log(draw(&state));
        if (at_us >= (double) end_us) {
            break;
        }
        err = wr_sim_player_try(player, (int64_t) at_us, 1, NULL);
    }
    return err;
}
