/* SPDX-License-Identifier: Apache-2.0 */
/* Random sequences of calls, judged by the script and by a plain model; what differs is shrunk. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit/calendar.h"
#include "store/redis/script.h"
#include "tests/support/drawn_call.h"
#include "tests/support/drawn_run.h"
#include "tests/support/script_bed.h"
#include "tests/support/take_model.h"

/* Unless the variable TEST_SEQUENCES says how many. */
#define N_SEQUENCES 10000

#define IN_FLIGHT 100 /* sequences whose calls are sent before the first reply is read */
#define FEW_CALLS 8
#define MAX_CALLS 80 /* one sequence in 20 is a run of many */
#define N_KEYS 4

/* Of one sort of limits. */
struct sequence {
    unsigned sort;
    bool warms_up;
    int64_t ahead_us; /* the callers' clock */
    size_t n;
    struct wr_drawn_call calls[MAX_CALLS];
};

#define DAY INT64_C(86400000000)

/* Less than the shortest window of a calendar: then the callers are at most a window off. */
#define AHEAD_MAX (DAY * 22 / 24)

/* Clocks are put forward at noon of the first day, and back two months later. */
static struct wr_zone_transition transitions[] = {
    {.from_us = 0, .offset_s = 7200},
    {.from_us = WR_SCRIPT_BED_DAY + DAY / 2, .offset_s = 10800},
    {.from_us = WR_SCRIPT_BED_DAY + 60 * DAY, .offset_s = 7200},
};
static const struct wr_zone zone = {.n = 3, .transitions = transitions};
static const struct wr_calendar calendars[N_KEYS] = {
    {.unit = WR_UNIT_DAY, .zone = &zone},
    {.unit = WR_UNIT_WEEK},
    {.unit = WR_UNIT_MONTH, .zone = &zone},
    {.unit = WR_UNIT_YEAR, .zone = &zone},
};

static const struct sort {
    const char *name;
    enum wr_algorithm algorithm;
    enum wr_alignment alignment;
} sorts[] = {
    {"fixed window", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_EPOCH},
    {"fixed window, first hit", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_FIRST_HIT},
    {"fixed window, calendar", WR_ALGORITHM_FIXED_WINDOW, WR_ALIGN_CALENDAR},
    {"sliding window", WR_ALGORITHM_SLIDING_WINDOW, WR_ALIGN_EPOCH},
    {"sliding buckets", WR_ALGORITHM_SLIDING_BUCKETS, WR_ALIGN_EPOCH},
    {"sliding log", WR_ALGORITHM_SLIDING_LOG, WR_ALIGN_EPOCH},
    {"token bucket", WR_ALGORITHM_TOKEN_BUCKET, WR_ALIGN_EPOCH},
};

/* What is a part of a counter's identity, and so the same in all calls on a key. */
static void limits_of(const struct sequence *sequence, struct wr_limit *limits)
{
    static const int64_t lengths_us[N_KEYS] = {10001, 1000000, 60000000, DAY};
    static const uint32_t buckets[N_KEYS] = {2, 7, 60, 3};

    for (int i = 0; i < N_KEYS; i++) {
        const bool is_calendar = sorts[sequence->sort].alignment == WR_ALIGN_CALENDAR;
        const int64_t length_us =
            is_calendar ? wr_unit_length_us(calendars[i].unit) : lengths_us[i];

        limits[i] = (struct wr_limit){
            .length_us = length_us,
            .algorithm = sorts[sequence->sort].algorithm,
            .alignment = sorts[sequence->sort].alignment,
            .n_buckets = buckets[i],
            .warm_up_us = sequence->warms_up ? length_us / 3 * (i + 1) : 0,
            .calendar = is_calendar ? &calendars[i] : NULL,
        };
    }
}

/* ---- making ---- */

static int64_t draw_time(uint64_t *seed, const struct wr_limit *limits, int64_t now_us)
{
    const int64_t length_us = limits[wr_draw_below(seed, N_KEYS)].length_us;
    const int64_t next_us = now_us - now_us % length_us + length_us;

    switch (wr_draw_below(seed, 8)) {
    case 0:
        return now_us + (int64_t) wr_draw_below(seed, 3);
    case 1:
        return next_us - 1 + (int64_t) wr_draw_below(seed, 3);
    case 2:
        return now_us + (int64_t) wr_draw_below(seed, 2 * (uint64_t) length_us);
    case 3:
        return now_us - (int64_t) wr_draw_below(seed, (uint64_t) length_us);
    case 4:
        return now_us - (int64_t) wr_draw_below(seed, 5 * (uint64_t) length_us);
    case 5:
        return now_us + length_us / (1 + (int64_t) wr_draw_below(seed, 6));
    case 6:
        return now_us + (int64_t) wr_draw_below(seed, (uint64_t) length_us / 4);
    default:
        return now_us;
    }
}

