/* SPDX-License-Identifier: Apache-2.0 */
#include "simulate/play.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/assert.h"
#include "service/decision.h"
#include "store/backend.h"
#include "store/local_store.h"

#define US_PER_SECOND INT64_C(1000000)
#define ARENA_BYTES 4096

/* Defaults: how many windows, how fine the adversary's time is, what a boundary's gap is. */
#define STEADY_WINDOWS 5
#define ADVERSARY_WINDOWS 4
#define STEPS_A_WINDOW 1000
#define PHASES 8

/* One run against fresh counters. */
struct run {
    const struct wr_sim_subject *subject;
    struct wr_rate against;
    struct wr_settings settings;
    struct wr_backend *backend; /* owned */
    struct wr_metrics *metrics; /* owned */
    struct wr_metrics_block *block;
    struct wr_log_limit line;
    struct wr_arena arena;
    struct wr_played played;
    uint64_t n_attempts;
};

static enum wr_err begin(struct run *run, const struct wr_sim_subject *subject,
                         const struct wr_rate *against)
{
    const struct wr_local_store_options options = {.max_counters = 1024, .n_stripes = 1};

    *run = (struct run){.subject = subject, .against = *against, .metrics = wr_metrics_new()};
    wr_arena_init(&run->arena, ARENA_BYTES);
    if (run->metrics == NULL || (run->block = wr_metrics_block_new(run->metrics)) == NULL) {
        return WR_ERR_NO_MEMORY;
    }
    return wr_local_store_new(&options, &run->backend);
}

/* What was played stays. */
static void end(struct run *run)
{
    wr_backend_destroy(run->backend);
    wr_metrics_destroy(run->metrics);
    wr_arena_fini(&run->arena);
}

static void is_done(struct wr_batch *batch, void *context)
{
    (void) batch;
    *(bool *) context = true;
}

/* One call; whether it may pass goes to `*out_passes`. */
static enum wr_err decide(struct run *run, int64_t at_us, uint64_t hits, bool *out_passes)
{
    struct wr_request request = run->subject->request;
    struct wr_decision *decision = NULL;
    struct wr_response response;
    struct wr_failure failure;
    bool done = false;
    const struct wr_decision_frame frame = {
        .settings = &run->settings,
        .rules = run->subject->rules,
        .arena = &run->arena,
        .metrics = run->block,
        .now = {.wall_us = WR_SIM_BEGIN_S * US_PER_SECOND + at_us,
                .mono_us = US_PER_SECOND + at_us},
        .deadline_mono_us = INT64_MAX,
        .store_line = &run->line,
    };

    request.hits_addend = (uint32_t) hits;
    wr_arena_reset(&run->arena);

    enum wr_err err = wr_decision_begin(&frame, &request, &decision, &failure);

    if (err != WR_OK) {
        return err;
    }

    struct wr_batch *const batch = wr_decision_batch(decision);

    batch->done = is_done;
    batch->context = &done;
    wr_backend_take(run->backend, batch);
    WR_ASSERT(done);
    err = wr_decision_finish(decision, &response, &failure);
    *out_passes = err == WR_OK && response.overall_code == WR_CODE_OK;
    return err;
}

static enum wr_err attempt(struct run *run, int64_t at_us, uint64_t hits, bool *out_passes)
{
    if (++run->n_attempts > WR_SIM_ATTEMPTS_MAX) {
        return WR_ERR_TOO_LARGE;
    }

    const enum wr_err err = decide(run, at_us, hits, out_passes);

    if (err != WR_OK) {
        return err;
    }
    if (!*out_passes) {
        run->played.n_refused += hits;
        return WR_OK;
    }
    run->played.n_admitted += hits;
    return wr_passed_add(&run->played.passed, at_us, hits) ? WR_OK : WR_ERR_NO_MEMORY;
}

static int64_t duration_or(const struct wr_load_spec *spec, int64_t default_us)
{
    return spec->duration_us > 0 ? spec->duration_us : default_us;
}

static enum wr_err play_steady(struct run *run, const struct wr_load_spec *spec)
{
    const int64_t end_us = duration_or(spec, STEADY_WINDOWS * run->against.per_us);
    enum wr_err err = WR_OK;
    bool passes;

