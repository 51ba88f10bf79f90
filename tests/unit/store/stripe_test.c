/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <string.h>

#include "base/log.h"
#include "base/random.h"
#include "limit/algorithm.h"
#include "limit/unit.h"
#include "tests/support/failing_malloc.h"

#define S(seconds) ((int64_t) (seconds) *1000000)

static struct wr_stripe stripe;
static struct wr_stripe_events events;

static const struct wr_limit three_a_second = {.requests = 3, .length_us = S(1)};
static const struct wr_limit three_a_minute = {.requests = 3, .length_us = S(60)};
static const struct wr_limit three_a_day = {.requests = 3, .length_us = S(86400)};

static void begin(uint64_t share)
{
    cr_assert_eq(wr_stripe_init(&stripe, share), WR_OK);
    events = (struct wr_stripe_events){0};
}

static struct wr_take take_at(uint64_t number, const struct wr_limit *limit, uint64_t hits,
                              bool is_refund, const struct wr_now *now)
{
    const struct wr_hash hash = {
        .low = number * UINT64_C(0x9e3779b97f4a7c15),
        .high = number * UINT64_C(0xd1b54a32d192ed03),
    };
    struct wr_take take = {.limit = *limit, .hits = hits, .is_refund = is_refund};

    wr_stripe_take(&stripe, &hash, &take, now, &events);
    return take;
}

/* The moment of a clock that nobody sets. */
static struct wr_now at(int64_t wall_us)
{
    return (struct wr_now){.wall_us = wall_us, .mono_us = wall_us};
}

static struct wr_take take_of(uint64_t number, const struct wr_limit *limit, uint64_t hits,
                              bool is_refund, int64_t wall_us)
{
    const struct wr_now now = at(wall_us);

    return take_at(number, limit, hits, is_refund, &now);
}

static struct wr_take hit(uint64_t number, const struct wr_limit *limit, int64_t wall_us)
{
    return take_of(number, limit, 1, false, wall_us);
}

static void tend(int64_t wall_us)
{
    const struct wr_now now = at(wall_us);

    wr_stripe_tend(&stripe, &now, &events);
}

static void assert_remaining(struct wr_take take, uint64_t remaining)
{
    cr_assert_eq(take.answer, WR_TAKE_DECIDED);
    cr_assert(!take.verdict.over);
    cr_assert_eq(take.verdict.remaining, remaining, "remaining is %" PRIu64,
                 take.verdict.remaining);
}

static void assert_over(struct wr_take take)
{
    cr_assert_eq(take.answer, WR_TAKE_DECIDED);
    cr_assert(take.verdict.over);
}

Test(stripe, counts_each_counter_for_itself)
{
    begin(100);
    assert_remaining(hit(1, &three_a_minute, S(60)), 2);
    assert_remaining(hit(2, &three_a_minute, S(60)), 2);
    assert_remaining(hit(1, &three_a_minute, S(61)), 1);
    assert_remaining(hit(1, &three_a_minute, S(62)), 0);
    assert_over(hit(1, &three_a_minute, S(63)));
    assert_remaining(hit(1, &three_a_minute, S(120)), 2);
    wr_stripe_fini(&stripe);
}

Test(stripe, only_what_was_used_makes_a_counter)
{
    const struct wr_limit admitted = {
        .requests = 3, .length_us = S(60), .count = WR_COUNT_ADMITTED};

    begin(1);
    assert_remaining(take_of(1, &three_a_minute, 0, false, S(60)), 3);
    assert_remaining(take_of(1, &three_a_minute, 5, true, S(60)), 3);
    assert_over(take_of(1, &admitted, 4, false, S(60)));
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 0u);
    assert_remaining(hit(2, &three_a_minute, S(60)), 2);
    assert_remaining(take_of(1, &three_a_minute, 0, false, S(60)), 3);
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
    wr_stripe_fini(&stripe);
}