static void draw_short(uint64_t *seed, const struct wr_limit *limits, int64_t now_us,
                       struct sequence *sequence)
{
    sequence->n = 1 + wr_draw_below(seed, FEW_CALLS);
    for (size_t i = 0; i < sequence->n; i++) {
        now_us = draw_time(seed, limits, now_us);
        wr_draw_call(seed, limits, N_KEYS, &sequence->calls[i]);
        sequence->calls[i].now_us = now_us;
    }
}

static void draw_sequence(uint64_t *seed, unsigned sort, struct sequence *sequence)
{
    struct wr_limit limits[N_KEYS];
    const int64_t now_us = WR_SCRIPT_BED_DAY + (int64_t) wr_draw_below(seed, DAY);

    sequence->sort = sort;
    sequence->warms_up = wr_draw_below(seed, 3) == 0;
    sequence->ahead_us = (int64_t) wr_draw_below(seed, 2 * AHEAD_MAX) - AHEAD_MAX;
    limits_of(sequence, limits);
    if (wr_draw_below(seed, 20) > 0) {
        draw_short(seed, limits, now_us, sequence);
        return;
    }

    const unsigned key = (unsigned) wr_draw_below(seed, N_KEYS);

    sequence->n = MAX_CALLS / 2 + wr_draw_below(seed, MAX_CALLS / 2 + 1);
    wr_draw_run(seed, &limits[key], key, now_us, sequence->calls, sequence->n);
}

/* ---- playing ---- */

struct game {
    struct wr_script_bed bed;
    uint64_t n_played;
    bool has_faulty_model;
};

/* The keys of one playing of a sequence, which no other has. */
struct keys {
    char texts[N_KEYS][32];
};

static struct keys keys_of(uint64_t number)
{
    struct keys keys;

    for (unsigned i = 0; i < N_KEYS; i++) {
        (void) snprintf(keys.texts[i], sizeof keys.texts[i], "%" PRIu64 ":%u", number, i);
    }
    return keys;
}

static void fill(const struct wr_drawn_call *call, const struct keys *keys, struct wr_take *takes)
{
    for (size_t i = 0; i < call->n; i++) {
        takes[i] = call->ones[i].take;
        takes[i].key = wr_str_of(keys->texts[call->ones[i].key]);
    }
}

static void send(struct game *game, const struct sequence *sequence, const struct keys *keys)
{
    struct wr_take takes[WR_DRAWN_TAKES];

    game->bed.ahead_us = sequence->ahead_us;
    for (size_t i = 0; i < sequence->n; i++) {
        const struct wr_drawn_call *const call = &sequence->calls[i];

        fill(call, keys, takes);
        wr_script_bed_send(&game->bed, takes, call->n, call->mode, call->now_us, 0);
    }
}

static bool is_same(const struct wr_take *a, const struct wr_take *b)
{
    return a->answer == b->answer && a->verdict.over == b->verdict.over &&
           a->verdict.remaining == b->verdict.remaining &&
           a->verdict.reset_us == b->verdict.reset_us && a->verdict.enforced == b->verdict.enforced;
}

/* Whether model and script agree on all of a sequence that was sent. */
static bool agrees(struct game *game, const struct sequence *sequence, const struct keys *keys)
{
    struct wr_take_model model = {.forgets_duplicates = game->has_faulty_model};
    struct wr_take want[WR_DRAWN_TAKES], got[WR_DRAWN_TAKES];
    bool is_good = true;

    for (size_t i = 0; i < sequence->n; i++) {
        const struct wr_drawn_call *const call = &sequence->calls[i];

        fill(call, keys, want);
        fill(call, keys, got);
        wr_take_model_batch(&model, want, call->n, call->mode, call->now_us);
        is_good =
            wr_script_bed_receive(&game->bed, got, call->n) == WR_REDIS_SCRIPT_ANSWERED && is_good;
        for (size_t k = 0; k < call->n; k++) {
            is_good = is_good && is_same(&want[k], &got[k]);
        }
    }
    return is_good;
}

static bool fails(struct game *game, const struct sequence *sequence)
{
    const struct keys keys = keys_of(game->n_played++);

    send(game, sequence, &keys);
    return !agrees(game, sequence, &keys);
}

