/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each algorithm promises, against an adversary: the most that is admitted in any window of a
 * limit's length, wherever it begins, and in any instant, a hundredth of that. Schedules of takes
 * are random, greedy (all that fits, as soon as it does), bursts around a boundary, and greedy with
 * clocks that were read too early; limits, lengths, bursts and buckets are random, too, and some
 * limits warm up. That the bounds are reached, or nearly, shows that the search is not blind.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit/algorithm.h"
#include "tests/stress/crew.h"

enum {
    SCHEDULES = 100000, /* of each algorithm */
    STEPS_MAX = 1200,
    WORDS = 8 + 2 * WR_SLIDING_LOG_MAX,
    JITTER_US = 20,
};

/* Most hits that may pass, by a limit. */
typedef uint64_t (*bound_fn)(const struct wr_limit *limit);

static uint64_t once(const struct wr_limit *limit)
{
    return limit->requests;
}

static uint64_t twice(const struct wr_limit *limit)
{
    return 2 * limit->requests;
}

static uint64_t once_and_a_hundredth(const struct wr_limit *limit)
{
    return limit->requests * 101 / 100;
}

static uint64_t limit_and_burst(const struct wr_limit *limit)
{
    return limit->requests + limit->burst;
}

static uint64_t burst_and_a_fiftieth(const struct wr_limit *limit)
{
    return limit->burst + limit->requests / 50;
}

struct subject {
    const char *name;
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
    const char *window_text, *instant_text;
    bound_fn window_bound, instant_bound;
    double reached; /* at least that part of the bound in a window */
};

static const struct subject subjects[] = {
    {"fixed_window", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_EPOCH, "2.00 L", "2.00 L", twice, twice,
     1.0},
    {"fixed_window, first_hit", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_FIRST_HIT, "2.00 L", "2.00 L",
     twice, twice, 0.99},
    {"sliding_window", WR_ALGORITHM_SLIDING_WINDOW, WR_ALIGN_EPOCH, "2.00 L", "1.01 L", twice,
     once_and_a_hundredth, 0.99},
    {"sliding_buckets", WR_ALGORITHM_SLIDING_BUCKETS, WR_ALIGN_EPOCH, "1.00 L", "1.00 L", once,
     once, 1.0},
    {"sliding_log", WR_ALGORITHM_SLIDING_LOG, WR_ALIGN_EPOCH, "1.00 L", "1.00 L", once, once, 1.0},
    {"token_bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH, "L + burst", "burst + 0.02 L",
     limit_and_burst, burst_and_a_fiftieth, 0.99},
};

#define N_SUBJECTS (sizeof subjects / sizeof subjects[0])

enum style {
    RANDOM,
    GREEDY,
    BOUNDARY,
    LATE,
    N_STYLES,
};

/* One schedule, as it is played. */
struct game {
    struct wr_limit limit;
    const struct wr_counter_kind *kind;
    uint64_t *state;
    uint64_t *random;
    int64_t now_us;
    int64_t latest_us; /* that a take came with */
    uint32_t n;        /* admitted takes */
    int64_t times_us[STEPS_MAX];
    uint64_t hits[STEPS_MAX];
};

/* Between `least` and `most`. */
static int64_t between(uint64_t *random, int64_t least, int64_t most)
{
    return least + (int64_t) (wr_crew_random(random) % (uint64_t) (most - least + 1));
}

static struct wr_limit random_limit(const struct subject *subject, uint64_t *random)
{
    const bool is_large = between(random, 1, 50) == 1;
    const int64_t requests = between(random, 1, is_large ? 300 : 12);
    const int64_t shortest_us = 2 * requests; /* so that a hit has an interval of its own */

    const int64_t length_us =
        between(random, shortest_us, between(random, 1, 2) == 1 ? 1000 : 1000000);

    return (struct wr_limit){
        .requests = (uint64_t) requests,
        .length_us = length_us,
        .count = WR_COUNT_ADMITTED,
        .algorithm = subject->algorithm,
        .alignment = subject->alignment,
        .n_buckets = (uint32_t) between(random, 1, 12),
        .burst = (uint64_t) between(random, 1, requests + 3),
        .warm_up_us = between(random, 1, 8) == 1 ? between(random, 1, 2 * length_us) : 0,
        .warm_up_start = (uint64_t) between(random, 1, requests),
    };
}

/* By a clock that was read `late_us` before. Passes at the latest time that anybody has read. */
static struct wr_verdict take(struct game *game, uint64_t hits, int64_t late_us)
{
    const int64_t read_us = game->now_us - late_us;
    const struct wr_verdict verdict = game->kind->take(game->state, &game->limit, hits, read_us);

    game->latest_us = read_us > game->latest_us ? read_us : game->latest_us;
    if (!verdict.over && game->n < STEPS_MAX) {
        game->times_us[game->n] = game->latest_us;
        game->hits[game->n] = hits;
        game->n++;
    }
    return verdict;
}

/* All that fits; returns the wait for more. */
static int64_t take_all(struct game *game, int64_t late_us)
{
    const struct wr_verdict look =
        game->kind->peek(game->state, &game->limit, 0, game->now_us - late_us);

    if (look.remaining > 0) {
        wr_check(!take(game, look.remaining, late_us).over, "what remains is refused");
    }

    const struct wr_verdict more = take(game, 1, late_us);

    wr_check(more.over, "more than what remains is admitted");
    return more.reset_us;
}

