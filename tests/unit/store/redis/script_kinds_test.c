/* SPDX-License-Identifier: Apache-2.0 */
/* Counters in Redis of kinds that are no plain windows. */
#include <criterion/criterion.h>
#include <stdio.h>

#include "limit/calendar.h"
#include "tests/unit/store/redis/script_charges.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define DAY WR_SCRIPT_BED_DAY
#define MINUTE S(60)

TestSuite(redis_script_kinds, .init = script_charges_begin, .fini = script_charges_end);

static const struct wr_calendar day = {.unit = WR_UNIT_DAY};

/* Three a minute, by every kind; when a counter hit a microsecond after DAY is forgotten. */
static const struct kind_row {
    struct wr_limit limit;
    const char *expiry_ms;
} kind_rows[] = {
    {{.alignment = WR_ALIGN_FIRST_HIT}, "4102444860001"},
    {{.alignment = WR_ALIGN_CALENDAR, .calendar = &day}, "4102531200000"},
    {{.algorithm = WR_ALGORITHM_SLIDING_WINDOW}, "4102444920000"},
    {{.algorithm = WR_ALGORITHM_SLIDING_BUCKETS, .n_buckets = 60}, "4102444861000"},
    {{.algorithm = WR_ALGORITHM_SLIDING_LOG}, "4102444860001"},
    {{.algorithm = WR_ALGORITHM_TOKEN_BUCKET, .burst = 3}, "4102444820001"},
    {{.warm_up_us = S(5), .warm_up_start = 3}, "4102444860000"},
    {{.algorithm = WR_ALGORITHM_TOKEN_BUCKET, .burst = 3, .warm_up_us = S(90), .warm_up_start = 3},
     "4102444890001"},
};

#define N_KIND_ROWS (sizeof kind_rows / sizeof kind_rows[0])

static struct wr_take take_of_kind(size_t i, uint64_t hits)
{
    struct wr_take take = charge_of("a", hits);

    take.limit = kind_rows[i].limit;
    take.limit.requests = 3;
    take.limit.length_us = take.limit.calendar == NULL ? MINUTE : S(86400);
    take.limit.count = WR_COUNT_ADMITTED;
    return take;
}