    run->played.duration_us = end_us;
    for (uint64_t i = 0; err == WR_OK; i++) {
        const double at_us = (double) i * (double) spec->rate.per_us / (double) spec->rate.hits;

        if (at_us >= (double) end_us) {
            break;
        }
        err = attempt(run, (int64_t) at_us, 1, &passes);
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

static enum wr_err play_poisson(struct run *run, const struct wr_load_spec *spec)
{
    const int64_t end_us = duration_or(spec, STEADY_WINDOWS * run->against.per_us);
    const double mean_us = (double) spec->rate.per_us / (double) spec->rate.hits;
    uint64_t state = spec->seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    enum wr_err err = WR_OK;
    double at_us = 0;
    bool passes;

    run->played.duration_us = end_us;
    while (err == WR_OK) {
        at_us -= mean_us * log(draw(&state));
        if (at_us >= (double) end_us) {
            break;
        }
        err = attempt(run, (int64_t) at_us, 1, &passes);
    }
    return err;
}

static enum wr_err burst(struct run *run, int64_t at_us, uint64_t hits)
{
    enum wr_err err = WR_OK;
    bool passes;

    for (uint64_t i = 0; i < hits && err == WR_OK; i++) {
        err = attempt(run, at_us, 1, &passes);
    }
    return err;
}

static enum wr_err play_boundary(struct run *run, const struct wr_load_spec *spec)
{
    const int64_t length_us = run->against.per_us;
    const int64_t gap_us = spec->gap_us > 0 ? spec->gap_us : length_us / STEPS_A_WINDOW;
    const uint64_t hits = spec->hits > 0 ? spec->hits : run->against.hits;
    enum wr_err err = burst(run, length_us > gap_us ? length_us - gap_us : 0, hits);

    run->played.duration_us = 2 * length_us;
    if (err == WR_OK) {
        err = burst(run, length_us, hits);
    }
    return err;
}

/* Everything that passes, at each step from `from_us` on. */
static enum wr_err play_greedy(struct run *run, int64_t from_us, int64_t end_us)
{
    const int64_t length_us = run->against.per_us;
    const int64_t step_us = length_us > STEPS_A_WINDOW ? length_us / STEPS_A_WINDOW : 1;
    enum wr_err err = WR_OK;

    run->played.duration_us = end_us;
    for (int64_t at_us = from_us; at_us < end_us && err == WR_OK; at_us += step_us) {
        bool passes = true;

        while (passes && err == WR_OK) {
            err = attempt(run, at_us, 1, &passes);
        }
    }
    return err;
}

/* From several places of the window, just before its end included; the worst is kept. */
static enum wr_err play_adversary(const struct wr_sim_subject *subject,
                                  const struct wr_load_spec *spec, const struct wr_rate *against,
                                  struct wr_played *out_played)
{
    const int64_t length_us = against->per_us;
    const int64_t end_us = duration_or(spec, ADVERSARY_WINDOWS * length_us);
    uint64_t worst = 0;
    enum wr_err err = WR_OK;

    for (int64_t phase = 0; phase <= PHASES && err == WR_OK; phase++) {
        const int64_t step_us = length_us > STEPS_A_WINDOW ? length_us / STEPS_A_WINDOW : 1;
        const int64_t from_us = phase < PHASES ? length_us / PHASES * phase : length_us - step_us;
        struct run run;

        err = begin(&run, subject, against);
        if (err == WR_OK) {
            err = play_greedy(&run, from_us, end_us);
        }

        const uint64_t most = wr_passed_worst(&run.played.passed, length_us).hits;

        if (err == WR_OK && (phase == 0 || most >= worst)) {
            wr_played_fini(out_played);
            *out_played = run.played;
            worst = most;
        } else {
            wr_played_fini(&run.played);
        }
        end(&run);
    }
    return err;
}

/* SECONDS[,HITS]; empty lines, those that begin with #, and a head line are passed over. */
static bool read_row(const char *line, double *out_seconds, uint64_t *out_hits)
{
    char *rest = NULL;

    errno = 0;
    *out_seconds = strtod(line, &rest);
    *out_hits = 1;
    if (rest == line || errno != 0 || !(*out_seconds >= 0) || *out_seconds > 1e9) {
        return false;
    }
    if (*rest == ',') {
        const char *const from = rest + 1;

        *out_hits = strtoull(from, &rest, 10);
        if (rest == from || *out_hits == 0 || *out_hits > UINT32_MAX) {
            return false;
        }
    }
    return *rest == '\n' || *rest == '\r' || *rest == '\0';
}

static enum wr_err play_rows(struct run *run, FILE *file, uint64_t *out_line)
{
    char line[128];
    int64_t before_us = 0;
    enum wr_err err = WR_OK;

    while (err == WR_OK && fgets(line, sizeof line, file) != NULL) {
        double seconds = 0;
        uint64_t hits = 0;
        bool passes;

        (*out_line)++;
        if (line[0] == '\n' || line[0] == '\r' || line[0] == '#') {
            continue;
        }
        if (!read_row(line, &seconds, &hits)) {
            if (*out_line == 1 && isalpha((unsigned char) line[0])) { /* names of the columns */
                continue;
            }
            return WR_ERR_MALFORMED;
        }

        const int64_t at_us = (int64_t) llround(seconds * (double) US_PER_SECOND);

        if (at_us < before_us) {
            return WR_ERR_MALFORMED;
        }
        before_us = at_us;
        err = attempt(run, at_us, hits, &passes);
    }
    run->played.duration_us = before_us + 1;
    return err;
}

static enum wr_err play_csv(struct run *run, const struct wr_load_spec *spec, uint64_t *out_line)
{
    FILE *const file = fopen(spec->path, "r");

    if (file == NULL) {
        return WR_ERR_IO;
    }

    const enum wr_err err = play_rows(run, file, out_line);
    const bool is_read = ferror(file) == 0;

    (void) fclose(file);
    return err == WR_OK && !is_read ? WR_ERR_IO : err;
}

static enum wr_err play_one(struct run *run, const struct wr_load_spec *spec, uint64_t *out_line)
{
    switch (spec->kind) {
    case WR_LOAD_STEADY:
        return play_steady(run, spec);
    case WR_LOAD_POISSON:
        return play_poisson(run, spec);
    case WR_LOAD_CSV:
        return play_csv(run, spec, out_line);
    case WR_LOAD_BOUNDARY:
    case WR_LOAD_ADVERSARY:
    default:
        return play_boundary(run, spec);
    }
}

enum wr_err wr_sim_play(const struct wr_sim_subject *subject, const struct wr_load_spec *spec,
                        const struct wr_rate *against, struct wr_played *out_played,
                        uint64_t *out_line)
{
    struct run run;

    *out_line = 0;
    *out_played = (struct wr_played){0};
    if (spec->kind == WR_LOAD_ADVERSARY) {
        return play_adversary(subject, spec, against, out_played);
    }

    enum wr_err err = begin(&run, subject, against);

    if (err == WR_OK) {
        err = play_one(&run, spec, out_line);
    }
    *out_played = run.played;
    end(&run);
    return err;
}

void wr_played_fini(struct wr_played *played)
{
    wr_passed_fini(&played->passed);
}
