/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/play.h"

#include "simulate/adversary.h"
#include "simulate/arrivals.h"
#include "simulate/bursts.h"
#include "simulate/trace.h"

/* Defaults: how many windows, and what part of one the gap before a boundary is. */
#define ARRIVAL_WINDOWS 5
#define ADVERSARY_WINDOWS 4
#define GAPS_A_WINDOW 1000
#define LEAST_GAP_US 1

/* Of a trace with dates, virtual time begins at the first of them. */
static enum wr_err play_rows(struct wr_sim_player *player, struct wr_trace *trace,
                             struct wr_diag *diag)
{
    struct wr_played *const played = &player->played;
    struct wr_trace_row row;
    enum wr_err err = wr_trace_next(trace, diag, &row);

    if (err == WR_OK && row.time.is_dated) {
        played->origin_us = row.time.us;
        played->is_dated = true;
    }
    while (err == WR_OK) {
        const int64_t at_us = row.time.us - (played->is_dated ? played->origin_us : 0);

        played->duration_us = at_us + 1;
        err = wr_sim_player_try(player, at_us, row.hits, NULL);
        if (err == WR_OK) {
            err = wr_trace_next(trace, diag, &row);
        }
    }
    return err == WR_ERR_NOT_FOUND ? WR_OK : err;
}

static enum wr_err play_trace(struct wr_sim_player *player, const char *path, struct wr_diag *diag)
{
    struct wr_trace trace;
    enum wr_err err = wr_trace_open(&trace, path, diag);

    if (err == WR_OK) {
        err = play_rows(player, &trace, diag);
    }
    wr_trace_close(&trace);
    return err;
}

static int64_t duration_or(const struct wr_load_spec *spec, int64_t default_us)
{
    return spec->duration_us > 0 ? spec->duration_us : default_us;
}

/* Virtual time knows nothing finer than a microsecond. */
static int64_t gap_of(int64_t window_us)
{
    const int64_t gap_us = window_us / GAPS_A_WINDOW;

    return gap_us > LEAST_GAP_US ? gap_us : LEAST_GAP_US;
}

static enum wr_err play_one(struct wr_sim_player *player, const struct wr_load_spec *spec,
                            struct wr_diag *diag)
{
    const struct wr_rate *const against = &player->scene->against;
    const int64_t end_us = duration_or(spec, ARRIVAL_WINDOWS * against->per_us);

    switch (spec->kind) {
    case WR_LOAD_STEADY:
        return wr_sim_arrive_evenly(player, &spec->rate, end_us);
    case WR_LOAD_POISSON:
        return wr_sim_arrive_at_random(player, &spec->rate, spec->seed, end_us);
    case WR_LOAD_CSV:
        return play_trace(player, spec->path, diag);
    case WR_LOAD_BOUNDARY:
    case WR_LOAD_ADVERSARY:
    default:
        return wr_sim_burst_at_boundary(player, spec->hits > 0 ? spec->hits : against->hits,
                                        spec->gap_us > 0 ? spec->gap_us : gap_of(against->per_us));
    }
}

enum wr_err wr_sim_play(const struct wr_sim_scene *scene, const struct wr_load_spec *spec,
                        struct wr_diag *diag, struct wr_played *out_played)
{
    *out_played = (struct wr_played){0};
    if (spec->kind == WR_LOAD_ADVERSARY) {
        return wr_sim_adversary_play(
            scene, duration_or(spec, ADVERSARY_WINDOWS * scene->against.per_us), out_played);
    }

    struct wr_sim_player player;
    enum wr_err err = wr_sim_player_init(&player, scene);

    if (err == WR_OK) {
        err = play_one(&player, spec, diag);
    }
    wr_sim_player_fini(&player, out_played);
    return err;
}