Test(stripe, looks_and_refunds_keep_no_spent_counter)
{
    begin(100000); /* so many tables that none is swept in between */
    (void) hit(1, &three_a_second, S(1));
    for (int i = 0; i < 5; i++) {
        assert_remaining(take_of(1, &three_a_second, 0, false, S(2) + i * S(1)), 3);
        assert_remaining(take_of(1, &three_a_second, 1, true, S(2) + i * S(1)), 3);
    }
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
    for (int i = 0; i < 1000; i++) {
        tend(S(6));
    }
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 0u);
    wr_stripe_fini(&stripe);
}

Test(stripe, a_share_without_an_end_needs_little_memory)
{
    begin(UINT64_MAX);
    assert_remaining(hit(1, &three_a_minute, S(60)), 2);
    cr_assert_leq(wr_stripe_measure(&stripe).memory_bytes, 1u << 20);
    wr_stripe_fini(&stripe);
}

Test(stripe, a_late_take_counts_in_the_newer_window_though_its_counter_was_swept)
{
    begin(100);
    for (int i = 0; i < 3; i++) {
        (void) hit(1, &three_a_second, S(10) - 1);
    }
    (void) hit(2, &three_a_second, S(10)); /* sweeps the only table */
    cr_assert_eq(events.n_swept, 1u);
    assert_remaining(hit(1, &three_a_second, S(10) - 1), 2);
    assert_remaining(hit(1, &three_a_second, S(10)), 1);
    wr_stripe_fini(&stripe);
}

Test(stripe, a_late_take_undoes_nothing_in_a_counter_that_has_rolled)
{
    begin(100);
    for (uint64_t left = 3; left-- > 0;) {
        assert_remaining(hit(1, &three_a_second, S(10)), left);
    }
    assert_over(hit(1, &three_a_second, S(10) - 3));
    assert_over(hit(1, &three_a_second, S(9) - 3));
    assert_over(hit(1, &three_a_second, S(10)));
    cr_assert_eq(events.n_restarts, 0u);
    wr_stripe_fini(&stripe);
}

/* The clock of a server whose system's is set; it begins in the middle of an hour, a day, a week.
 */
#define BEGIN (S(604800) * 2000 + S(86400) * 3 + S(3600) * 12 + S(1800))

static struct wr_clock server_clock;
static struct wr_now raw;

static struct wr_now read_raw(void *context)
{
    return *(struct wr_now *) context;
}

static void begin_with_clock(uint64_t share)
{
    begin(share);
    wr_log_set_level(WR_LOG_ERROR);
    raw = (struct wr_now){.wall_us = BEGIN, .mono_us = S(5)};
    wr_clock_init(&server_clock, read_raw, &raw);
}

/* A read of the clock after `passed_us`, when the system's was set by `step_us` before. */
static struct wr_now pass(int64_t passed_us, int64_t step_us)
{
    raw.wall_us += passed_us + step_us;
    raw.mono_us += passed_us;
    return wr_clock_read(&server_clock);
}

static struct wr_take hit_at(uint64_t number, const struct wr_limit *limit, struct wr_now now)
{
    return take_at(number, limit, 1, false, &now);
}

Test(stripe, an_idle_stripe_follows_a_step_back_when_it_is_used_again)
{
    const struct wr_limit one_a_second = {.requests = 1, .length_us = S(1)};

    begin_with_clock(100);
    assert_remaining(hit_at(1, &one_a_second, pass(0, 0)), 0);
    assert_over(hit_at(1, &one_a_second, pass(1, 0)));
    (void) pass(S(1), -S(7200));
    (void) pass(S(5400), 0);
    for (int i = 0; i < 3; i++) {
        assert_remaining(hit_at(1, &one_a_second, pass(S(1), 0)), 0);
        assert_over(hit_at(1, &one_a_second, pass(1, 0)));
    }
    cr_assert_eq(events.n_restarts, 1u);
    wr_stripe_fini(&stripe);
}

/* Also when so long was nothing to do that the clock shows a later time than at the last take. */
Test(stripe, a_step_back_that_has_caught_up_since_begins_windows_anew_too)
{
    begin_with_clock(100);
    (void) take_at(1, &three_a_day, 3, false, &raw);
    (void) pass(S(1), -S(7200));
    assert_remaining(hit_at(1, &three_a_day, pass(S(10800), 0)), 2);
    cr_assert_eq(events.n_restarts, 1u);
    wr_stripe_fini(&stripe);
}

