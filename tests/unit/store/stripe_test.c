/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stripe.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#include "limit/fixed_window.h"
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

static struct wr_take take_of(uint64_t number, const struct wr_limit *limit, uint64_t hits,
                              bool is_refund, int64_t wall_us)
{
    const struct wr_hash hash = {
        .low = number * UINT64_C(0x9e3779b97f4a7c15),
        .high = number * UINT64_C(0xd1b54a32d192ed03),
    };
    struct wr_take take = {.limit = *limit, .hits = hits, .is_refund = is_refund};

    wr_stripe_take(&stripe, &hash, &take, wall_us, &events);
    return take;
}

static struct wr_take hit(uint64_t number, const struct wr_limit *limit, int64_t wall_us)
{
    return take_of(number, limit, 1, false, wall_us);
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
        wr_stripe_tend(&stripe, S(6), &events);
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

Test(stripe, a_step_back_by_over_an_hour_begins_short_windows_anew_and_keeps_long_ones)
{
    const int64_t later_us = S(86400) + S(7500), earlier_us = S(86400);

    begin(100);
    (void) take_of(1, &three_a_minute, 3, false, later_us);
    (void) take_of(2, &three_a_day, 3, false, later_us);
    assert_over(hit(1, &three_a_minute, later_us - WR_CLOCK_WAIT_US));
    cr_assert_eq(events.n_restarts + events.n_swept, 0u);
    assert_remaining(hit(1, &three_a_minute, earlier_us), 2);
    assert_over(hit(2, &three_a_day, earlier_us));
    cr_assert_eq(events.n_restarts, 1u);
    wr_stripe_fini(&stripe);
}

Test(stripe, what_a_step_back_left_far_ahead_gives_its_place)
{
    begin(2);
    (void) hit(1, &three_a_second, S(100000));
    (void) hit(2, &three_a_second, S(100000));
    cr_assert_eq(hit(3, &three_a_second, S(100000)).answer, WR_TAKE_FULL);
    assert_remaining(hit(3, &three_a_second, S(50000)), 2);
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
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

Test(stripe, a_counter_that_begins_anew_earlier_ends_a_full_stripe_earlier)
{
    begin(2);
    (void) hit(1, &three_a_day, S(86400));
    (void) hit(2, &three_a_minute, S(86400 + 7200));
    cr_assert_eq(hit(3, &three_a_minute, S(86400 + 7200)).answer, WR_TAKE_FULL);
    assert_remaining(hit(2, &three_a_minute, S(86400)), 2);
    cr_assert_eq(hit(3, &three_a_minute, S(86400)).answer, WR_TAKE_FULL);
    assert_remaining(hit(3, &three_a_minute, S(86460)), 2);
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
    wr_stripe_tend(&stripe, S(2), &events);
    wr_mutex_unlock(&stripe.mutex);
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
    wr_stripe_tend(&stripe, S(2) - 1, &events);
    cr_assert_eq(wr_stripe_measure(&stripe).n_counters, 1u);
    wr_stripe_tend(&stripe, S(2), &events);
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

/* What a stripe must answer, without any table, sweep or bound. */
struct model {
    struct wr_fixed_window states[200];
    int64_t latest_us;
};

static struct wr_verdict model_take(struct model *model, uint64_t number,
                                    const struct wr_limit *limit, uint64_t hits, bool is_refund,
                                    int64_t wall_us)
{
    struct wr_fixed_window *const state = &model->states[number];

    if (wall_us > model->latest_us || model->latest_us - wall_us > WR_CLOCK_WAIT_US) {
        model->latest_us = wall_us;
    }
    return is_refund ? wr_fixed_window_refund(state, limit, hits, model->latest_us)
                     : wr_fixed_window_take(state, limit, hits, model->latest_us);
}

/* Time goes on by some milliseconds, now and then by minutes or days. */
static int64_t next_time(int64_t wall_us, uint64_t random)
{
    const int64_t some = (int64_t) (random >> 32 & 0xffff);

    switch (random % 1000) {
    case 0:
        return wall_us + some * S(10);
    case 1:
    case 2:
        return wall_us + some * S(60) / 0xffff;
    default:
        return wall_us + some / 10;
    }
}

/* Most takes come at once, some late by up to an hour. */
static int64_t delay_of(uint64_t random)
{
    return random % 5 == 0 ? (int64_t) (random >> 32 & 0xffff) * S(3600) / 0xffff : 0;
}

Test(stripe, agrees_with_counters_that_nobody_sweeps)
{
    static const int64_t lengths_us[] = {S(1), S(60), S(3600), S(86400), S(604800)};
    static struct model model;
    uint64_t random = 88172645463325252u;
    int64_t wall_us = S(86400 * 100);
    size_t n_over = 0;

    begin(5000);
    for (int i = 0; i < 200000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        wall_us = next_time(wall_us, random);

        const uint64_t number = (random >> 16) % 200;
        const struct wr_limit limit = {
            .requests = 1 + number % 9,
            .length_us = lengths_us[number % 5],
            .count = number % 3 == 0 ? WR_COUNT_ADMITTED : WR_COUNT_ALL,
        };
        const uint64_t hits = (random >> 50) % 4;
        const bool is_refund = (random >> 55) % 8 == 0;
        const int64_t then_us = wall_us - delay_of(random);
        const struct wr_verdict want = model_take(&model, number, &limit, hits, is_refund, then_us);
        const struct wr_take got = take_of(number, &limit, hits, is_refund, then_us);

        cr_assert_eq(got.answer, WR_TAKE_DECIDED);
        cr_assert_eq(got.verdict.over, want.over, "take %d", i);
        cr_assert_eq(got.verdict.remaining, want.remaining, "take %d", i);
        cr_assert_eq(got.verdict.reset_us, want.reset_us, "take %d", i);
        n_over += got.verdict.over;
    }
    cr_assert(n_over > 10000 && n_over < 190000, "%zu over", n_over);
    cr_assert_gt(events.n_swept, 1000u);
    cr_assert_eq(events.n_restarts, 0u);
    wr_stripe_fini(&stripe);
}
