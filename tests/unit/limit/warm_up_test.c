/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/warm_up.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "limit/calendar.h"
#include "tests/unit/limit/counter.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

struct step {
    int64_t now_us;
    int64_t hits; /* refunds are negative */
    uint64_t enforced;
    bool over;
    uint64_t remaining;
};

static void play(const struct wr_limit *limit, const struct step *steps, size_t n)
{
    struct wr_counter counter;

    wr_counter_init(&counter, limit);
    for (size_t i = 0; i < n; i++) {
        const struct step *const want = &steps[i];
        const struct wr_verdict got =
            want->hits < 0 ? wr_counter_refund(&counter, (uint64_t) -want->hits, want->now_us)
                           : wr_counter_take(&counter, (uint64_t) want->hits, want->now_us);

        cr_assert_eq(got.enforced, want->enforced, "row %zu: %" PRIu64 " enforced", i,
                     got.enforced);
        cr_assert_eq(got.over, want->over, "row %zu: over is %d", i, got.over);
        cr_assert_eq(got.remaining, want->remaining, "row %zu: %" PRIu64 " remaining", i,
                     got.remaining);
    }
    wr_counter_fini(&counter);
}

#define PLAY(limit, steps) play(&(limit), (steps), sizeof(steps) / sizeof((steps)[0]))

/* From 3 to 10 in half a minute. */
#define WARM(kind, count_what)                                                                     \
    {                                                                                              \
        .requests = 10, .length_us = S(60), .algorithm = (kind), .count = (count_what),            \
        .n_buckets = 6, .burst = 6, .warm_up_us = S(30), .warm_up_start = 3,                       \
    }

static const struct wr_limit sliding_log = WARM(WR_ALGORITHM_SLIDING_LOG, WR_COUNT_ADMITTED);

Test(warm_up, a_limit_climbs_from_the_first_hit_on)
{
    static const struct step steps[] = {
        {S(50), 0, 3, false, 3},      {S(100), 1, 3, false, 2},  {S(100), 3, 3, true, 0},
        {S(104), 0, 3, false, 2},     {S(105), 0, 4, false, 3},  {S(115), 1, 6, false, 4},
        {S(130) - 1, 0, 9, false, 7}, {S(130), 0, 10, false, 8}, {S(130), 9, 10, true, 0},
        {S(159), 1, 10, false, 7},
    };
    PLAY(sliding_log, steps);
}

Test(warm_up, a_counter_that_was_idle_for_a_climb_begins_again)
{
    static const struct step steps[] = {
        {S(100), 1, 3, false, 2},      {S(129), 1, 9, false, 7}, {S(150), 1, 10, false, 7},
        {S(180) - 1, 0, 10, false, 8}, {S(180), 0, 3, false, 1}, {S(185), 1, 3, false, 0},
        {S(200), 0, 6, false, 4},
    };
    PLAY(sliding_log, steps);
}

Test(warm_up, a_refused_hit_ends_idleness_and_begins_the_climb)
{
    static const struct step steps[] = {
        {S(100), 9, 3, true, 0},   {S(115), 0, 6, false, 6},  {S(129), 10, 9, true, 0},
        {S(130), 9, 10, false, 1}, {S(160), 1, 3, true, 0},   {S(188), 1, 9, true, 0},
        {S(189), 0, 9, false, 0},  {S(190), 1, 10, false, 9},
    };
    PLAY(sliding_log, steps);
}

Test(warm_up, refunds_and_looks_leave_it_cold)
{
    static const struct step steps[] = {
        {S(100), -1, 3, false, 3}, {S(115), 0, 3, false, 3}, {S(130), 2, 3, false, 1},
        {S(145), -1, 6, false, 5}, {S(160), 0, 3, false, 2},
    };
    PLAY(sliding_log, steps);
}

