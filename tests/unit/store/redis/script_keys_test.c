/* SPDX-License-Identifier: Apache-2.0 */
/* What the script of the Redis store leaves in Redis, of plain windows. */
#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/store/redis/script_charges.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define DAY WR_SCRIPT_BED_DAY
#define MINUTE S(60)

TestSuite(redis_script_keys, .init = script_charges_begin, .fini = script_charges_end);

static char *window_end_ms(int64_t end_us, char *text, size_t size)
{
    (void) snprintf(text, size, "%" PRId64, (end_us + 999) / 1000);
    return text;
}

Test(redis_script_keys, a_counter_is_a_number_that_expires_with_its_window)
{
    struct wr_take takes[] = {charge_of("a", 2), charge_of("b", 0)};
    char end_ms[32];

    cr_assert_eq(charge(takes, 2, DAY + S(30), 0), WR_REDIS_SCRIPT_ANSWERED);
    expect_answer("2", wr_script_bed_ask(&script_bed, "GET a"));
    expect_answer(window_end_ms(DAY + MINUTE, end_ms, sizeof end_ms),
                  wr_script_bed_ask(&script_bed, "PEXPIRETIME a"));
    expect_answer("0", wr_script_bed_ask(&script_bed, "EXISTS b"));
    cr_assert_eq(charge(takes, 1, DAY + S(31), 0), WR_REDIS_SCRIPT_ANSWERED);
    expect_answer("4", wr_script_bed_ask(&script_bed, "GET a"));
    expect_answer(end_ms, wr_script_bed_ask(&script_bed, "PEXPIRETIME a"));
}

