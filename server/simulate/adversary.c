/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/adversary.h"

/* How fine its time is, and how many moments of a window it begins at. */
#define STEPS_A_WINDOW 1000
#define MOMENTS 9

static int64_t step_of(int64_t window_us)
{
    return window_us > STEPS_A_WINDOW ? window_us / STEPS_A_WINDOW : 1;
}

/* Everything that passes, at each step from `from_us` on. */
static enum wr_err play_greedy(struct wr_sim_player *player, int64_t from_us, int64_t step_us,
                               int64_t end_us)
{
    enum wr_err err = WR_OK;

    player->played.duration_us = end_us;
    for (int64_t at_us = from_us; at_us < end_us && err == WR_OK; at_us += step_us) {
        bool passes = true;

        while (passes && err == WR_OK) {
            err = wr_sim_player_try(player, at_us, 1, &passes);
        }
    }
    return err;
}

/* From one of the moments of the first window; the last of them is just before its end. */
static enum wr_err play_from(const struct wr_sim_scene *scene, int moment, bool has_opener,
                             int64_t end_us, struct wr_played *out_played)
{
    struct wr_sim_player player;
    enum wr_err err = wr_sim_player_init(&player, scene);

    if (err == WR_OK) {
        const int64_t window_us = wr_sim_windows_length(&scene->windows, player.played.origin_us);
        const int64_t step_us = step_of(window_us);
        const int64_t from_us =
            moment < MOMENTS - 1 ? window_us / (MOMENTS - 1) * moment : window_us - step_us;

        if (has_opener) {
            err = wr_sim_player_try(&player, 0, 1, NULL);
        }
        if (err == WR_OK) {
            err = play_greedy(&player, from_us, step_us, end_us);
        }
    }
    wr_sim_player_fini(&player, out_played);
    return err;
}

/* One at each step, of all plays. */
static double least_attempts(const struct wr_sim_scene *scene, int64_t end_us)
{
    const double steps = (double) end_us / (double) step_of(scene->against.per_us);

    return 2 * MOMENTS * (steps > STEPS_A_WINDOW ? steps - STEPS_A_WINDOW : 0);
}

enum wr_err wr_sim_adversary_play(const struct wr_sim_scene *scene, int64_t end_us,
                                  struct wr_played *out_played)
{
    uint64_t worst = 0; /* of equals the last one, but without the hit if that is one */
    enum wr_err err =
        wr_sim_player_may_try(scene, least_attempts(scene, end_us)) ? WR_OK : WR_ERR_TOO_LARGE;

    for (int i = 0; i < 2 * MOMENTS && err == WR_OK; i++) {
        const bool has_opener = i >= MOMENTS;
        struct wr_played played;

        err = play_from(scene, i % MOMENTS, has_opener, end_us, &played);

        const uint64_t most = wr_passed_worst(&played.passed, scene->against.per_us).hits;

        if (err == WR_OK && (has_opener ? most > worst : most >= worst)) {
            wr_played_fini(out_played);
            *out_played = played;
            worst = most;
        } else {
            wr_played_fini(&played);
        }
    }
    return err;
}