/* The index of the first of IN_FLIGHT `sequences` that differs, or IN_FLIGHT. */
static size_t play_many(struct game *game, const struct sequence *sequences)
{
    struct keys keys[IN_FLIGHT];
    size_t first = IN_FLIGHT;

    for (size_t i = 0; i < IN_FLIGHT; i++) {
        keys[i] = keys_of(game->n_played++);
        send(game, &sequences[i], &keys[i]);
    }
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        if (!agrees(game, &sequences[i], &keys[i]) && first == IN_FLIGHT) {
            first = i;
        }
    }
    return first;
}

/* ---- shrinking ---- */

static bool try_instead(struct game *game, struct sequence *sequence,
                        const struct sequence *smaller)
{
    if (smaller->n == 0 || memcmp(smaller, sequence, sizeof *sequence) == 0 ||
        !fails(game, smaller)) {
        return false;
    }
    *sequence = *smaller;
    return true;
}

/* Half of them, then a quarter, and so on down to one. */
static bool drop_calls(struct game *game, struct sequence *sequence)
{
    for (size_t size = (sequence->n + 1) / 2; size > 0; size /= 2) {
        for (size_t i = 0; i + size <= sequence->n; i += size) {
            struct sequence smaller = *sequence;

            smaller.n -= size;
            memmove(&smaller.calls[i], &smaller.calls[i + size],
                    (smaller.n - i) * sizeof smaller.calls[0]);
            if (try_instead(game, sequence, &smaller)) {
                return true;
            }
        }
    }
    return false;
}

static bool drop_a_take(struct game *game, struct sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++) {
        for (size_t k = 0; sequence->calls[i].n > 1 && k < sequence->calls[i].n; k++) {
            struct sequence smaller = *sequence;
            struct wr_drawn_call *const call = &smaller.calls[i];

            call->n--;
            memmove(&call->ones[k], &call->ones[k + 1], (call->n - k) * sizeof call->ones[0]);
            if (try_instead(game, sequence, &smaller)) {
                return true;
            }
        }
    }
    return false;
}

/* The n-th way to make a take plainer. */
static void make_plainer(struct wr_drawn_call *call, struct wr_take *take, unsigned way)
{
    switch (way) {
    case 0:
        call->mode = WR_CHARGE_BY_COUNT;
        break;
    case 1:
        take->limit.count = WR_COUNT_ALL;
        break;
    case 2:
        take->is_refund = false;
        break;
    case 3:
        take->is_enforced = true;
        break;
    case 4:
        take->hits = take->hits > 1 ? 1 : take->hits;
        break;
    case 5:
        take->limit.burst = take->limit.burst > 1 ? 1 : take->limit.burst;
        break;
    case 6:
        take->limit.warm_up_start = take->limit.warm_up_us > 0 ? take->limit.requests : 0;
        break;
    case 7:
        take->limit.n_buckets = take->limit.n_buckets > 1 ? 1 : take->limit.n_buckets;
        break;
    default:
        take->limit.requests = take->limit.requests > 1 ? 1 : take->limit.requests;
        take->limit.burst = take->limit.burst > 1 ? 1 : take->limit.burst;
        take->limit.warm_up_start = take->limit.warm_up_us > 0 ? take->limit.requests : 0;
        break;
    }
}

static bool make_a_take_plainer(struct game *game, struct sequence *sequence)
{
    for (size_t i = 0; i < sequence->n; i++) {
        for (size_t k = 0; k < sequence->calls[i].n; k++) {
            for (unsigned way = 0; way < 9; way++) {
                struct sequence smaller = *sequence;

                make_plainer(&smaller.calls[i], &smaller.calls[i].ones[k].take, way);
                if (try_instead(game, sequence, &smaller)) {
                    return true;
                }
            }
        }
    }
    return false;
}

static void shrink(struct game *game, struct sequence *sequence)
{
    while (drop_calls(game, sequence) || drop_a_take(game, sequence) ||
           make_a_take_plainer(game, sequence)) {
    }
}

static void print_verdict(const char *whose, const struct wr_take *take)
{
    (void) fprintf(stderr,
                   "    %s: %d, over %d, remaining %" PRIu64 ", reset %" PRId64
                   ", enforced %" PRIu64 "\n",
                   whose, (int) take->answer, take->verdict.over, take->verdict.remaining,
                   take->verdict.reset_us, take->verdict.enforced);
}