Test(redis_script_keys, windows_need_not_be_whole_milliseconds)
{
    const int64_t length_us = 10001;
    const int64_t start_us = DAY - DAY % length_us;
    struct wr_take take = charge_of("a", 1);

    take.limit.length_us = length_us;
    for (int64_t window = 0; window < 1000; window++) {
        const int64_t begin_us = start_us + window * length_us;

        cr_assert_eq(charge(&take, 1, begin_us, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 2);
        cr_assert_eq(take.verdict.reset_us, length_us);
        cr_assert_eq(charge(&take, 1, begin_us + length_us - 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 1);
        cr_assert_eq(take.verdict.reset_us, 1);
    }
}

Test(redis_script_keys, counts_by_the_clock_of_redis)
{
    struct wr_take take = charge_of("a", 1);
    const int64_t before_us = strtoll(wr_script_bed_ask(&script_bed, "EVAL %s 0",
                                                        "local t = redis.call('TIME') "
                                                        "return t[1] * 1000000 + t[2]"),
                                      NULL, 10);

    cr_assert_eq(charge(&take, 1, 0, 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert(script_bed.notes.now_us >= before_us && script_bed.notes.now_us < before_us + S(60));
    cr_assert_eq(take.verdict.reset_us, MINUTE - script_bed.notes.now_us % MINUTE);
}

/* Someone's PERSIST, or a dump that was restored, must lock nobody out for ever. */
Test(redis_script_keys, a_counter_without_a_time_to_live_is_given_one)
{
    static const uint64_t hits[] = {1, 0};

    for (size_t i = 0; i < sizeof hits / sizeof hits[0]; i++) {
        struct wr_take take = charge_of("a", hits[i]);
        char end_ms[32];

        expect_answer("OK", wr_script_bed_ask(&script_bed, "SET a 2"));
        cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 1 - hits[i]);
        cr_assert_eq(script_bed.notes.n_repaired, 1u);
        expect_answer(window_end_ms(DAY + MINUTE, end_ms, sizeof end_ms),
                      wr_script_bed_ask(&script_bed, "PEXPIRETIME a"));
        expect_answer(hits[i] == 1 ? "3" : "2", wr_script_bed_ask(&script_bed, "GET a"));
        cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        cr_assert_eq(script_bed.notes.n_repaired, 0u);
    }
}

Test(redis_script_keys, a_count_below_nothing_is_nothing)
{
    static const struct {
        int count; /* that somebody wrote */
        uint64_t hits;
        const char *after;
    } rows[] = {{-5, 0, "-5"}, {-5, 1, "1"}, {-1, 1, "1"}, {-1, 3, "3"}, {-2, 3, "3"}};
    char end_ms[32];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_take take = charge_of("a", rows[i].hits);

        expect_answer("OK", wr_script_bed_ask(&script_bed, "SET a %d PXAT %s", rows[i].count,
                                              window_end_ms(DAY + MINUTE, end_ms, sizeof end_ms)));
        cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        expect_left(take, 3 - rows[i].hits);
        expect_answer(rows[i].after, wr_script_bed_ask(&script_bed, "GET a"));
    }
}

/* Somebody else's number; ours never get there. */
Test(redis_script_keys, a_count_beyond_all_counts_is_the_largest)
{
    static const char *const counts[] = {"9007199254740999", "9223372036854775807",
                                         "99999999999999999999999"};
    char end_ms[32];

    (void) window_end_ms(DAY + MINUTE, end_ms, sizeof end_ms);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct wr_take take = charge_of("a", 1);

        expect_answer("OK", wr_script_bed_ask(&script_bed, "SET a %s PXAT %s", counts[i], end_ms));
        cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "%s", script_bed.text);
        cr_assert(take.verdict.over);
        expect_answer("9007199254740991", wr_script_bed_ask(&script_bed, "GET a"));
        expect_answer("OK", wr_script_bed_ask(&script_bed, "SET a %s PXAT %s", counts[i], end_ms));
        take.hits = WR_COUNT_MAX;
        take.is_refund = true;
        cr_assert_eq(charge(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "%s", script_bed.text);
        expect_left(take, 3);
        expect_answer("0", wr_script_bed_ask(&script_bed, "GET a"));
        expect_answer(end_ms, wr_script_bed_ask(&script_bed, "PEXPIRETIME a"));
    }
}

/* What the incumbent writes lives longer than its window, with jitter, and is renewed by each hit;
 * the count goes on all the same, and new keys live long enough for a clock that is behind. */
Test(redis_script_keys, keys_that_name_their_window_have_one_in_their_life)
{
    struct wr_take takes[] = {charge_of("d_k_v_4102444800", 1), charge_of("new", 1)};
    char end_ms[32];

    script_bed.has_dated_keys = true;
    expect_answer("1", wr_script_bed_ask(&script_bed, "INCRBY d_k_v_4102444800 1"));
    expect_answer("1", wr_script_bed_ask(&script_bed, "PEXPIREAT d_k_v_4102444800 4102445199000"));
    cr_assert_eq(charge(takes, 2, DAY + S(59), 0), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(takes[0], 1);
    cr_assert_eq(takes[0].verdict.reset_us, S(1));
    expect_left(takes[1], 2);
    expect_answer("2", wr_script_bed_ask(&script_bed, "GET d_k_v_4102444800"));
    expect_answer("4102445199000", wr_script_bed_ask(&script_bed, "PEXPIRETIME d_k_v_4102444800"));
    expect_answer(window_end_ms(DAY + S(59) + MINUTE, end_ms, sizeof end_ms),
                  wr_script_bed_ask(&script_bed, "PEXPIRETIME new"));
    cr_assert_eq(charge(takes, 2, DAY + S(61), 0), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(takes[0], 0);
    expect_left(takes[1], 1);
    expect_answer("1", wr_script_bed_ask(&script_bed, "PERSIST new"));
    cr_assert_eq(charge(takes, 2, DAY + S(62), 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert(takes[0].verdict.over);
    cr_assert_eq(script_bed.notes.n_repaired, 1u);
    expect_answer(window_end_ms(DAY + S(62) + MINUTE, end_ms, sizeof end_ms),
                  wr_script_bed_ask(&script_bed, "PEXPIRETIME new"));
}

/* A key that holds something else is left as it is, with and without a time to live, and the other
 * takes of the call count. */
static void leave_alone(const char *maker, const char *expiry, uint64_t hits)
{
    struct wr_take takes[] = {charge_of("b", 1), charge_of("a", hits), charge_of("c", 1)};
    char encoding[32], expires[32];

    expect_answer("OK", wr_script_bed_ask(&script_bed, "FLUSHALL"));
    (void) wr_script_bed_ask(&script_bed, maker);
    (void) wr_script_bed_ask(&script_bed, expiry);
    (void) snprintf(encoding, sizeof encoding, "%.30s",
                    wr_script_bed_ask(&script_bed, "OBJECT ENCODING a"));
    (void) snprintf(expires, sizeof expires, "%.30s",
                    wr_script_bed_ask(&script_bed, "PEXPIRETIME a"));
    cr_assert_eq(charge(takes, 3, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "%s, %s: %s", maker, expiry,
                 script_bed.text);
    expect_left(takes[0], 2);
    cr_assert_eq(takes[1].answer, WR_TAKE_AWAY, "%s, %s", maker, expiry);
    expect_left(takes[2], 2);
    cr_assert_eq(script_bed.notes.n_foreign, 1u);
    expect_answer(encoding, wr_script_bed_ask(&script_bed, "OBJECT ENCODING a"));
    expect_answer(expires, wr_script_bed_ask(&script_bed, "PEXPIRETIME a"));
    expect_answer("1", wr_script_bed_ask(&script_bed, "GET b"));
    expect_answer("1", wr_script_bed_ask(&script_bed, "GET c"));
}

Test(redis_script_keys, foreign_keys_are_left_alone)
{
    static const char *const makers[] = {
        "RPUSH a x", "HSET a x y", "SET a text", "SET a 1.5", "SADD a 1", "SET a 0x10", "SET a 007",
    };
    static const char *const expiries[] = {"PERSIST a", "PEXPIREAT a 4102444860000",
                                           "PEXPIREAT a 4102444800000",
                                           "PEXPIREAT a 9102444800000"};

    for (size_t i = 0; i < sizeof makers / sizeof makers[0]; i++) {
        for (size_t k = 0; k < sizeof expiries / sizeof expiries[0]; k++) {
            for (uint64_t hits = 0; hits < 3; hits++) {
                leave_alone(makers[i], expiries[k], hits);
            }
        }
    }
}

Test(redis_script_keys, a_foreign_key_refuses_its_group)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1)};

    takes[0].limit.count = takes[1].limit.count = WR_COUNT_ALL_OR_NOTHING;
    expect_answer("1", wr_script_bed_ask(&script_bed, "RPUSH b x"));
    cr_assert_eq(charge(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(takes[0], 3);
    cr_assert_eq(takes[1].answer, WR_TAKE_AWAY);
    expect_answer("0", wr_script_bed_ask(&script_bed, "EXISTS a"));
    takes[1].is_enforced = false;
    cr_assert_eq(charge(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(takes[0], 2);
}

/* Of foreign keys as of those without room: the caller comes again, and is charged then. */
Test(redis_script_keys, a_foreign_key_stops_the_others_when_charging_stops)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1)};

    expect_answer("1", wr_script_bed_ask(&script_bed, "RPUSH b x"));
    wr_script_bed_send(&script_bed, takes, 2, WR_CHARGE_STOP, DAY, 0);
    cr_assert_eq(wr_script_bed_receive(&script_bed, takes, 2), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(takes[0], 3);
    cr_assert_eq(takes[1].answer, WR_TAKE_AWAY);
    expect_answer("0", wr_script_bed_ask(&script_bed, "EXISTS a"));
    takes[1].is_enforced = false;
    wr_script_bed_send(&script_bed, takes, 2, WR_CHARGE_STOP, DAY, 0);
    cr_assert_eq(wr_script_bed_receive(&script_bed, takes, 2), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(takes[0], 2);
    takes[1].is_enforced = takes[1].is_refund = true;
    wr_script_bed_send(&script_bed, takes, 2, WR_CHARGE_STOP, DAY, 0);
    cr_assert_eq(wr_script_bed_receive(&script_bed, takes, 2), WR_REDIS_SCRIPT_ANSWERED);
    expect_left(takes[0], 1);
}
