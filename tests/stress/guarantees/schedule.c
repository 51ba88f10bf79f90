/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/stress/guarantees/schedule.h"

#include <inttypes.h>
#include <stddef.h>

#include "tests/stress/crew.h"
#include "tests/stress/guarantees/rule.h"

#define JITTER_US 20

/* One schedule, as it is played. */
struct game {
    struct wr_prey *prey;
    uint64_t *random;
    int64_t now_us;
    int64_t latest_us; /* that a take came with */
    bool has_waited;   /* exactly as long as the last take was told, by the same limit */
};

void wr_schedule_check(const struct wr_schedule_name *name, bool holds, const char *what)
{
    if (!holds) {
        wr_check(false, "%s: %s: schedule %" PRIu32 " of seed %" PRIu64, name->subject, what,
                 name->number, name->seed);
    }
}

/* Passes at the latest time that anybody has read. */
static struct wr_moment moment_of(struct game *game, int64_t late_us)
{
    const int64_t read_us = game->now_us - late_us;

    game->latest_us = read_us > game->latest_us ? read_us : game->latest_us;
    return (struct wr_moment){.read_us = read_us, .latest_us = game->latest_us};
}

static void vary(struct game *game)
{
    if (game->prey->vary != NULL && wr_draw_between(game->random, 1, 6) == 1) {
        game->prey->vary(game->prey, game->random);
        game->has_waited = false;
    }
}

static void look_and_take(struct game *game, uint64_t hits)
{
    struct wr_prey *const prey = game->prey;
    const struct wr_moment moment = moment_of(game, 0);
    const bool fits = prey->look(prey, &moment).remaining >= hits;

    wr_schedule_check(&prey->name, prey->take(prey, hits, &moment).over == !fits,
                      "a take is not what a look said");
}

/* All that fits; returns the wait for more. */
static int64_t take_all(struct game *game, int64_t late_us)
{
    struct wr_prey *const prey = game->prey;
    const struct wr_moment moment = moment_of(game, late_us);
    const struct wr_verdict look = prey->look(prey, &moment);

    if (look.remaining > 0) {
        wr_schedule_check(&prey->name, !prey->take(prey, look.remaining, &moment).over,
                          "what remains is refused");
    } else if (game->has_waited && prey->keeps_its_waits) {
        wr_schedule_check(&prey->name, false, "a wait that was too short");
    }

    const struct wr_verdict more = prey->take(prey, 1, &moment);

    wr_schedule_check(&prey->name, more.over, "more than what remains is admitted");
    return more.reset_us;
}

/* At the last moment of a wait nothing fits yet. */
static void look_before(struct game *game, int64_t wait_us)
{
    struct wr_prey *const prey = game->prey;
    const struct wr_moment moment = {.read_us = game->now_us + wait_us - 1,
                                     .latest_us = game->now_us + wait_us - 1};

    wr_schedule_check(&prey->name, prey->look(prey, &moment).remaining == 0,
                      "a wait that was too long");
}

static void play_random(struct game *game, uint32_t n_steps)
{
    const int64_t length_us = game->prey->length_us;

    for (uint32_t i = 0; i < n_steps; i++) {
        const int64_t longest_us = length_us / wr_draw_between(game->random, 1, 30) + 1;

        game->now_us += wr_draw_between(game->random, 0, longest_us);
        vary(game);

        look_and_take(game, (uint64_t) wr_draw_between(game->random, 1, 3));
    }
}

static void play_greedy(struct game *game, uint32_t n_steps, int64_t jitter_us)
{
    for (uint32_t i = 0; i < n_steps; i++) {
        const int64_t late_us = wr_draw_between(game->random, 0, jitter_us);
        const int64_t wait_us = take_all(game, late_us) - late_us;
        const bool is_early = wait_us > 0 && wr_draw_between(game->random, 1, 20) == 1;

        game->has_waited = wait_us > 0 && !is_early && jitter_us == 0;
        if (game->has_waited && game->prey->keeps_its_waits) {
            look_before(game, wait_us);
        }
        if (wait_us <= 0) {
            game->now_us++;
        } else {
            game->now_us += is_early ? wr_draw_between(game->random, 1, wait_us) : wait_us;
        }
        if (jitter_us == 0) { /* who knows of a change has read the clock after it */
            vary(game);
        }
    }
}

/* One hit, the others at the last moment of its window, and again when that is over. */
static void play_boundary(struct game *game, uint32_t n_steps)
{
    struct wr_prey *const prey = game->prey;

    if (wr_draw_between(game->random, 1, 2) == 1) {
        look_and_take(game, 1);
        game->now_us += prey->length_us - 1;
    } else {
        game->now_us = prey->end_of_window(prey, game->now_us) - 1;
    }
    (void) take_all(game, 0);
    game->now_us++;
    play_greedy(game, n_steps, 0);
}

int64_t wr_schedule_play(struct wr_prey *prey, enum wr_style style, uint64_t *random,
                         int64_t now_us)
{
    struct game game = {.prey = prey, .random = random, .now_us = now_us};
    const int64_t half_us = prey->length_us / 2;

    switch (style) {
    case WR_STYLE_GREEDY:
        play_greedy(&game, prey->n_steps, 0);
        break;
    case WR_STYLE_BOUNDARY:
        play_boundary(&game, prey->n_steps);
        break;
    case WR_STYLE_LATE:
        play_greedy(&game, prey->n_steps, half_us < JITTER_US ? half_us : JITTER_US);
        break;
    case WR_STYLE_RANDOM:
    case WR_STYLES:
        play_random(&game, prey->n_steps);
        break;
    }
    return game.now_us;
}