Test(warm_up, a_fixed_window_keeps_the_limit_that_it_began_with)
{
    static const struct wr_limit limit = WARM(WR_ALGORITHM_FIXED_WINDOW, WR_COUNT_ADMITTED);
    static const struct step steps[] = {
        {S(100), 1, 3, false, 2},   {S(119), 2, 3, false, 0},  {S(120), 0, 7, false, 7},
        {S(140), 1, 7, false, 6},   {S(179), 6, 7, false, 0},  {S(180), 1, 10, false, 9},
        {S(239), 1, 10, false, 8},  {S(240), 1, 10, false, 9}, {S(300), 1, 3, false, 2},
        {S(330), 1, 3, false, 1},   {S(360), 0, 3, false, 3},  {S(359), 1, 3, false, 0},
        {S(361), 0, 10, false, 10},
    };
    PLAY(limit, steps);
}

Test(warm_up, a_window_from_the_first_hit_keeps_its_limit_too)
{
    struct wr_limit limit = WARM(WR_ALGORITHM_FIXED_WINDOW, WR_COUNT_ADMITTED);
    static const struct step steps[] = {
        {S(100), 3, 3, false, 0},  {S(145), 1, 3, true, 0},   {S(160), 1, 10, false, 9},
        {S(219), 1, 10, false, 8}, {S(220), 1, 10, false, 9}, {S(290), 1, 3, false, 2},
    };

    limit.alignment = WR_ALIGN_FIRST_HIT;
    PLAY(limit, steps);
}

Test(warm_up, a_day_of_the_calendar_keeps_its_limit_too)
{
    static const struct wr_calendar day = {.unit = WR_UNIT_DAY};
    struct wr_limit limit = WARM(WR_ALGORITHM_FIXED_WINDOW, WR_COUNT_ADMITTED);
    static const struct step steps[] = {
        {S(86400) - S(15), 3, 3, false, 0}, {S(86400) - 1, 1, 3, true, 0},
        {S(86400), 1, 6, false, 5},         {S(86500), 5, 6, false, 0},
        {S(2 * 86400) - 1, 1, 6, true, 0},  {S(2 * 86400), 1, 10, false, 9},
    };

    limit.length_us = S(86400);
    limit.alignment = WR_ALIGN_CALENDAR;
    limit.calendar = &day;
    PLAY(limit, steps);
}

Test(warm_up, the_burst_of_a_bucket_climbs_along)
{
    static const struct wr_limit limit = WARM(WR_ALGORITHM_TOKEN_BUCKET, WR_COUNT_ADMITTED);
    static const struct step steps[] = {
        {S(100), 1, 3, false, 0}, {S(100), 1, 3, true, 0},   {S(115), 0, 6, false, 2},
        {S(115), 3, 6, true, 0},  {S(130), 0, 10, false, 6}, {S(130), 6, 10, false, 0},
    };
    PLAY(limit, steps);
}

/* At 140 s 2.2 hits are owed, of 3 that may be; at 150 s 0.5, paid at the interval of 6 s. */
Test(warm_up, a_bucket_that_grows_cold_forgets_no_debt)
{
    struct wr_limit limit = WARM(WR_ALGORITHM_TOKEN_BUCKET, WR_COUNT_ADMITTED);
    static const struct step steps[] = {
        {S(100), 1, 3, false, 0},  {S(110), 1, 6, false, 1}, {S(120), 5, 10, false, 0},
        {S(139), 0, 10, false, 3}, {S(140), 1, 3, true, 0},  {S(150), 0, 6, false, 2},
    };

    limit.warm_up_us = S(20);
    PLAY(limit, steps);
}

Test(warm_up, every_kind_warms_up)
{
    static const enum wr_algorithm algorithms[] = {
        WR_ALGORITHM_FIXED_WINDOW, WR_ALGORITHM_SLIDING_WINDOW, WR_ALGORITHM_SLIDING_BUCKETS,
        WR_ALGORITHM_SLIDING_LOG, WR_ALGORITHM_TOKEN_BUCKET};

    for (size_t i = 0; i < sizeof algorithms / sizeof algorithms[0]; i++) {
        const struct wr_limit limit = WARM(algorithms[i], WR_COUNT_ADMITTED);
        struct wr_counter counter;
        uint64_t last = 3;

        wr_counter_init(&counter, &limit);
        cr_assert_eq(wr_counter_take(&counter, 1, S(60)).enforced, 3u);
        for (int s = 61; s < 150; s++) {
            const struct wr_verdict verdict = wr_counter_take(&counter, 1, S(s));

            cr_assert(verdict.enforced >= last && verdict.enforced <= 10, "algorithm %zu", i);
            cr_assert_geq(wr_counter_expiry(&counter), S(s + 30));
            last = verdict.enforced;
        }
        cr_assert_eq(last, 10u, "algorithm %zu", i);
        cr_assert_eq(wr_counter_take(&counter, 0, wr_counter_expiry(&counter)).enforced, 3u);
        wr_counter_fini(&counter);
    }
}

