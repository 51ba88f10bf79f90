/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/player.h"

#include "base/assert.h"
#include "store/backend.h"
#include "store/local_store.h"

#define US_PER_S INT64_C(1000000)
#define ARENA_BYTES 4096
#define BEGIN_US (INT64_C(1767225600) * US_PER_S) /* 2026-01-01 */

/* One counter a layer, and room for those that count as several. */
#define MAX_COUNTERS 1000000

enum wr_err wr_sim_player_init(struct wr_sim_player *player, const struct wr_sim_scene *scene)
{
    const struct wr_local_store_options options = {.max_counters = MAX_COUNTERS, .n_stripes = 1};

    *player = (struct wr_sim_player){
        .scene = scene,
        .metrics = wr_metrics_new(),
        .played = {.origin_us = wr_sim_windows_next(&scene->windows, BEGIN_US)},
    };
    wr_arena_init(&player->arena, ARENA_BYTES);
    if (player->metrics == NULL ||
        (player->block = wr_metrics_block_new(player->metrics)) == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    return wr_local_store_new(&options, &player->backend);
}

void wr_sim_player_fini(struct wr_sim_player *player, struct wr_played *out_played)
{
    *out_played = player->played;
    wr_backend_destroy(player->backend);
    wr_metrics_destroy(player->metrics);
    wr_arena_fini(&player->arena);
}

static void is_done(struct wr_batch *batch, void *context)
{
    (void) batch;
    *(bool *) context = true;
}

/* One call; whether it may pass goes to `*out_passes`. */
static enum wr_err decide(struct wr_sim_player *player, int64_t at_us, uint64_t hits,
                          bool *out_passes)
{
    struct wr_request request = player->scene->subject->request;
    struct wr_decision *decision = NULL;
    struct wr_response response;
    struct wr_failure failure;
    bool done = false;
    const struct wr_decision_frame frame = {
        .settings = &player->settings,
        .rules = player->scene->subject->rules,
        .arena = &player->arena,
        .metrics = player->block,
        .now = {.wall_us = player->played.origin_us + at_us,
                .mono_us = player->scene->windows.length_us + at_us},
        .deadline_mono_us = INT64_MAX,
        .store_line = &player->line,
    };

    request.hits_addend = (uint32_t) hits;
    wr_arena_reset(&player->arena);

    enum wr_err err = wr_decision_begin(&frame, &request, &decision, &failure);

    if (err != WR_OK) {
        return err;
    }

    struct wr_batch *const batch = wr_decision_batch(decision);

    batch->done = is_done;
    batch->context = &done;
    wr_backend_take(player->backend, batch);
    WR_ASSERT(done);
    err = wr_decision_finish(decision, &response, &failure);
    *out_passes = err == WR_OK && response.overall_code == WR_CODE_OK;
    return err;
}

bool wr_sim_player_may_try(const struct wr_sim_scene *scene, double attempts)
{
    return attempts * (double) scene->cost <= (double) *scene->attempts_left;
}

enum wr_err wr_sim_player_try(struct wr_sim_player *player, int64_t at_us, uint64_t hits,
                              bool *out_passes)
{
    struct wr_played *const played = &player->played;
    bool passes = false;

    if (*player->scene->attempts_left < player->scene->cost) {
        return WR_ERR_TOO_LARGE;
    }
    *player->scene->attempts_left -= player->scene->cost;

    const enum wr_err err = decide(player, at_us, hits, &passes);

    if (err != WR_OK) {
        return err;
    }
    if (out_passes != NULL) {
        *out_passes = passes;
    }
    if (!passes) {
        played->n_refused += hits;
        return WR_OK;
    }
    played->n_admitted += hits;
    return wr_passed_add(&played->passed, at_us, hits) ? WR_OK : WR_ERR_NO_MEMORY;
}

void wr_played_fini(struct wr_played *played)
{
    wr_passed_fini(&played->passed);
}