static void print(struct game *game, const struct sequence *sequence)
{
    const struct keys keys = keys_of(game->n_played++);
    struct wr_take_model model = {.forgets_duplicates = game->has_faulty_model};
    struct wr_take want[WR_DRAWN_TAKES], got[WR_DRAWN_TAKES];

    (void) fprintf(stderr, "%s\n", sorts[sequence->sort].name);
    send(game, sequence, &keys);
    for (size_t i = 0; i < sequence->n; i++) {
        const struct wr_drawn_call *const call = &sequence->calls[i];

        fill(call, &keys, want);
        fill(call, &keys, got);
        wr_take_model_batch(&model, want, call->n, call->mode, call->now_us);
        (void) wr_script_bed_receive(&game->bed, got, call->n);
        (void) fprintf(stderr, "call at %" PRId64 ", mode %d\n", call->now_us, (int) call->mode);
        for (size_t k = 0; k < call->n; k++) {
            const struct wr_take *const take = &got[k];

            (void) fprintf(stderr,
                           "  key %u, window %" PRId64 ", limit %" PRIu64 ", burst %" PRIu64
                           ", %u buckets, warm-up %" PRId64 " from %" PRIu64
                           ", count %d, group %u%s, %s%" PRIu64 "\n",
                           call->ones[k].key, take->limit.length_us, take->limit.requests,
                           take->limit.burst, take->limit.n_buckets, take->limit.warm_up_us,
                           take->limit.warm_up_start, (int) take->limit.count, take->group,
                           take->is_enforced ? "" : ", shadow", take->is_refund ? "-" : "",
                           take->hits);
            print_verdict("script", take);
            print_verdict("model", &want[k]);
        }
    }
}

/* ---- tests ---- */

static size_t n_sequences(void)
{
    const char *const text = getenv("TEST_SEQUENCES");
    const size_t n = text != NULL ? strtoul(text, NULL, 10) : N_SEQUENCES;

    cr_assert(n > 0, "TEST_SEQUENCES is no number above 0");
    return n;
}

/* The first of `n` sequences that differs, shrunk; false when there is none. */
static bool find_difference(struct game *game, unsigned sort, size_t n, uint64_t *seed,
                            struct sequence *out)
{
    static struct sequence sequences[IN_FLIGHT];

    for (size_t done = 0; done < n; done += IN_FLIGHT) {
        memset(sequences, 0, sizeof sequences);
        for (size_t i = 0; i < IN_FLIGHT; i++) {
            draw_sequence(seed, sort, &sequences[i]);
        }

        const size_t first = play_many(game, sequences);

        if (first < IN_FLIGHT) {
            *out = sequences[first];
            shrink(game, out);
            return true;
        }
    }
    return false;
}

static void judge_as_the_model(unsigned sort)
{
    struct game game = {0};
    struct sequence difference;
    const uint64_t first_seed = wr_draw_seed();
    uint64_t seed = first_seed;

    cr_assert(wr_script_bed_init(&game.bed));
    if (find_difference(&game, sort, n_sequences(), &seed, &difference)) {
        print(&game, &difference);
        wr_script_bed_fini(&game.bed);
        cr_assert_fail("%s: script and model differ, with seed %" PRIu64, sorts[sort].name,
                       first_seed);
    }
    wr_script_bed_fini(&game.bed);
}

Test(redis_script_random, judges_fixed_windows_as_the_model_does)
{
    judge_as_the_model(0);
}

Test(redis_script_random, judges_windows_from_the_first_hit_as_the_model_does)
{
    judge_as_the_model(1);
}

Test(redis_script_random, judges_windows_of_the_calendar_as_the_model_does)
{
    judge_as_the_model(2);
}

Test(redis_script_random, judges_sliding_windows_as_the_model_does)
{
    judge_as_the_model(3);
}

Test(redis_script_random, judges_sliding_buckets_as_the_model_does)
{
    judge_as_the_model(4);
}

Test(redis_script_random, judges_sliding_logs_as_the_model_does)
{
    judge_as_the_model(5);
}

Test(redis_script_random, judges_token_buckets_as_the_model_does)
{
    judge_as_the_model(6);
}

/* Of a model that does not add up the hits on one key there is soon an example of two takes. */
Test(redis_script_random, finds_a_fault_and_shrinks_it)
{
    struct game game = {.has_faulty_model = true};
    struct sequence difference;
    uint64_t seed = 2; /* of others it may be three takes */

    cr_assert(wr_script_bed_init(&game.bed));
    cr_assert(find_difference(&game, 0, N_SEQUENCES, &seed, &difference));
    cr_assert_eq(difference.n, 1u);
    cr_assert_eq(difference.calls[0].n, 2u);
    cr_assert_eq(difference.calls[0].ones[0].key, difference.calls[0].ones[1].key);
    cr_assert_eq(difference.calls[0].mode, WR_CHARGE_BY_COUNT);
    wr_script_bed_fini(&game.bed);
}