Test(stripe, a_step_back_that_was_undone_in_part_holds_up_no_window)
{
    begin_with_clock(100);
    for (int i = 0; i < 4; i++) {
        (void) hit_at(1, &three_a_second, pass(0, 0));
    }
    (void) pass(S(1), -S(7200));
    (void) pass(S(1), S(5400));
    assert_remaining(hit_at(1, &three_a_second, pass(S(1), 0)), 2);
    wr_stripe_fini(&stripe);
}

Test(stripe, an_hour_back_keeps_what_was_counted_and_a_microsecond_more_drops_it)
{
    static const struct {
        int64_t step_us;
        bool is_dropped;
    } rows[] = {
        {-WR_CLOCK_WAIT_US + 1, false},
        {-WR_CLOCK_WAIT_US, false},
        {-WR_CLOCK_WAIT_US - 1, true},
    };
    static const int64_t passed_us[] = {0, S(1), S(3600), S(3601)};

    for (size_t i = 0; i < 12; i++) {
        begin_with_clock(100);
        (void) take_at(1, &three_a_day, 3, false, &raw);

        const struct wr_take take =
            hit_at(1, &three_a_day, pass(passed_us[i / 3], rows[i % 3].step_us));

        cr_assert_eq(take.verdict.over, !rows[i % 3].is_dropped, "row %zu", i);
        cr_assert_eq(events.n_restarts, rows[i % 3].is_dropped, "row %zu", i);
        wr_stripe_fini(&stripe);
    }
}

/* 61 minutes are little more than the longest window of the shorter units, and a small part of the
 * longer ones. */
Test(stripe, after_a_step_back_by_61_minutes_windows_of_every_length_begin_anew)
{
    for (int unit = WR_UNIT_SECOND; unit <= WR_UNIT_WEEK; unit++) {
        const struct wr_limit limit = {
            .requests = 3,
            .length_us = wr_unit_length_us((enum wr_unit) unit),
        };

        begin_with_clock(100);
        (void) take_at(1, &limit, 3, false, &raw);
        assert_over(hit_at(1, &limit, pass(0, 0)));

        const struct wr_now now = pass(S(1), -S(3660));
        const struct wr_take take = hit_at(1, &limit, now);

        assert_remaining(take, 2);
        cr_assert_eq(take.verdict.reset_us, limit.length_us - now.wall_us % limit.length_us,
                     "unit %d: reset in %" PRId64 " us", unit, take.verdict.reset_us);
        cr_assert_eq(events.n_restarts, 1u);
        cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
        wr_stripe_fini(&stripe);
    }
}

Test(stripe, takes_that_come_late_across_a_step_back_undo_nothing)
{
    begin_with_clock(100);

    const struct wr_now before = pass(0, 0), after = pass(1, -S(7200)), later = pass(S(60), 0);

    assert_remaining(hit_at(1, &three_a_day, before), 2);
    assert_remaining(hit_at(1, &three_a_day, after), 2);
    assert_remaining(hit_at(1, &three_a_day, before), 1);
    assert_remaining(hit_at(2, &three_a_minute, later), 2);
    assert_remaining(hit_at(2, &three_a_minute, before), 1);
    assert_remaining(hit_at(2, &three_a_minute, after), 0);
    assert_over(hit_at(2, &three_a_minute, later));
    assert_remaining(hit_at(1, &three_a_day, before), 0);
    cr_assert_eq(events.n_restarts, 1u);
    wr_stripe_fini(&stripe);
}

/* Of two readers at once, one may not have the offset yet that the other has just raised. */
Test(stripe, a_reader_that_has_not_followed_a_jitter_is_late)
{
    const struct wr_now first = {.wall_us = BEGIN, .mono_us = S(5)};
    struct wr_now second = {.wall_us = BEGIN - WR_CLOCK_JITTER_US, .mono_us = S(5)};

    begin(100);
    (void) take_at(1, &three_a_second, 3, false, &first);
    assert_over(hit_at(1, &three_a_second, second));
    cr_assert_eq(events.n_restarts, 0u);
    second.wall_us--;
    assert_remaining(hit_at(1, &three_a_second, second), 2);
    cr_assert_eq(events.n_restarts, 1u);
    wr_stripe_fini(&stripe);
}