static void play_random(struct game *game, uint32_t n_steps)
{
    const int64_t length_us = game->limit.length_us;

    for (uint32_t i = 0; i < n_steps; i++) {
        const int64_t longest_us = length_us / between(game->random, 1, 30) + 1;

        game->now_us += between(game->random, 0, longest_us);
        (void) take(game, (uint64_t) between(game->random, 1, 3), 0);
    }
}

static void play_greedy(struct game *game, uint32_t n_steps, int64_t jitter_us)
{
    for (uint32_t i = 0; i < n_steps; i++) {
        const int64_t late_us = between(game->random, 0, jitter_us);
        const int64_t wait_us = take_all(game, late_us) - late_us;

        if (wait_us > 0) {
            game->now_us +=
                between(game->random, 1, 20) == 1 ? between(game->random, 1, wait_us) : wait_us;
        } else {
            game->now_us++;
        }
    }
}

/* One hit, the others at the last moment of its window, and again when that is over. */
static void play_boundary(struct game *game, uint32_t n_steps)
{
    const int64_t length_us = game->limit.length_us;
    const int64_t last_us = game->now_us - game->now_us % length_us + length_us - 1;

    if (between(game->random, 1, 2) == 1) {
        (void) take(game, 1, 0);
        game->now_us += length_us - 1;
    } else {
        game->now_us = last_us;
    }
    (void) take_all(game, 0);
    game->now_us++;
    play_greedy(game, n_steps, 0);
}

static void play(struct game *game, enum style style)
{
    const int64_t length_us = game->limit.length_us;
    const uint32_t n_steps = game->limit.requests > 20 ? STEPS_MAX / 2 : 24;

    switch (style) {
    case GREEDY:
        play_greedy(game, n_steps, 0);
        break;
    case BOUNDARY:
        play_boundary(game, n_steps);
        break;
    case LATE:
        play_greedy(game, n_steps, length_us / 2 < JITTER_US ? length_us / 2 : JITTER_US);
        break;
    case RANDOM:
    case N_STYLES:
        play_random(game, n_steps);
        break;
    }
}

/* Most admitted in any time of `length_us`. */
static uint64_t most_in(const struct game *game, int64_t length_us)
{
    uint64_t inside = 0, most = 0;
    uint32_t first = 0;

    for (uint32_t i = 0; i < game->n; i++) {
        inside += game->hits[i];
        while (game->times_us[first] <= game->times_us[i] - length_us) {
            inside -= game->hits[first++];
        }
        most = inside > most ? inside : most;
    }
    return most;
}

struct worst {
    double of_limit, of_bound;
};

static void compare(const struct game *game, const struct subject *subject, uint64_t found,
                    uint64_t bound, struct worst *worst)
{
    const double of_limit = (double) found / (double) game->limit.requests;
    const double of_bound = (double) found / (double) bound;

    wr_check(found <= bound,
             "%s: %" PRIu64 " admitted, bound %" PRIu64 ": limit %" PRIu64 ", length %" PRId64
             " us, %u buckets, burst %" PRIu64,
             subject->name, found, bound, game->limit.requests, game->limit.length_us,
             game->limit.n_buckets, game->limit.burst);
    worst->of_limit = of_limit > worst->of_limit ? of_limit : worst->of_limit;
    worst->of_bound = of_bound > worst->of_bound ? of_bound : worst->of_bound;
}

static uint64_t search(const struct subject *subject, struct worst *in_window,
                       struct worst *in_instant)
{
    static uint64_t state[WORDS];
    static struct game game;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15), n_takes = 0;

    for (uint32_t i = 0; i < SCHEDULES; i++) {
        game.limit = random_limit(subject, &random);
        game.kind = wr_counter_kind_of(&game.limit);
        game.state = state;
        game.random = &random;
        game.now_us = between(&random, INT64_C(1) << 40, INT64_C(1) << 50);
        game.latest_us = 0;
        game.n = 0;
        memset(state, 0, sizeof state);
        play(&game, i % N_STYLES);
        compare(&game, subject, most_in(&game, game.limit.length_us),
                subject->window_bound(&game.limit), in_window);
        if (game.limit.length_us >= 100) {
            compare(&game, subject, most_in(&game, game.limit.length_us / 100),
                    subject->instant_bound(&game.limit), in_instant);
        }
        n_takes += game.n;
    }
    return n_takes;
}

int main(void)
{
    printf("%d schedules each; L is the limit, an instant a hundredth of its length\n", SCHEDULES);
    printf("%-26s %-10s %-24s %-15s %-24s %s\n", "algorithm", "window", "worst found", "instant",
           "worst found", "admitted takes");
    for (size_t i = 0; i < N_SUBJECTS; i++) {
        struct worst in_window = {0}, in_instant = {0};
        const struct subject *const subject = &subjects[i];
        const uint64_t n_takes = search(subject, &in_window, &in_instant);

        printf("%-26s %-10s %.2f L, %.3f of bound   %-15s %.2f L, %.3f of bound   %" PRIu64 "\n",
               subject->name, subject->window_text, in_window.of_limit, in_window.of_bound,
               subject->instant_text, in_instant.of_limit, in_instant.of_bound, n_takes);
        wr_check(in_window.of_bound >= subject->reached, "%s: a search that is blind",
                 subject->name);
    }
    return EXIT_SUCCESS;
}
