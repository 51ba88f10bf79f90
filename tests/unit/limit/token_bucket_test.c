/* SPDX-License-Identifier: Apache-2.0 */
#include "limit/token_bucket.h"

#include <criterion/criterion.h>

#include "tests/unit/limit/counter.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define DAY S(86400)

#define BUCKET(n, length, size)                                                                    \
    {                                                                                              \
        .requests = (n), .length_us = (length), .burst = (size), .count = WR_COUNT_ADMITTED,       \
        .algorithm = WR_ALGORITHM_TOKEN_BUCKET,                                                    \
    }

/* A hit every ten seconds. */
static const struct wr_limit six_a_minute = BUCKET(6, S(60), 3);

Test(token_bucket, a_burst_then_one_an_interval)
{
    static const struct wr_step steps[] = {
        {S(100), 0, false, 3, 0},      {S(100), 1, false, 2, S(10)}, {S(100), 2, false, 0, S(10)},
        {S(100), 1, true, 0, S(10)},   {S(110) - 1, 1, true, 0, 1},  {S(110), 1, false, 0, S(10)},
        {S(115), 1, true, 0, S(5)},    {S(130), 0, false, 2, S(10)}, {S(135), 1, false, 1, S(5)},
        {S(1000), 3, false, 0, S(10)},
    };
    WR_PLAY(six_a_minute, steps);
}

Test(token_bucket, a_refused_cost_waits_for_the_next_hit_and_leaves_no_trace)
{
    static const struct wr_step steps[] = {
        {S(0), 2, false, 1, S(10)}, {S(0), 3, true, 0, 1}, /* of which one fits at once */
        {S(0), 2, true, 0, 1},      {S(0), 1, false, 0, S(10)},
        {S(0), 3, true, 0, S(10)},  {S(10) - 1, 2, true, 0, 1},
    };
    WR_PLAY(six_a_minute, steps);
}

Test(token_bucket, a_cost_above_the_burst_is_over_for_ever_and_leaves_no_trace)
{
    static const struct wr_step steps[] = {
        {S(0), 100, true, 0, 1},
        {S(0), INT64_MAX, true, 0, 1},
        {S(0), 3, false, 0, S(10)},
        {S(0), 100, true, 0, S(10)},
    };
    WR_PLAY(six_a_minute, steps);
}

Test(token_bucket, books_what_does_not_fit_when_all_is_counted)
{
    static const struct wr_limit limit = {.requests = 6,
                                          .length_us = S(60),
                                          .burst = 3,
                                          .count = WR_COUNT_ALL,
                                          .algorithm = WR_ALGORITHM_TOKEN_BUCKET};
    static const struct wr_step steps[] = {
        {S(0), 100, true, 0, S(980)},   {S(0), 0, true, 0, S(980)},   {S(500), 1, true, 0, S(490)},
        {S(500), -50, false, 2, S(10)}, {S(500), 2, false, 0, S(10)}, {S(500), 0, false, 0, S(10)},
    };
    WR_PLAY(limit, steps);
}

Test(token_bucket, a_debt_never_outgrows_what_a_script_holds)
{
    struct wr_limit limit = BUCKET(1, S(31536000), UINT32_MAX);
    struct wr_counter counter;

    limit.count = WR_COUNT_ALL;
    wr_counter_init(&counter, &limit);
    for (int i = 0; i < 5; i++) {
        cr_assert(wr_counter_take(&counter, UINT64_MAX, S(1700000000)).over);
        cr_assert_eq(wr_counter_expiry(&counter), S(1700000000) + WR_TOKEN_BUCKET_DEBT_MAX_US);
    }
    cr_assert_leq((uint64_t) wr_counter_expiry(&counter), WR_COUNT_MAX);
    cr_assert_gt(wr_counter_refund(&counter, UINT64_MAX, S(1700000000)).remaining, 100u);
    wr_counter_fini(&counter);
}