Test(warm_up, a_hit_that_comes_late_takes_nothing_back)
{
    static const struct step steps[] = {
        {S(100), 1, 3, false, 2},
        {S(100) - 5, 1, 3, false, 1},
        {S(115), 0, 6, false, 4},
    };
    PLAY(sliding_log, steps);
}

Test(warm_up, a_clock_that_was_ahead_does_not_keep_it_cold)
{
    static const struct step steps[] = {
        {S(5000), 1, 3, false, 2},
        {S(100), 1, 3, false, 2},
        {S(115), 1, 6, false, 4},
        {S(130), 1, 10, false, 7},
    };
    PLAY(sliding_log, steps);
}

Test(warm_up, a_limit_of_nothing_stays_one)
{
    struct wr_limit limit = sliding_log;
    static const struct step steps[] = {{S(100), 1, 0, true, 0}, {S(115), 0, 0, false, 0}};

    limit.requests = 0;
    limit.warm_up_start = 0;
    PLAY(limit, steps);
}

Test(warm_up, a_changed_limit_is_climbed_to_from_where_the_climb_is)
{
    struct wr_counter counter;

    wr_counter_init(&counter, &sliding_log);
    (void) wr_counter_take(&counter, 2, S(100));
    counter.limit.requests = 100;
    counter.limit.warm_up_start = 30;
    cr_assert_eq(wr_counter_take(&counter, 1, S(115)).enforced, 65u);
    cr_assert_eq(wr_counter_take(&counter, 1, S(130)).remaining, 96u);
    wr_counter_fini(&counter);
}

Test(warm_up, who_takes_the_last_hit_is_told_what_the_next_one_is)
{
    static const enum wr_algorithm kinds[] = {WR_ALGORITHM_SLIDING_WINDOW,
                                              WR_ALGORITHM_SLIDING_BUCKETS,
                                              WR_ALGORITHM_SLIDING_LOG, WR_ALGORITHM_TOKEN_BUCKET};

    for (size_t i = 0; i < 4; i++) {
        const struct wr_limit limit = WARM(kinds[i], WR_COUNT_ADMITTED);
        const uint64_t all = kinds[i] == WR_ALGORITHM_TOKEN_BUCKET ? 1 : 3;
        const int64_t step_us = 4285715; /* a seventh of the climb */
        struct wr_counter counter;

        wr_counter_init(&counter, &limit);
        cr_assert_eq(wr_counter_take(&counter, 0, S(100)).reset_us, 0, "kind %zu", i);
        cr_assert_eq(wr_counter_take(&counter, all, S(100)).reset_us, step_us, "kind %zu", i);
        cr_assert_eq(wr_counter_take(&counter, 1, S(100)).reset_us, step_us, "kind %zu", i);
        cr_assert_eq(wr_counter_refund(&counter, 1, S(101)).reset_us, step_us - S(1), "kind %zu",
                     i);
        wr_counter_fini(&counter);
    }
}

/* Waits, at every turn of the lives of random counters. */

static uint64_t draw(uint64_t *random, uint64_t least, uint64_t most)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return least + (*random >> 33) % (most - least + 1);
}

static const enum wr_algorithm algorithms[] = {WR_ALGORITHM_SLIDING_WINDOW,
                                               WR_ALGORITHM_SLIDING_BUCKETS,
                                               WR_ALGORITHM_SLIDING_LOG, WR_ALGORITHM_TOKEN_BUCKET};

static void draw_numbers(struct wr_limit *limit, uint64_t *random)
{
    limit->requests = draw(random, 1, 12);
    limit->warm_up_start = draw(random, 1, limit->requests);
    limit->burst = draw(random, 1, 12);
    limit->n_buckets = (uint32_t) draw(random, 1, 12);
}