Test(stripe, after_a_step_back_a_full_stripe_has_room_in_every_table)
{
    enum { SHARE = 2000 };

    begin_with_clock(SHARE);
    for (uint64_t n = 0; n < SHARE; n++) {
        (void) hit_at(n, &three_a_day, raw);
    }
    cr_assert_eq(hit_at(SHARE, &three_a_day, raw).answer, WR_TAKE_FULL);
    (void) pass(S(1), -S(7200));
    for (uint64_t n = 0; n < SHARE; n++) {
        assert_remaining(hit_at(SHARE + n, &three_a_day, raw), 2);
    }
    cr_assert_eq(hit_at(0, &three_a_day, raw).answer, WR_TAKE_FULL);
    cr_assert_eq(events.n_restarts, SHARE);
    wr_stripe_fini(&stripe);
}

Test(stripe, tending_follows_a_step_back)
{
    begin_with_clock(100);
    (void) hit_at(1, &three_a_day, raw);
    (void) pass(S(1), -S(7200));
    wr_stripe_tend(&stripe, &raw, &events);
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 0u);
    cr_assert_eq(events.n_restarts, 1u);
    wr_stripe_fini(&stripe);
}

Test(stripe, refuses_a_new_counter_only_while_the_whole_share_is_live)
{
    enum { SHARE = 1000 };

    begin(SHARE);
    for (uint64_t n = 0; n < SHARE; n++) {
        cr_assert_eq(hit(n, n == 77 ? &three_a_second : &three_a_minute, S(60)).answer,
                     WR_TAKE_DECIDED);
    }
    for (uint64_t n = SHARE; n < SHARE + 20; n++) {
        cr_assert_eq(hit(n, &three_a_minute, S(61) - 1).answer, WR_TAKE_FULL);
    }
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, SHARE);
    for (uint64_t n = 0; n < SHARE; n++) {
        assert_remaining(hit(n, n == 77 ? &three_a_second : &three_a_minute, S(61) - 1), 1);
    }
    assert_remaining(hit(SHARE, &three_a_minute, S(61)), 2);
    cr_assert_eq(hit(SHARE + 1, &three_a_minute, S(61)).answer, WR_TAKE_FULL);
    cr_assert_eq(hit(77, &three_a_second, S(61)).answer, WR_TAKE_FULL);
    wr_stripe_fini(&stripe);
}

Test(stripe, a_stream_of_new_counters_runs_in_constant_memory)
{
    uint64_t most = 0, number = 0;

    begin(100000);
    for (int64_t second = 1; second <= 60; second++) {
        for (int i = 0; i < 1000; i++) {
            (void) hit(number++, &three_a_second, S(second) + i * 1000);
        }

        const struct wr_stripe_size size = wr_stripe_measure(&stripe);

        cr_assert_leq(size.n_counters, 1500u, "second %" PRId64 ": %" PRIu64 " counters", second,
                      size.n_counters);
        if (second <= 3) {
            most = size.memory_bytes > most ? size.memory_bytes : most;
        } else {
            cr_assert_leq(size.memory_bytes, most + most / 8, "second %" PRId64, second);
        }
    }
    cr_assert_geq(events.n_swept, 58000u);
    wr_stripe_fini(&stripe);
}

Test(stripe, a_quiet_stripe_empties_as_takes_come_by)
{
    begin(100000);

    const uint64_t empty_bytes = wr_stripe_measure(&stripe).memory_bytes;

    for (uint64_t n = 0; n < 20000; n++) {
        (void) hit(n, &three_a_second, S(1));
    }
    for (int i = 0; i < 1000; i++) {
        (void) hit(99999, &three_a_day, S(5));
    }
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
    cr_assert_leq(wr_stripe_measure(&stripe).memory_bytes, empty_bytes + 256);
    wr_stripe_fini(&stripe);
}

