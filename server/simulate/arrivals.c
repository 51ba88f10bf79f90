/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/arrivals.h"

#include <math.h>

static double mean_us(const struct wr_rate *rate)
{
    return (double) rate->per_us / (double) rate->hits;
}

/* Whether so many are about to come that it is not worth beginning. */
static bool are_too_many(const struct wr_sim_player *player, const struct wr_rate *rate,
                         int64_t end_us)
{
    const struct wr_sim_scene *const scene = player->scene;

    return (double) end_us / mean_us(rate) * (double) scene->cost > (double) *scene->attempts_left;
}

enum wr_err wr_sim_arrive_evenly(struct wr_sim_player *player, const struct wr_rate *rate,
                                 int64_t end_us)
{
    enum wr_err err = are_too_many(player, rate, end_us) ? WR_ERR_TOO_LARGE : WR_OK;

    player->played.duration_us = end_us;
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
    enum wr_err err = are_too_many(player, rate, end_us) ? WR_ERR_TOO_LARGE : WR_OK;
    uint64_t state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    double at_us = 0;

    player->played.duration_us = end_us;
    while (err == WR_OK) {
        at_us -= mean_us(rate) * log(draw(&state));
        if (at_us >= (double) end_us) {
            break;
        }
        err = wr_sim_player_try(player, (int64_t) at_us, 1, NULL);
    }
    return err;
}