Test(token_bucket, a_refund_gives_back_down_to_nothing_used)
{
    static const struct wr_step steps[] = {
        {S(0), 3, false, 0, S(10)}, {S(4), -1, false, 1, S(6)}, {S(4), 1, false, 0, S(6)},
        {S(5), 1, true, 0, S(5)},   {S(5), -99, false, 3, 0},   {S(5), -1, false, 3, 0},
        {S(5), 4, true, 0, 1},      {S(5), 3, false, 0, S(10)},
    };
    WR_PLAY(six_a_minute, steps);
}

Test(token_bucket, an_interval_that_is_no_whole_number_is_rounded_up)
{
    static const struct wr_limit seven = BUCKET(7, S(1), 1);
    static const struct wr_step steps[] = {
        {0, 1, false, 0, 142858},
        {142857, 1, true, 0, 1},
        {142858, 1, false, 0, 142858},
    };
    WR_PLAY(seven, steps);
}

/* Huge and tiny rates, with long pauses: nothing overflows, and what is left is full less one. */
Test(token_bucket, a_long_idle_time_fills_the_bucket_and_no_more)
{
    static const struct wr_limit limits[] = {
        BUCKET(1000000, S(1), 1000000),
        BUCKET(1, S(31536000), 1),
        BUCKET(UINT32_MAX, DAY, UINT32_MAX),
    };
    static const int64_t idle_us[] = {S(3 * 3600), 40 * DAY, 400 * DAY, 400 * DAY};

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        struct wr_counter counter;
        int64_t now_us = S(1700000000);

        wr_counter_init(&counter, &limits[i]);
        for (size_t k = 0; k < sizeof idle_us / sizeof idle_us[0]; k++) {
            now_us += idle_us[k];
            if (wr_counter_expiry(&counter) > now_us) {
                continue;
            }

            const struct wr_verdict verdict = wr_counter_take(&counter, 1, now_us);

            cr_assert_not(verdict.over, "row %zu, pause %zu", i, k);
            cr_assert_eq(verdict.remaining, limits[i].burst - 1, "row %zu, pause %zu", i, k);
            cr_assert_leq(verdict.reset_us, limits[i].length_us, "row %zu, pause %zu", i, k);
        }
        wr_counter_fini(&counter);
    }
}

/* Ten at 59 s, ten at 60.5 s; a token every six seconds. */
Test(token_bucket, around_a_minute_no_more_than_a_burst_passes)
{
    static const struct wr_limit large = BUCKET(10, S(60), 10), small = BUCKET(10, S(60), 1);
    static const struct wr_step of_large[] = {{S(59), 10, false, 0, S(6)},
                                              {S(60) + 500000, 1, true, 0, S(6) - S(3) / 2}};
    static const struct wr_step of_small[] = {{S(59), 1, false, 0, S(6)},
                                              {S(59), 1, true, 0, S(6)},
                                              {S(60) + 500000, 1, true, 0, S(6) - S(3) / 2}};

    WR_PLAY(large, of_large);
    WR_PLAY(small, of_small);
}

Test(token_bucket, a_limit_of_nothing_lets_only_looks_pass)
{
    static const struct wr_limit nothing = BUCKET(0, S(60), 1);
    static const struct wr_step steps[] = {
        {S(0), 0, false, 0, 0}, {S(0), 1, true, 0, S(60)}, {S(1), 0, false, 0, 0}};

    WR_PLAY(nothing, steps);
}

