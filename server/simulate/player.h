/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Attempts against a rule on a virtual clock: the very code that serves decides, with counters in
 * memory, one call an attempt.
 *
 * Invariant: the same rule and attempts always come to the same, and what was played counts against
 * a bound on all attempts of a simulation, so that it ends.
 * Threads: owner thread only.
 */
#ifndef WR_SIMULATE_PLAYER_H
#define WR_SIMULATE_PLAYER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "service/decision.h"
#include "simulate/load_spec.h"
#include "simulate/subject.h"
#include "simulate/windows.h"
#include "simulate/worst.h"

/* The most attempts of one simulation, of all its plays together, each counted as
 * wr_sim_subject_cost says: some seconds of work, and what is kept of them some hundred megabytes.
 */
#define WR_SIM_ATTEMPTS_MAX UINT64_C(50000000)

/* What a load is played against. */
struct wr_sim_scene {
    const struct wr_sim_subject *subject; /* borrowed */
    struct wr_rate against;
    struct wr_sim_windows windows;
    uint64_t cost;           /* of an attempt, see wr_sim_subject_cost */
    uint64_t *attempts_left; /* borrowed: of all plays of a simulation */
};

struct wr_played {
    int64_t origin_us;              /* virtual 0, since the Unix epoch */
    bool is_dated;                  /* that is a real one, of a trace */
    uint64_t n_admitted, n_refused; /* hits */
    int64_t duration_us;            /* up to the end of what is shown */
    struct wr_passed_list passed;   /* owned */
};

void wr_played_fini(struct wr_played *played);

struct wr_sim_player {
    const struct wr_sim_scene *scene; /* borrowed */
    struct wr_settings settings;
    struct wr_backend *backend; /* owned */
    struct wr_metrics *metrics; /* owned */
    struct wr_metrics_block *block;
    struct wr_log_limit line;
    struct wr_arena arena;
    struct wr_played played;
};

/* With fresh counters, at the first window of 2026. WR_ERR_NO_MEMORY, WR_ERR_SYSTEM; to be undone
 * by fini in any case. */
WR_MUST_USE enum wr_err wr_sim_player_init(struct wr_sim_player *player,
                                           const struct wr_sim_scene *scene);

/* Whether so many more attempts may be made: of far too many it is not worth beginning. */
bool wr_sim_player_may_try(const struct wr_sim_scene *scene, double attempts);

/* What was played goes to `*out_played`. */
void wr_sim_player_fini(struct wr_sim_player *player, struct wr_played *out_played);

/*
 * Tries to pass with `hits` at `at_us` of virtual time, not before the last attempt. `out_passes`
 * may be NULL. WR_ERR_TOO_LARGE: the simulation has made all attempts that it may; other errors are
 * those of deciding.
 */
WR_MUST_USE enum wr_err wr_sim_player_try(struct wr_sim_player *player, int64_t at_us,
                                          uint64_t hits, bool *out_passes);

#endif