Test(stripe, tending_sweeps_without_a_take_unless_another_is_at_work)
{
    begin(100);
    (void) hit(1, &three_a_second, S(1));
    wr_mutex_lock(&stripe.mutex);
    tend(S(2));
    wr_mutex_unlock(&stripe.mutex);
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
    tend(S(2) - 1);
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
    tend(S(2));
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 0u);
    wr_stripe_fini(&stripe);
}

Test(stripe, a_sweep_never_removes_a_live_counter)
{
    begin(10000);
    for (uint64_t n = 0; n < 2000; n++) {
        (void) take_of(n, n % 2 == 0 ? &three_a_day : &three_a_second, 2, false, S(1));
    }
    for (int i = 0; i < 3000; i++) {
        (void) hit(5000, &three_a_day, S(3));
    }
    cr_assert_eq(events.n_swept, 1000u);
    for (uint64_t n = 0; n < 2000; n += 2) {
        assert_remaining(hit(n, &three_a_day, S(4)), 0);
    }
    wr_stripe_fini(&stripe);
}

Test(stripe, a_new_counter_without_memory_is_no_counter_and_known_ones_go_on)
{
    begin(100);
    (void) hit(1, &three_a_minute, S(60));
    (void) hit(2, &three_a_minute, S(60));
    (void) hit(3, &three_a_minute, S(60));
    failing_malloc_start(0);
    cr_assert_eq(hit(4, &three_a_minute, S(60)).answer, WR_TAKE_NO_MEMORY);
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 3u);
    assert_remaining(hit(1, &three_a_minute, S(60)), 1);
    assert_remaining(take_of(4, &three_a_minute, 0, false, S(60)), 3);
    failing_malloc_stop();
    assert_remaining(hit(4, &three_a_minute, S(60)), 2);
    wr_stripe_fini(&stripe);
}

Test(stripe, init_without_memory_fails)
{
    failing_malloc_start(0);
    cr_assert_eq(wr_stripe_init(&stripe, 100), WR_ERR_NO_MEMORY);
    failing_malloc_stop();
}

enum { MODEL_KEYS = 200, MODEL_WORDS = 40 };

/* What a stripe must answer, without any table, sweep or bound, told when the clock is set back. */
struct model {
    uint64_t states[MODEL_KEYS][MODEL_WORDS];
    bool are_wall[MODEL_KEYS]; /* of those that were hit */
    struct wr_now latest;
    unsigned age; /* how often the clock had been set back by then */
    unsigned n_ages;
};

/* The clock as it was read at one moment. */
struct moment {
    struct wr_now now;
    unsigned age;
};

/* Windows by the clock on the wall begin anew; what is measured as a length goes on. */
static void forget_wall(struct model *model)
{
    for (size_t i = 0; i < MODEL_KEYS; i++) {
        if (model->are_wall[i]) {
            memset(model->states[i], 0, sizeof model->states[i]);
        }
    }
}

static struct wr_verdict model_take(struct model *model, uint64_t number,
                                    const struct wr_limit *limit, uint64_t hits, bool is_refund,
                                    const struct moment *moment)
{
    const struct wr_counter_kind *const kind = wr_counter_kind_of(limit);
    uint64_t *const state = model->states[number];

    if (moment->now.mono_us >= model->latest.mono_us) {
        if (moment->age != model->age) {
            forget_wall(model);
            model->n_ages++;
        }
        model->latest = moment->now;
        model->age = moment->age;
    }
    model->are_wall[number] = kind->clock == WR_COUNTER_WALL;
    cr_assert_leq(kind->state_words(state, limit, is_refund ? 0 : hits), MODEL_WORDS);

    const int64_t now_us = wr_counter_time(kind, &model->latest);

    return is_refund ? kind->refund(state, limit, hits, now_us)
                     : kind->take(state, limit, hits, now_us);
}

/* Time goes on by some milliseconds, now and then by minutes or days. */
static int64_t passed_us_of(uint64_t random)
{
    const int64_t some = (int64_t) (random >> 32 & 0xffff);

    switch (random % 1000) {
    case 0:
        return some * S(10);
    case 1:
    case 2:
        return some * S(60) / 0xffff;
    default:
        return some / 10;
    }
}