Test(token_bucket, a_changed_limit_restates_what_was_used)
{
    static const struct {
        uint64_t requests, burst; /* after 3 of 3 were used at 6 a minute */
        bool over;
        uint64_t remaining;
        int64_t reset_us;
    } rows[] = {
        {60, 3, true, 0, S(1)}, {60, 4, false, 0, S(1)}, {6, 10, false, 6, S(10)},
        {1, 3, true, 0, S(10)}, {1, 4, false, 0, S(60)}, {6, 1, true, 0, S(30)},
        {0, 3, true, 0, S(30)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_counter counter;

        wr_counter_init(&counter, &six_a_minute);
        (void) wr_counter_take(&counter, 3, S(100));
        counter.limit.requests = rows[i].requests;
        counter.limit.burst = rows[i].burst;

        const struct wr_verdict verdict = wr_counter_take(&counter, 1, S(100));

        cr_assert_eq(verdict.over, rows[i].over, "row %zu", i);
        cr_assert_eq(verdict.remaining, rows[i].remaining, "row %zu", i);
        cr_assert_eq(verdict.reset_us, rows[i].reset_us, "row %zu: %ld", i, verdict.reset_us);
        wr_counter_fini(&counter);
    }
}

Test(token_bucket, what_was_used_before_a_limit_was_lowered_is_paid_at_the_former_rate)
{
    struct wr_limit limit = BUCKET(1, S(60), 1);
    struct wr_counter counter;

    wr_counter_init(&counter, &six_a_minute);
    (void) wr_counter_take(&counter, 3, S(100));
    counter.limit = limit;
    cr_assert_eq(wr_counter_take(&counter, 1, S(100)).reset_us, S(30));
    cr_assert_eq(wr_counter_refund(&counter, 1, S(105)).reset_us, S(15));
    cr_assert_eq(wr_counter_take(&counter, 1, S(120) - 1).reset_us, 1);
    cr_assert_eq(wr_counter_take(&counter, 1, S(120)).reset_us, S(60), "and this at the new one");
    cr_assert_eq(wr_counter_take(&counter, 1, S(179)).reset_us, S(1));
    wr_counter_fini(&counter);
}

/* As replicas have them while rules are rolled out, or callers who say their own: what the smaller
 * one refuses must not make the larger one forget. */
Test(token_bucket, one_bucket_asked_with_two_limits_admits_the_larger_one)
{
    const struct wr_limit limits[] = {BUCKET(6000, S(60), 100), BUCKET(6, S(60), 1)};
    struct wr_counter counter;
    uint64_t n_admitted = 0;

    wr_counter_init(&counter, &limits[0]);
    for (size_t i = 0; i < 1000; i++) {
        counter.limit = limits[i % 2];
        n_admitted += !wr_counter_take(&counter, 1, S(100)).over;
    }
    cr_assert_eq(n_admitted, 100, "%lu", (unsigned long) n_admitted);
    cr_assert_eq(wr_counter_peek(&counter, 1, S(100)).reset_us, S(1));
    counter.limit = limits[0];
    cr_assert_eq(wr_counter_peek(&counter, 0, S(100) + 500000).remaining, 50u);
    wr_counter_fini(&counter);
}

/* Two bursts of one rate, below the limit and above it, as replicas have them while rules are
 * rolled out: a hit that the smaller one refuses must not make the larger one forget. */
Test(token_bucket, one_bucket_asked_with_two_bursts_admits_the_larger_one)
{
    static const uint64_t bursts[] = {100, 10}, requests[] = {600, 6};

    for (size_t row = 0; row < 2; row++) {
        struct wr_counter counter;
        uint64_t n_admitted = 0;

        wr_counter_init(&counter, &six_a_minute);
        counter.limit.requests = requests[row];
        for (size_t i = 0; i < 1000; i++) {
            counter.limit.burst = bursts[i % 2];
            n_admitted += !wr_counter_take(&counter, 1, S(100)).over;
        }
        cr_assert_eq(n_admitted, 100, "row %zu: %lu", row, (unsigned long) n_admitted);
        wr_counter_fini(&counter);
    }
}

/* The wait told is as long as what was used takes, to the microsecond, whether the burst was within
 * the limit, above it, or owes no more than clocks may jitter. */
Test(token_bucket, a_smaller_burst_waits_for_what_was_used)
{
    static const struct {
        uint64_t requests, used, burst;
        int64_t wait_us;
    } rows[] = {
        {6, 5, 3, S(30)},       {6, 100, 3, S(980)},     {6, 100, 99, S(20)},
        {6000, 100, 99, 20000}, {6000, 100, 50, 510000}, {6000, 100, 1, S(1)},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct wr_limit limit = BUCKET(rows[i].requests, S(60), rows[i].used);
        struct wr_counter counter;

        wr_counter_init(&counter, &limit);
        (void) wr_counter_take(&counter, rows[i].used, S(100));
        counter.limit.burst = rows[i].burst;
        for (int64_t early_us = rows[i].wait_us; early_us > 0; early_us /= 7) {
            const int64_t now_us = S(100) + rows[i].wait_us - early_us;
            const struct wr_verdict verdict = wr_counter_take(&counter, 1, now_us);

            cr_assert(verdict.over, "row %zu, %ld us early", i, early_us);
            cr_assert_eq(verdict.reset_us, early_us, "row %zu: %ld", i, verdict.reset_us);
        }
        cr_assert_not(wr_counter_take(&counter, 1, S(100) + rows[i].wait_us).over, "row %zu", i);
        wr_counter_fini(&counter);
    }
}

/* A raised limit helps a client that is refused all the while. */
Test(token_bucket, refused_takes_go_on_at_the_new_rate)
{
    struct wr_counter counter;

    wr_counter_init(&counter, &six_a_minute);
    (void) wr_counter_take(&counter, 3, S(100));
    counter.limit.requests = 60;
    cr_assert(wr_counter_take(&counter, 3, S(100)).over);
    cr_assert(wr_counter_take(&counter, 3, S(101)).over);
    cr_assert(wr_counter_take(&counter, 3, S(103) - 1).over);
    cr_assert_not(wr_counter_take(&counter, 3, S(103)).over);
    wr_counter_fini(&counter);
}

/* From 1 an hour to 1000: a look goes on telling the former wait, until a hit restates the debt,
 * also one that is refused. */
Test(token_bucket, a_look_after_a_raised_limit_tells_the_former_wait)
{
    static const uint64_t bursts[] = {1, 100};

    for (size_t i = 0; i < sizeof bursts / sizeof bursts[0]; i++) {
        const struct wr_limit hourly = {.requests = 1,
                                        .length_us = S(3600),
                                        .algorithm = WR_ALGORITHM_TOKEN_BUCKET,
                                        .count = WR_COUNT_ADMITTED,
                                        .burst = 1};
        struct wr_counter counter;

        wr_counter_init(&counter, &hourly);
        (void) wr_counter_take(&counter, 1, S(100));
        counter.limit.requests = 1000;
        counter.limit.burst = bursts[i];
        cr_assert_eq(wr_counter_peek(&counter, 0, S(100)).reset_us, S(3600));
        cr_assert_eq(wr_counter_peek(&counter, 0, S(110)).reset_us, S(3590));

        const struct wr_verdict hit = wr_counter_take(&counter, 1, S(110));

        cr_assert_eq(hit.over, bursts[i] == 1);
        cr_assert_eq(hit.reset_us, 3590000);
        cr_assert_eq(wr_counter_peek(&counter, 0, S(110)).reset_us, 3590000);
        wr_counter_fini(&counter);
    }
}

Test(token_bucket, a_stamp_from_a_clock_that_was_ahead_is_cut_to_a_burst)
{
    static const struct wr_step steps[] = {
        {S(5000), 1, false, 2, S(10)}, {S(100), 0, false, 0, S(10)}, /* a look leaves it, */
        {S(100), 1, true, 0, S(10)},                                 /* a refused hit cuts it */
        {S(110), 1, false, 0, S(10)},  {S(5000), 2, false, 1, S(10)}, {S(200), -1, false, 1, S(10)},
        {S(500), 3, false, 0, S(10)},  {S(490), 1, true, 0, S(10)}, /* also by less than a window */
        {S(500), 1, false, 0, S(10)},
    };
    WR_PLAY(six_a_minute, steps);
}

/* Before what was booked is paid, the clock goes back: no more than that is waited for. */
Test(token_bucket, a_debt_that_was_booked_is_kept_and_no_more_than_that)
{
    struct wr_limit limit = six_a_minute;
    static const struct wr_step steps[] = {
        {S(5000), 100, true, 0, S(980)},
        {S(5500), 1, true, 0, S(490)},
        {S(100), 0, true, 0, S(490)},
        {S(100), 1, true, 0, S(500)},
    };

    limit.count = WR_COUNT_ALL;
    WR_PLAY(limit, steps);
}

Test(token_bucket, a_debt_that_was_booked_is_kept_when_only_what_is_admitted_counts)
{
    struct wr_counter counter;

    wr_counter_init(&counter, &six_a_minute);
    counter.limit.count = WR_COUNT_ALL;
    (void) wr_counter_take(&counter, 100, S(100));
    counter.limit.count = WR_COUNT_ADMITTED;
    cr_assert_eq(wr_counter_take(&counter, 1, S(100)).reset_us, S(980));
    cr_assert_eq(wr_counter_take(&counter, 1, S(1080) - 1).reset_us, 1);
    cr_assert_not(wr_counter_take(&counter, 1, S(1080)).over);
    wr_counter_fini(&counter);
}

/* Intervals and bursts from one end to the other. */
Test(token_bucket, a_word_holds_an_interval_and_what_may_be_owed)
{
    for (int n_bits = 0; n_bits <= 52; n_bits++) {
        const int64_t least_us = INT64_C(1) << n_bits;
        const int64_t intervals_us[] = {least_us, 2 * least_us - 1};

        for (size_t i = 0; i < 2; i++) {
            const int64_t interval_us = intervals_us[i];
            const uint64_t owed[] = {0, 1,
                                     (uint64_t) (WR_TOKEN_BUCKET_DEBT_MAX_US / interval_us) + 1};

            for (size_t k = 0; k < 3; k++) {
                const struct wr_token_bucket bucket = {
                    .terms = wr_token_bucket_terms(interval_us, owed[k])};

                cr_assert_eq(wr_token_bucket_interval(&bucket), interval_us, "%d bits", n_bits);
                cr_assert_eq(wr_token_bucket_owed(&bucket), owed[k], "%d bits", n_bits);
            }
        }
    }
}

Test(token_bucket, a_late_hit_finds_no_more_room_and_a_late_refund_gives_no_more)
{
    static const struct wr_step steps[] = {
        {S(100), 3, false, 0, S(10)},    {S(100) - 5, 0, false, 0, S(10)},
        {S(100) - 5, 1, true, 0, S(10)}, {S(110) - 1, 1, true, 0, 1},
        {S(110), 1, false, 0, S(10)},    {S(110) - 5, -1, false, 0, 5},
        {S(110) - 5, 1, true, 0, 5},     {S(110), 1, false, 0, S(10)},
    };
    WR_PLAY(six_a_minute, steps);
}

Test(token_bucket, the_largest_burst_is_the_largest_that_is_not_cut)
{
    static const struct {
        int64_t length_us;
        uint64_t requests, most;
    } rows[] = {
        {S(31536000), 1, 142},
        {30 * DAY, 10, 17374},
        {36500 * DAY, 1, 1},
        {DAY, 1, 52124},
        {36500 * DAY, 10, 14},
        {DAY, 999, 52072870},
        {36500 * DAY, 999999, 1428080},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_limit limit = BUCKET(rows[i].requests, rows[i].length_us, rows[i].most);
        struct wr_counter counter;

        cr_assert_eq(wr_token_bucket_burst_max(&limit), rows[i].most, "row %zu: %lu", i,
                     (unsigned long) wr_token_bucket_burst_max(&limit));
        wr_counter_init(&counter, &limit);
        cr_assert_eq(wr_counter_peek(&counter, 0, 0).remaining, rows[i].most, "row %zu", i);
        counter.limit.burst++;
        cr_assert_eq(wr_counter_peek(&counter, 0, 0).remaining, rows[i].most, "row %zu", i);
        wr_counter_fini(&counter);
    }
}

/* Lower limits have intervals that are rounded up by more than that of the whole. */
Test(token_bucket, the_largest_burst_is_not_cut_at_any_height_of_a_warm_up)
{
    struct wr_limit limit = BUCKET(99999989, 36500 * DAY, 1);
    struct wr_limit at;

    limit.warm_up_us = 1000;
    limit.burst = wr_token_bucket_burst_max(&limit);
    cr_assert_gt(limit.burst, 142000000u);
    at = limit;
    at.warm_up_us = 0;
    for (uint64_t requests = 1000003; requests < limit.requests; requests += 999983) {
        const uint64_t never_hit[2] = {0};

        at.requests = requests;
        at.burst = limit.burst * requests / limit.requests;
        cr_assert_eq(wr_token_bucket_kind.peek(never_hit, &at, 0, 0).remaining, at.burst, "%lu",
                     (unsigned long) requests);
    }
}