static uint64_t most_when_cold(const struct wr_limit *limit)
{
    const uint64_t burst = limit->burst * limit->warm_up_start / limit->requests;

    if (limit->algorithm != WR_ALGORITHM_TOKEN_BUCKET) {
        return limit->warm_up_start;
    }
    return burst > 0 ? burst : 1;
}

struct tally {
    size_t over, admitted, cold, never;
};

#define ASSERT_OF(counter, condition)                                                              \
    cr_assert((condition), "algorithm %d, limit %lu from %lu, burst %lu, %u buckets, %ld in %ld",  \
              (counter)->limit.algorithm, (unsigned long) (counter)->limit.requests,               \
              (unsigned long) (counter)->limit.warm_up_start,                                      \
              (unsigned long) (counter)->limit.burst, (counter)->limit.n_buckets,                  \
              (long) (counter)->limit.warm_up_us, (long) (counter)->limit.length_us)

/* Who comes back when he was told to finds a hit more, and did not a moment before: in the climb,
 * on top, and where so long a wait lets the limit fall to where it began. */
static void check_wait(const struct wr_counter *counter, const struct wr_verdict *verdict,
                       int64_t now_us, struct tally *tally)
{
    const uint64_t wanted = verdict->over ? 1 : verdict->remaining + 1;
    const uint64_t most = most_when_cold(&counter->limit);
    const int64_t then_us = now_us + verdict->reset_us;

    if (!wr_counter_peek(counter, wanted, now_us).over) {
        ASSERT_OF(counter, verdict->over && verdict->reset_us == 1);
    } else if (verdict->reset_us == 0) {
        for (int64_t later_us = 1; later_us < 3 * counter->limit.length_us; later_us *= 2) {
            ASSERT_OF(counter, wr_counter_peek(counter, wanted, now_us + later_us).over);
        }
        tally->never++;
    } else {
        const bool is_cold = wr_counter_peek(counter, wanted, then_us).over;

        ASSERT_OF(counter, wr_counter_peek(counter, wanted, then_us - 1).over);
        ASSERT_OF(counter, !is_cold || wanted > most);
        ASSERT_OF(counter, !is_cold || !wr_counter_peek(counter, most, then_us).over);
        tally->over += verdict->over;
        tally->admitted += !verdict->over && !is_cold;
        tally->cold += is_cold;
    }
}

static void live(struct wr_counter *counter, int64_t now_us, uint64_t *random, struct tally *tally)
{
    const uint64_t length_us = (uint64_t) counter->limit.length_us;

    for (int step = 0; step < 30; step++) {
        const uint64_t hits = draw(random, 0, 3) == 0 ? draw(random, 0, 5) : 1;
        struct wr_verdict verdict;

        now_us += (int64_t) draw(random, 0, length_us / draw(random, 1, 20));
        if (draw(random, 0, 9) == 0) {
            draw_numbers(&counter->limit, random);
        }
        if (draw(random, 0, 9) == 0) {
            verdict = wr_counter_refund(counter, hits, now_us);
            if (wr_counter_peek(counter, 0, now_us).over) {
                verdict.over = true;
            }
        } else {
            verdict = wr_counter_take(counter, hits, now_us);
        }
        check_wait(counter, &verdict, now_us, tally);
    }
}

Test(warm_up, the_wait_that_is_told_is_true)
{
    struct tally tally = {0};

    for (size_t i = 0; i < 4; i++) {
        uint64_t random = 1;

        for (int life = 0; life < 4000; life++) {
            struct wr_limit limit =
                WARM(algorithms[i], draw(&random, 0, 2) == 0 ? WR_COUNT_ALL : WR_COUNT_ADMITTED);
            struct wr_counter counter;

            limit.length_us = (int64_t) draw(&random, 50, life % 2 == 0 ? 500 : 1000000);
            limit.warm_up_us = (int64_t) draw(&random, 1, 2 * (uint64_t) limit.length_us);
            draw_numbers(&limit, &random);
            wr_counter_init(&counter, &limit);
            live(&counter, S(600), &random, &tally);
            wr_counter_fini(&counter);
        }
    }
    cr_assert_gt(tally.over, 50000u);
    cr_assert_gt(tally.admitted, 50000u);
    cr_assert_gt(tally.cold, 1000u);
    cr_assert_gt(tally.never, 1000u);
}