/* Once in a while the clock is set, forward or back by up to a day and over an hour. */
static int64_t step_us_of(uint64_t random)
{
    const int64_t some = (int64_t) (random >> 24 & 0xffff) * S(82800) / 0xffff;

    if ((random >> 8) % 1000 != 0) {
        return 0;
    }
    return random >> 60 & 1 ? some : -WR_CLOCK_WAIT_US - 1 - some;
}

/* Most takes come at once, some late by up to 255 others. */
static size_t delay_of(uint64_t random)
{
    return random % 5 == 0 ? random >> 32 & 0xff : 0;
}

static void set(struct moment *moment, const struct moment *before, uint64_t random)
{
    const int64_t passed_us = passed_us_of(random), step_us = step_us_of(random);

    *moment = *before;
    moment->now.mono_us += passed_us;
    moment->now.wall_us += passed_us + step_us;
    moment->age += step_us < 0;
}

/* A key has one sort of limit; its number changes now and then. */
static struct wr_limit model_limit(uint64_t number, uint64_t random)
{
    static const int64_t lengths_us[] = {S(1), S(60), S(3600), S(86400), S(604800)};
    const bool has_warm_up = number / 8 % 4 == 0;
    struct wr_limit limit = {
        .requests = 1 + number % 9 + (random % 256 == 0 ? 5 : 0),
        .length_us = lengths_us[number % 5],
        .count = number % 3 == 0 || number % 8 == WR_ALGORITHM_SLIDING_LOG ? WR_COUNT_ADMITTED
                                                                           : WR_COUNT_ALL,
        .n_buckets = 1 + (uint32_t) (number % 7) + (random % 128 == 0),
        .burst = 1 + number % 4,
        .warm_up_us = has_warm_up ? lengths_us[number % 5] / 2 : 0,
        .warm_up_start = 1,
    };

    if (number % 8 < 5) {
        limit.algorithm = (enum wr_algorithm)(number % 8);
    } else if (number % 8 == 5) {
        limit.alignment = WR_ALIGN_FIRST_HIT;
    }
    return limit;
}

Test(stripe, agrees_with_counters_that_nobody_sweeps)
{
    static struct model model;
    static struct moment moments[256]; /* a ring */
    uint64_t random = 88172645463325252u;
    size_t n_over = 0;

    begin(5000);
    for (size_t i = 0; i < 256; i++) {
        moments[i].now = (struct wr_now){.wall_us = BEGIN, .mono_us = S(5)};
    }
    for (size_t i = 0; i < 200000; i++) {
        (void) wr_random_next(&random);
        set(&moments[(i + 1) % 256], &moments[i % 256], random);

        const uint64_t number = (random >> 16) % MODEL_KEYS;
        const struct wr_limit limit = model_limit(number, random >> 40);
        const uint64_t hits = (random >> 50) % 4;
        const bool is_refund = (random >> 55) % 8 == 0;
        const struct moment *const moment = &moments[(i + 257 - delay_of(random)) % 256];
        const struct wr_verdict want = model_take(&model, number, &limit, hits, is_refund, moment);
        const struct wr_take got = take_at(number, &limit, hits, is_refund, &moment->now);

        cr_assert_eq(got.answer, WR_TAKE_DECIDED);
        cr_assert_eq(got.verdict.over, want.over, "take %zu", i);
        cr_assert_eq(got.verdict.remaining, want.remaining, "take %zu", i);
        cr_assert_eq(got.verdict.reset_us, want.reset_us, "take %zu", i);
        cr_assert_eq(got.verdict.enforced, want.enforced, "take %zu", i);
        n_over += got.verdict.over;
    }
    cr_assert(n_over > 10000 && n_over < 190000, "%zu over", n_over);
    cr_assert_gt(events.n_swept, 1000u);
    cr_assert_gt(model.n_ages, 50u);
    cr_assert_gt(events.n_restarts, 1000u);
    wr_stripe_fini(&stripe);
}