static void begin_kind(size_t i)
{
    struct wr_take take = take_of_kind(i, 1);

    expect_answer("OK", wr_script_bed_ask(&script_bed, "FLUSHALL"));
    cr_assert_eq(charge(&take, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED, "kind %zu: %s", i,
                 script_bed.text);
    expect_left(take, 2);
}

Test(redis_script_kinds, every_kind_lives_until_it_is_as_good_as_never_hit)
{
    for (size_t i = 0; i < N_KIND_ROWS; i++) {
        struct wr_take none = take_of_kind(i, 0);

        begin_kind(i);
        expect_answer(kind_rows[i].expiry_ms, wr_script_bed_ask(&script_bed, "PEXPIRETIME a"));
        cr_assert_eq(charge(&none, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(none, 2);
        expect_answer("OK", wr_script_bed_ask(&script_bed, "FLUSHALL"));
        cr_assert_eq(charge(&none, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(none, 3);
        expect_answer("0", wr_script_bed_ask(&script_bed, "EXISTS a"));
    }
}

/* What it holds says when it ends, so that it locks nobody out meanwhile. */
Test(redis_script_kinds, every_kind_is_given_a_lost_time_to_live_by_the_next_hit)
{
    for (size_t i = 0; i < N_KIND_ROWS; i++) {
        struct wr_take take = take_of_kind(i, 1);

        begin_kind(i);
        expect_answer("1", wr_script_bed_ask(&script_bed, "PERSIST a"));
        cr_assert_eq(charge(&take, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 1);
        cr_assert_str_neq(wr_script_bed_ask(&script_bed, "PEXPIRETIME a"), "-1", "kind %zu", i);
        expect_answer("1", wr_script_bed_ask(&script_bed, "PERSIST a"));
        cr_assert_eq(charge(&take, 1, DAY + S(2 * 86400), 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 2);
        cr_assert_str_neq(wr_script_bed_ask(&script_bed, "PEXPIRETIME a"), "-1", "kind %zu", i);
    }
}

/* A counter of another time, further ahead than a window, is never hit. */
Test(redis_script_kinds, every_kind_begins_anew_when_time_went_far_back)
{
    for (size_t i = 0; i < N_KIND_ROWS; i++) {
        struct wr_take take = take_of_kind(i, 3);

        begin_kind(i);
        take.hits = 2;
        cr_assert_eq(charge(&take, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 0);
        take.hits = 1;
        cr_assert_eq(charge(&take, 1, DAY - S(4 * 86400), 0), WR_REDIS_SCRIPT_ANSWERED);
        if (take.limit.algorithm == WR_ALGORITHM_TOKEN_BUCKET) {
            cr_assert(take.verdict.over, "it is cut to a full burst");
        } else {
            expect_left(take, 2);
            cr_assert_eq(script_bed.notes.n_restarted, 1u, "kind %zu", i);
        }
    }
}

/* Also where it is charged all or nothing. */
Test(redis_script_kinds, every_kind_admits_after_the_wait_that_it_told_when_time_went_far_back)
{
    static const enum wr_count counts[] = {WR_COUNT_ADMITTED, WR_COUNT_ALL_OR_NOTHING};

    for (size_t i = 0; i < 2 * N_KIND_ROWS; i++) {
        int64_t now_us = DAY - S(4 * 86400);
        struct wr_take take = take_of_kind(i / 2, 2);

        begin_kind(i / 2);
        take.limit.count = counts[i % 2];
        cr_assert_eq(charge(&take, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 0);
        take.hits = 1;
        cr_assert_eq(charge(&take, 1, now_us, 0), WR_REDIS_SCRIPT_ANSWERED);
        if (take.verdict.over) {
            cr_assert_leq(take.verdict.reset_us, MINUTE, "kind %zu", i / 2);
            now_us += take.verdict.reset_us;
            cr_assert_eq(charge(&take, 1, now_us, 0), WR_REDIS_SCRIPT_ANSWERED);
        }
        cr_assert_not(take.verdict.over, "kind %zu, count %d", i / 2, (int) counts[i % 2]);
    }
}

/* Bytes of other kinds, of lengths that could be theirs, and numbers that are none. */
Test(redis_script_kinds, every_kind_leaves_foreign_keys_alone)
{
    static const char *const makers[] = {
        "RPUSH a x",
        "HSET a x y",
        "SET a text",
        "SET a 5",
        "SET a 0123456789abcdef!",
        "SET a 0123456789abcdef01234567!",
        "SET a 0123456789abcdef0123456789abcdef!!!",
    };

    for (size_t i = 0; i < N_KIND_ROWS; i++) {
        for (size_t k = 0; k < sizeof makers / sizeof makers[0]; k++) {
            struct wr_take takes[] = {take_of_kind(i, 1), charge_of("b", 1)};

            expect_answer("OK", wr_script_bed_ask(&script_bed, "FLUSHALL"));
            (void) wr_script_bed_ask(&script_bed, makers[k]);
            expect_answer("1", wr_script_bed_ask(&script_bed, "EXISTS a"));
            cr_assert_eq(charge(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "kind %zu, %s: %s", i,
                         makers[k], script_bed.text);
            cr_assert_eq(takes[0].answer, WR_TAKE_AWAY, "kind %zu, %s", i, makers[k]);
            expect_left(takes[1], 2);
            expect_answer("-1", wr_script_bed_ask(&script_bed, "PEXPIRETIME a"));
        }
    }
}

/* Numbers that the packed text of a kind may not have, behind the number of the kind. */
Test(redis_script_kinds, numbers_that_are_none_are_foreign)
{
    static const char *const numbers[] = {"0/0", "1/0", "-1", "0.5", "2^53"};

    for (size_t i = 0; i < N_KIND_ROWS; i++) {
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            struct wr_take take = take_of_kind(i, 1);
            char script[256];

            begin_kind(i);
            (void) snprintf(script, sizeof script,
                            "local t = redis.call('GET', 'a') local at = t:byte() == 2 and 5 or 2 "
                            "return redis.call('SET', 'a', "
                            "t:sub(1, at - 1) .. struct.pack('<d', %s) .. t:sub(at + 8))",
                            numbers[k]);
            expect_answer("OK", wr_script_bed_ask(&script_bed, "EVAL %s 0", script));
            cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "kind %zu, %s: %s", i,
                         numbers[k], script_bed.text);
            cr_assert_eq(take.answer, WR_TAKE_AWAY, "kind %zu, %s", i, numbers[k]);
        }
    }
}

/* The callers' clocks name the boundaries, Redis's chooses between them. */
Test(redis_script_kinds, calendars_go_by_the_clock_of_redis)
{
    static const int64_t ahead_us[] = {-S(86400), -S(1), 0, S(1), S(86400)};

    for (size_t i = 0; i < sizeof ahead_us / sizeof ahead_us[0]; i++) {
        struct wr_take take = take_of_kind(1, 1);

        expect_answer("OK", wr_script_bed_ask(&script_bed, "FLUSHALL"));
        script_bed.ahead_us = ahead_us[i];
        cr_assert_eq(charge(&take, 1, DAY - 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 2);
        cr_assert_eq(take.verdict.reset_us, 1);
        cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 2);
        cr_assert_eq(take.verdict.reset_us, S(86400));
    }
}

Test(redis_script_kinds, tells_what_is_enforced_while_it_warms_up)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1)};

    takes[0].limit = (struct wr_limit){.requests = 10,
                                       .length_us = MINUTE,
                                       .algorithm = WR_ALGORITHM_TOKEN_BUCKET,
                                       .burst = 10,
                                       .warm_up_us = S(10),
                                       .warm_up_start = 5};
    cr_assert_eq(charge(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(takes[0].verdict.enforced, 5u);
    expect_left(takes[0], 4);
    cr_assert_eq(takes[1].verdict.enforced, 3u);
    expect_left(takes[1], 2);
    cr_assert_eq(charge(takes, 2, DAY + S(4), 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(takes[0].verdict.enforced, 7u);
    takes[0].key = wr_str_of("list");
    (void) wr_script_bed_ask(&script_bed, "RPUSH list x");
    cr_assert_eq(charge(takes, 2, DAY + S(4), 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(takes[0].answer, WR_TAKE_AWAY);
    expect_left(takes[1], 0);
}
