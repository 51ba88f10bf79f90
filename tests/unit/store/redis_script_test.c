/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis/script.h"

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limit/calendar.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/script_bed.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define DAY WR_SCRIPT_BED_DAY
#define MINUTE S(60)
#define MAX_TAKES 4

static struct wr_script_bed bed;

static void begin(void)
{
    cr_assert(wr_script_bed_init(&bed));
}

static void end(void)
{
    wr_script_bed_fini(&bed);
}

TestSuite(redis_script, .init = begin, .fini = end);

static void ask_is(const char *want, const char *got)
{
    cr_assert_str_eq(got, want, "%s, not %s", got, want);
}

/* ---- verdicts, by tables ---- */

/* A take and what it comes to; all counters are of a minute. */
struct row {
    const char *key;
    int64_t hits; /* below 0: a refund */
    uint64_t requests;
    int64_t left; /* OVER, or what remains */
    enum wr_count count;
    uint32_t group;
    bool is_shadow;
};

/* A call at a time after DAY, and how long the window goes on. */
struct step {
    int64_t at_us;
    int64_t reset_us;
    struct row rows[MAX_TAKES];
    enum wr_charge_mode mode;
};

#define ALL WR_COUNT_ALL
#define ADMITTED WR_COUNT_ADMITTED
#define OR_NOTHING WR_COUNT_ALL_OR_NOTHING
#define OVER (-1)

#define AT(at, reset, ...)                                                                         \
    {                                                                                              \
        .at_us = (at), .reset_us = (reset), .rows = { __VA_ARGS__ }                                \
    }
#define STOP_AT(at, reset, ...)                                                                    \
    {                                                                                              \
        .at_us = (at), .reset_us = (reset), .rows = {__VA_ARGS__}, .mode = WR_CHARGE_STOP          \
    }
#define ROW(key_, hits_, requests_, left_)                                                         \
    .key = (key_), .hits = (hits_), .requests = (requests_), .left = (left_)
#define TAKE(...)                                                                                  \
    {                                                                                              \
        ROW(__VA_ARGS__)                                                                           \
    }
#define COUNT(count_, ...)                                                                         \
    {                                                                                              \
        ROW(__VA_ARGS__), .count = (count_)                                                        \
    }
#define GROUP(group_, count_, ...)                                                                 \
    {                                                                                              \
        ROW(__VA_ARGS__), .count = (count_), .group = (group_)                                     \
    }
#define SHADOW(count_, ...)                                                                        \
    {                                                                                              \
        ROW(__VA_ARGS__), .count = (count_), .is_shadow = true                                     \
    }

static size_t make_takes(const struct step *step, struct wr_take *takes)
{
    size_t n = 0;

    for (; n < MAX_TAKES && step->rows[n].key != NULL; n++) {
        const struct row *const row = &step->rows[n];

        takes[n] = (struct wr_take){
            .key = wr_str_of(row->key),
            .limit = {.requests = row->requests, .length_us = MINUTE, .count = row->count},
            .hits = (uint64_t) (row->hits < 0 ? -row->hits : row->hits),
            .group = row->group,
            .is_refund = row->hits < 0,
            .is_enforced = !row->is_shadow,
        };
    }
    return n;
}

static void play_step(const char *story, size_t i, const struct step *step)
{
    struct wr_take takes[MAX_TAKES];
    const size_t n = make_takes(step, takes);

    wr_script_bed_send(&bed, takes, n, step->mode, DAY + step->at_us, 0);
    cr_assert_eq(wr_script_bed_receive(&bed, takes, n), WR_REDIS_SCRIPT_ANSWERED, "%s, row %zu: %s",
                 story, i, bed.text);
    cr_assert_eq(bed.notes.now_us, DAY + step->at_us);
    for (size_t k = 0; k < n; k++) {
        const struct wr_verdict *const got = &takes[k].verdict;

        cr_assert_eq(takes[k].answer, WR_TAKE_DECIDED, "%s, row %zu, take %zu", story, i, k);
        cr_assert_eq(got->over, step->rows[k].left == OVER, "%s, row %zu, take %zu: over is %d",
                     story, i, k, got->over);
        cr_assert_eq(got->remaining, step->rows[k].left == OVER ? 0 : (uint64_t) step->rows[k].left,
                     "%s, row %zu, take %zu: remaining is %" PRIu64, story, i, k, got->remaining);
        cr_assert_eq(got->enforced, step->rows[k].requests);
        cr_assert_eq(got->reset_us, step->reset_us, "%s, row %zu, take %zu: reset is %" PRId64,
                     story, i, k, got->reset_us);
    }
}

/* Each story has counters of its own: it begins with FLUSHALL. */
static void play(const char *story, const struct step *steps, size_t n)
{
    ask_is("OK", wr_script_bed_ask(&bed, "FLUSHALL"));
    for (size_t i = 0; i < n; i++) {
        play_step(story, i, &steps[i]);
    }
}

#define PLAY(steps) play(#steps, (steps), sizeof(steps) / sizeof((steps)[0]))

Test(redis_script, counts_in_windows)
{
    const struct step counts_and_begins_anew[] = {
        AT(S(100), S(20), TAKE("a", 1, 3, 2)),
        AT(S(101), S(19), TAKE("a", 2, 3, 0), TAKE("b", 1, 3, 2)),
        AT(S(120) - 1, 1, TAKE("a", 1, 3, OVER)),
        AT(S(120), S(60), TAKE("a", 1, 3, 2), TAKE("b", 1, 3, 2)),
        AT(S(500), S(40), TAKE("a", 0, 3, 3)),
    };
    const struct step overshoots_and_gives_back[] = {
        AT(S(0), S(60), TAKE("a", 5, 3, OVER)),
        AT(S(0), S(60), TAKE("a", -2, 3, 0)),
        AT(S(0), S(60), TAKE("a", 0, 3, 0)),
        AT(S(0), S(60), TAKE("a", -1, 3, 1)),
        AT(S(0), S(60), TAKE("a", -99, 3, 3)),
        AT(S(0), S(60), TAKE("b", -5, 3, 3)),
        AT(S(0), S(60), TAKE("b", 3, 3, 0)),
        AT(S(0), S(60), TAKE("b", 9, 3, OVER), TAKE("b", -3, 3, 0)),
    };
    const struct step looks_take_nothing[] = {
        AT(S(0), S(60), TAKE("a", 0, 3, 3)),
        AT(S(0), S(60), TAKE("a", 3, 3, 0), TAKE("a", 0, 3, 0)),
        AT(S(0), S(60), TAKE("a", 1, 3, OVER), TAKE("a", 0, 3, OVER), TAKE("a", 0, 5, 1)),
    };
    const struct step follows_a_changed_number[] = {
        AT(S(0), S(60), TAKE("a", 3, 3, 0)),
        AT(S(0), S(60), TAKE("a", 1, 5, 1)),
        AT(S(0), S(60), TAKE("a", 0, 2, OVER)),
    };
    const struct step nothing_allowed[] = {
        AT(S(0), S(60), TAKE("a", 0, 0, 0)),    AT(S(0), S(60), TAKE("a", 1, 0, OVER)),
        AT(S(0), S(60), TAKE("a", 0, 0, OVER)), AT(S(0), S(60), TAKE("a", -1, 0, 0)),
        AT(S(0), S(60), TAKE("a", 0, 0, 0)),
    };
    const struct step largest_limit[] = {
        AT(S(0), S(60), TAKE("a", UINT32_MAX - 1, UINT32_MAX, 1)),
        AT(S(0), S(60), TAKE("a", 1, UINT32_MAX, 0)),
        AT(S(0), S(60), TAKE("a", 1, UINT32_MAX, OVER)),
    };

    PLAY(counts_and_begins_anew);
    PLAY(overshoots_and_gives_back);
    PLAY(looks_take_nothing);
    PLAY(follows_a_changed_number);
    PLAY(nothing_allowed);
    PLAY(largest_limit);
}

Test(redis_script, saturates)
{
    const int64_t most = (int64_t) WR_COUNT_MAX;
    const struct step in_one_take[] = {
        AT(S(0), S(60), TAKE("a", INT64_MAX, 9, OVER)),
        AT(S(0), S(60), TAKE("a", -(most - 4), 9, 5)),
    };
    const struct step by_many[] = {
        AT(S(0), S(60), TAKE("a", most - 1, 9, OVER)),
        AT(S(0), S(60), TAKE("a", 5, 9, OVER)),
        AT(S(0), S(60), TAKE("a", most, 9, OVER), TAKE("a", most, 9, OVER)),
        AT(S(0), S(60), TAKE("a", 0, 9, OVER), TAKE("a", most, 9, OVER)),
        AT(S(0), S(60), TAKE("a", -(most - 1), 9, 8)),
    };

    PLAY(in_one_take);
    PLAY(by_many);
    ask_is("1", wr_script_bed_ask(&bed, "GET a"));
}

/* A take that comes late counts in the newer window; a start further ahead is not believed. */
Test(redis_script, time_goes_back)
{
    const struct step by_a_little[] = {
        AT(S(60), S(60), TAKE("a", 3, 3, 0)),
        AT(S(60) - 1, S(60), TAKE("a", 1, 3, OVER)),
        AT(S(0), S(60), TAKE("a", 0, 3, OVER), TAKE("b", 1, 3, 2)),
        AT(S(61), S(59), TAKE("a", -2, 3, 1)),
    };
    const struct step by_more_than_a_window[] = {
        AT(S(120), S(60), TAKE("a", 3, 3, 0), TAKE("b", 3, 3, 0)),
        AT(S(60) - 1, 1, TAKE("a", 1, 3, 2)),
        AT(S(60) - 1, 1, TAKE("a", 1, 3, 1), TAKE("b", 0, 3, 3)),
        AT(S(121), S(59), TAKE("a", 1, 3, 2), TAKE("b", 0, 3, OVER)),
    };

    PLAY(by_a_little);
    ask_is("OK", wr_script_bed_ask(&bed, "FLUSHALL"));
    play_step("ahead", 0, &by_more_than_a_window[0]);
    cr_assert_eq(bed.notes.n_restarted, 0u);
    play_step("ahead", 1, &by_more_than_a_window[1]);
    cr_assert_eq(bed.notes.n_restarted, 1u);
    play_step("ahead", 2, &by_more_than_a_window[2]);
    cr_assert_eq(bed.notes.n_restarted, 1u, "that of b");
}

Test(redis_script, charges_by_count)
{
    const struct step only_what_fits[] = {
        AT(S(0), S(60), COUNT(ADMITTED, "a", 2, 3, 1)),
        AT(S(0), S(60), COUNT(ADMITTED, "a", 2, 3, OVER), COUNT(ADMITTED, "a", 1, 3, 0)),
        AT(S(0), S(60), COUNT(ADMITTED, "b", 9, 3, OVER), COUNT(ADMITTED, "b", 0, 3, 3)),
    };
    const struct step all_or_nothing[] = {
        AT(S(0), S(60), COUNT(OR_NOTHING, "a", 1, 9, 8), COUNT(OR_NOTHING, "b", 1, 1, 0)),
        AT(S(0), S(60), COUNT(OR_NOTHING, "a", 1, 9, 8), COUNT(OR_NOTHING, "b", 1, 1, OVER)),
        AT(S(0), S(60), COUNT(OR_NOTHING, "b", 1, 1, OVER), COUNT(OR_NOTHING, "a", 1, 9, 8)),
        AT(S(0), S(60), TAKE("a", 0, 9, 8), TAKE("b", 0, 1, 0)),
    };
    const struct step a_look_that_is_over_refuses[] = {
        AT(S(0), S(60), TAKE("b", 2, 1, OVER)),
        AT(S(0), S(60), COUNT(OR_NOTHING, "a", 1, 9, 9), COUNT(OR_NOTHING, "b", 0, 1, OVER)),
        AT(S(0), S(60), TAKE("b", -1, 1, 0)),
        AT(S(0), S(60), COUNT(OR_NOTHING, "a", 1, 9, 8), COUNT(OR_NOTHING, "b", 0, 1, 0)),
    };
    const struct step groups_are_apart[] = {
        AT(S(0), S(60), GROUP(1, OR_NOTHING, "a", 1, 9, 9), GROUP(1, OR_NOTHING, "b", 2, 1, OVER),
           GROUP(2, OR_NOTHING, "c", 1, 9, 8), GROUP(2, OR_NOTHING, "a", 1, 9, 8)),
    };
    const struct step other_counts_in_a_refused_group[] = {
        AT(S(0), S(60), COUNT(OR_NOTHING, "a", 1, 9, 9), TAKE("b", 2, 1, OVER),
           COUNT(ADMITTED, "c", 1, 9, 8), COUNT(OR_NOTHING, "d", -1, 9, 9)),
        AT(S(0), S(60), TAKE("b", 0, 3, 1)),
    };
    const struct step shadows_block_nobody[] = {
        AT(S(0), S(60), COUNT(OR_NOTHING, "a", 1, 9, 8), SHADOW(OR_NOTHING, "b", 2, 1, OVER)),
        AT(S(0), S(60), SHADOW(OR_NOTHING, "b", 1, 9, 7), COUNT(OR_NOTHING, "c", 2, 1, OVER)),
        AT(S(0), S(60), SHADOW(OR_NOTHING, "b", 1, 2, OVER), COUNT(OR_NOTHING, "c", 2, 1, OVER)),
        AT(S(0), S(60), TAKE("b", 0, 9, 7)),
    };
    const struct step one_key_adds_up[] = {
        AT(S(0), S(60), COUNT(OR_NOTHING, "a", 2, 3, OVER), COUNT(OR_NOTHING, "a", 2, 3, OVER),
           COUNT(OR_NOTHING, "b", 1, 3, 3)),
        AT(S(0), S(60), COUNT(OR_NOTHING, "a", 1, 3, 2), COUNT(OR_NOTHING, "a", 2, 3, 0)),
        AT(S(0), S(60), GROUP(1, OR_NOTHING, "a", 1, 3, OVER), GROUP(1, ALL, "a", -1, 3, 1)),
    };

    PLAY(only_what_fits);
    PLAY(all_or_nothing);
    PLAY(a_look_that_is_over_refuses);
    PLAY(groups_are_apart);
    PLAY(other_counts_in_a_refused_group);
    PLAY(shadows_block_nobody);
    PLAY(one_key_adds_up);
}

Test(redis_script, stops)
{
    const struct step others_are_looked_at[] = {
        STOP_AT(S(0), S(60), TAKE("a", 1, 9, 8), TAKE("b", 1, 1, 0)),
        STOP_AT(S(0), S(60), TAKE("a", 1, 9, 8), TAKE("b", 1, 1, OVER)),
        AT(S(0), S(60), TAKE("b", 0, 9, 7)),
        STOP_AT(S(0), S(60), SHADOW(ALL, "b", 1, 1, OVER), TAKE("a", 1, 9, 8)),
        STOP_AT(S(0), S(60), TAKE("b", 0, 1, OVER), TAKE("a", -1, 9, 9)),
    };
    const struct step counts_and_groups_have_no_say[] = {
        STOP_AT(S(0), S(60), GROUP(1, ADMITTED, "a", 5, 3, OVER), GROUP(2, ALL, "b", 1, 3, 3)),
        AT(S(0), S(60), TAKE("a", 0, 9, 4)),
    };
    const struct step of_one_key_each_is_judged_alone[] = {
        STOP_AT(S(0), S(60), TAKE("a", 1, 2, 1), TAKE("a", 1, 2, 0), TAKE("a", 1, 2, OVER)),
        AT(S(0), S(60), TAKE("a", 0, 9, 6)),
    };

    PLAY(others_are_looked_at);
    PLAY(counts_and_groups_have_no_say);
    PLAY(of_one_key_each_is_judged_alone);
}

/* ---- what is in Redis ---- */

static struct wr_take charge_of(const char *key, uint64_t hits)
{
    return (struct wr_take){
        .key = wr_str_of(key),
        .limit = {.requests = 3, .length_us = MINUTE},
        .hits = hits,
        .is_enforced = true,
    };
}

static enum wr_redis_script_reply run(struct wr_take *takes, size_t n, int64_t now_us,
                                      int64_t not_after_us)
{
    wr_script_bed_send(&bed, takes, n, WR_CHARGE_BY_COUNT, now_us, not_after_us);
    return wr_script_bed_receive(&bed, takes, n);
}

static void is_left(struct wr_take take, uint64_t remaining)
{
    cr_assert_eq(take.answer, WR_TAKE_DECIDED);
    cr_assert(!take.verdict.over);
    cr_assert_eq(take.verdict.remaining, remaining, "remaining is %" PRIu64,
                 take.verdict.remaining);
}

static char *window_end_ms(int64_t end_us, char *text, size_t size)
{
    (void) snprintf(text, size, "%" PRId64, (end_us + 999) / 1000);
    return text;
}

Test(redis_script, a_counter_is_a_number_that_expires_with_its_window)
{
    struct wr_take takes[] = {charge_of("a", 2), charge_of("b", 0)};
    char end_ms[32];

    cr_assert_eq(run(takes, 2, DAY + S(30), 0), WR_REDIS_SCRIPT_ANSWERED);
    ask_is("2", wr_script_bed_ask(&bed, "GET a"));
    ask_is(window_end_ms(DAY + MINUTE, end_ms, sizeof end_ms),
           wr_script_bed_ask(&bed, "PEXPIRETIME a"));
    ask_is("0", wr_script_bed_ask(&bed, "EXISTS b"));
    cr_assert_eq(run(takes, 1, DAY + S(31), 0), WR_REDIS_SCRIPT_ANSWERED);
    ask_is("4", wr_script_bed_ask(&bed, "GET a"));
    ask_is(end_ms, wr_script_bed_ask(&bed, "PEXPIRETIME a"));
}

Test(redis_script, windows_need_not_be_whole_milliseconds)
{
    const int64_t length_us = 10001;
    const int64_t start_us = DAY - DAY % length_us;
    struct wr_take take = charge_of("a", 1);

    take.limit.length_us = length_us;
    for (int64_t window = 0; window < 1000; window++) {
        const int64_t begin_us = start_us + window * length_us;

        cr_assert_eq(run(&take, 1, begin_us, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 2);
        cr_assert_eq(take.verdict.reset_us, length_us);
        cr_assert_eq(run(&take, 1, begin_us + length_us - 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 1);
        cr_assert_eq(take.verdict.reset_us, 1);
    }
}

Test(redis_script, counts_by_the_clock_of_redis)
{
    struct wr_take take = charge_of("a", 1);
    const int64_t before_us = strtoll(wr_script_bed_ask(&bed, "EVAL %s 0",
                                                        "local t = redis.call('TIME') "
                                                        "return t[1] * 1000000 + t[2]"),
                                      NULL, 10);

    cr_assert_eq(run(&take, 1, 0, 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert(bed.notes.now_us >= before_us && bed.notes.now_us < before_us + S(60));
    cr_assert_eq(take.verdict.reset_us, MINUTE - bed.notes.now_us % MINUTE);
}

/* Someone's PERSIST, or a dump that was restored, must lock nobody out for ever. */
Test(redis_script, a_counter_without_a_time_to_live_is_given_one)
{
    static const uint64_t hits[] = {1, 0};

    for (size_t i = 0; i < sizeof hits / sizeof hits[0]; i++) {
        struct wr_take take = charge_of("a", hits[i]);
        char end_ms[32];

        ask_is("OK", wr_script_bed_ask(&bed, "SET a 2"));
        cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 1 - hits[i]);
        cr_assert_eq(bed.notes.n_repaired, 1u);
        ask_is(window_end_ms(DAY + MINUTE, end_ms, sizeof end_ms),
               wr_script_bed_ask(&bed, "PEXPIRETIME a"));
        ask_is(hits[i] == 1 ? "3" : "2", wr_script_bed_ask(&bed, "GET a"));
        cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        cr_assert_eq(bed.notes.n_repaired, 0u);
    }
}

Test(redis_script, a_count_below_nothing_is_nothing)
{
    static const struct {
        int count; /* that somebody wrote */
        uint64_t hits;
        const char *after;
    } rows[] = {{-5, 0, "-5"}, {-5, 1, "1"}, {-1, 1, "1"}, {-1, 3, "3"}, {-2, 3, "3"}};
    char end_ms[32];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_take take = charge_of("a", rows[i].hits);

        ask_is("OK", wr_script_bed_ask(&bed, "SET a %d PXAT %s", rows[i].count,
                                       window_end_ms(DAY + MINUTE, end_ms, sizeof end_ms)));
        cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 3 - rows[i].hits);
        ask_is(rows[i].after, wr_script_bed_ask(&bed, "GET a"));
    }
}

/* Somebody else's number; ours never get there. */
Test(redis_script, a_count_beyond_all_counts_is_the_largest)
{
    static const char *const counts[] = {"9007199254740999", "9223372036854775807",
                                         "99999999999999999999999"};
    char end_ms[32];

    (void) window_end_ms(DAY + MINUTE, end_ms, sizeof end_ms);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        struct wr_take take = charge_of("a", 1);

        ask_is("OK", wr_script_bed_ask(&bed, "SET a %s PXAT %s", counts[i], end_ms));
        cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "%s", bed.text);
        cr_assert(take.verdict.over);
        ask_is("9007199254740991", wr_script_bed_ask(&bed, "GET a"));
        ask_is("OK", wr_script_bed_ask(&bed, "SET a %s PXAT %s", counts[i], end_ms));
        take.hits = WR_COUNT_MAX;
        take.is_refund = true;
        cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "%s", bed.text);
        is_left(take, 3);
        ask_is("0", wr_script_bed_ask(&bed, "GET a"));
        ask_is(end_ms, wr_script_bed_ask(&bed, "PEXPIRETIME a"));
    }
}

/* What the incumbent writes lives longer than its window, with jitter, and is renewed by each hit;
 * the count goes on all the same, and new keys live long enough for a clock that is behind. */
Test(redis_script, keys_that_name_their_window_have_one_in_their_life)
{
    struct wr_take takes[] = {charge_of("d_k_v_4102444800", 1), charge_of("new", 1)};
    char end_ms[32];

    bed.has_dated_keys = true;
    ask_is("1", wr_script_bed_ask(&bed, "INCRBY d_k_v_4102444800 1"));
    ask_is("1", wr_script_bed_ask(&bed, "PEXPIREAT d_k_v_4102444800 4102445199000"));
    cr_assert_eq(run(takes, 2, DAY + S(59), 0), WR_REDIS_SCRIPT_ANSWERED);
    is_left(takes[0], 1);
    cr_assert_eq(takes[0].verdict.reset_us, S(1));
    is_left(takes[1], 2);
    ask_is("2", wr_script_bed_ask(&bed, "GET d_k_v_4102444800"));
    ask_is("4102445199000", wr_script_bed_ask(&bed, "PEXPIRETIME d_k_v_4102444800"));
    ask_is(window_end_ms(DAY + S(59) + MINUTE, end_ms, sizeof end_ms),
           wr_script_bed_ask(&bed, "PEXPIRETIME new"));
    cr_assert_eq(run(takes, 2, DAY + S(61), 0), WR_REDIS_SCRIPT_ANSWERED);
    is_left(takes[0], 0);
    is_left(takes[1], 1);
    ask_is("1", wr_script_bed_ask(&bed, "PERSIST new"));
    cr_assert_eq(run(takes, 2, DAY + S(62), 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert(takes[0].verdict.over);
    cr_assert_eq(bed.notes.n_repaired, 1u);
    ask_is(window_end_ms(DAY + S(62) + MINUTE, end_ms, sizeof end_ms),
           wr_script_bed_ask(&bed, "PEXPIRETIME new"));
}

/* A key that holds something else is left as it is, with and without a time to live, and the other
 * takes of the call count. */
static void leave_alone(const char *maker, const char *expiry, uint64_t hits)
{
    struct wr_take takes[] = {charge_of("b", 1), charge_of("a", hits), charge_of("c", 1)};
    char encoding[32], expires[32];

    ask_is("OK", wr_script_bed_ask(&bed, "FLUSHALL"));
    (void) wr_script_bed_ask(&bed, maker);
    (void) wr_script_bed_ask(&bed, expiry);
    (void) snprintf(encoding, sizeof encoding, "%.30s",
                    wr_script_bed_ask(&bed, "OBJECT ENCODING a"));
    (void) snprintf(expires, sizeof expires, "%.30s", wr_script_bed_ask(&bed, "PEXPIRETIME a"));
    cr_assert_eq(run(takes, 3, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "%s, %s: %s", maker, expiry,
                 bed.text);
    is_left(takes[0], 2);
    cr_assert_eq(takes[1].answer, WR_TAKE_AWAY, "%s, %s", maker, expiry);
    is_left(takes[2], 2);
    cr_assert_eq(bed.notes.n_foreign, 1u);
    ask_is(encoding, wr_script_bed_ask(&bed, "OBJECT ENCODING a"));
    ask_is(expires, wr_script_bed_ask(&bed, "PEXPIRETIME a"));
    ask_is("1", wr_script_bed_ask(&bed, "GET b"));
    ask_is("1", wr_script_bed_ask(&bed, "GET c"));
}

Test(redis_script, foreign_keys_are_left_alone)
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

Test(redis_script, a_foreign_key_refuses_its_group)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1)};

    takes[0].limit.count = takes[1].limit.count = WR_COUNT_ALL_OR_NOTHING;
    ask_is("1", wr_script_bed_ask(&bed, "RPUSH b x"));
    cr_assert_eq(run(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    is_left(takes[0], 3);
    cr_assert_eq(takes[1].answer, WR_TAKE_AWAY);
    ask_is("0", wr_script_bed_ask(&bed, "EXISTS a"));
    takes[1].is_enforced = false;
    cr_assert_eq(run(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    is_left(takes[0], 2);
}

/* ---- kinds that are no plain windows ---- */

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

    ask_is("OK", wr_script_bed_ask(&bed, "FLUSHALL"));
    cr_assert_eq(run(&take, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED, "kind %zu: %s", i, bed.text);
    is_left(take, 2);
}

Test(redis_script, every_kind_lives_until_it_is_as_good_as_never_hit)
{
    for (size_t i = 0; i < N_KIND_ROWS; i++) {
        struct wr_take none = take_of_kind(i, 0);

        begin_kind(i);
        ask_is(kind_rows[i].expiry_ms, wr_script_bed_ask(&bed, "PEXPIRETIME a"));
        cr_assert_eq(run(&none, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(none, 2);
        ask_is("OK", wr_script_bed_ask(&bed, "FLUSHALL"));
        cr_assert_eq(run(&none, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(none, 3);
        ask_is("0", wr_script_bed_ask(&bed, "EXISTS a"));
    }
}

/* What it holds says when it ends, so that it locks nobody out meanwhile. */
Test(redis_script, every_kind_is_given_a_lost_time_to_live_by_the_next_hit)
{
    for (size_t i = 0; i < N_KIND_ROWS; i++) {
        struct wr_take take = take_of_kind(i, 1);

        begin_kind(i);
        ask_is("1", wr_script_bed_ask(&bed, "PERSIST a"));
        cr_assert_eq(run(&take, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 1);
        cr_assert_str_neq(wr_script_bed_ask(&bed, "PEXPIRETIME a"), "-1", "kind %zu", i);
        ask_is("1", wr_script_bed_ask(&bed, "PERSIST a"));
        cr_assert_eq(run(&take, 1, DAY + S(2 * 86400), 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 2);
        cr_assert_str_neq(wr_script_bed_ask(&bed, "PEXPIRETIME a"), "-1", "kind %zu", i);
    }
}

/* A counter of another time, further ahead than a window, is never hit. */
Test(redis_script, every_kind_begins_anew_when_time_went_far_back)
{
    for (size_t i = 0; i < N_KIND_ROWS; i++) {
        struct wr_take take = take_of_kind(i, 3);

        begin_kind(i);
        take.hits = 2;
        cr_assert_eq(run(&take, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 0);
        take.hits = 1;
        cr_assert_eq(run(&take, 1, DAY - S(4 * 86400), 0), WR_REDIS_SCRIPT_ANSWERED);
        if (take.limit.algorithm == WR_ALGORITHM_TOKEN_BUCKET) {
            cr_assert(take.verdict.over, "it is cut to a full burst");
        } else {
            is_left(take, 2);
            cr_assert_eq(bed.notes.n_restarted, 1u, "kind %zu", i);
        }
    }
}

/* Also where it is charged all or nothing. */
Test(redis_script, every_kind_admits_after_the_wait_that_it_told_when_time_went_far_back)
{
    static const enum wr_count counts[] = {WR_COUNT_ADMITTED, WR_COUNT_ALL_OR_NOTHING};

    for (size_t i = 0; i < 2 * N_KIND_ROWS; i++) {
        int64_t now_us = DAY - S(4 * 86400);
        struct wr_take take = take_of_kind(i / 2, 2);

        begin_kind(i / 2);
        take.limit.count = counts[i % 2];
        cr_assert_eq(run(&take, 1, DAY + 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 0);
        take.hits = 1;
        cr_assert_eq(run(&take, 1, now_us, 0), WR_REDIS_SCRIPT_ANSWERED);
        if (take.verdict.over) {
            cr_assert_leq(take.verdict.reset_us, MINUTE, "kind %zu", i / 2);
            now_us += take.verdict.reset_us;
            cr_assert_eq(run(&take, 1, now_us, 0), WR_REDIS_SCRIPT_ANSWERED);
        }
        cr_assert_not(take.verdict.over, "kind %zu, count %d", i / 2, (int) counts[i % 2]);
    }
}

/* Bytes of other kinds, of lengths that could be theirs, and numbers that are none. */
Test(redis_script, every_kind_leaves_foreign_keys_alone)
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

            ask_is("OK", wr_script_bed_ask(&bed, "FLUSHALL"));
            (void) wr_script_bed_ask(&bed, makers[k]);
            ask_is("1", wr_script_bed_ask(&bed, "EXISTS a"));
            cr_assert_eq(run(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "kind %zu, %s: %s", i,
                         makers[k], bed.text);
            cr_assert_eq(takes[0].answer, WR_TAKE_AWAY, "kind %zu, %s", i, makers[k]);
            is_left(takes[1], 2);
            ask_is("-1", wr_script_bed_ask(&bed, "PEXPIRETIME a"));
        }
    }
}

/* Numbers that the packed text of a kind may not have, behind the number of the kind. */
Test(redis_script, numbers_that_are_none_are_foreign)
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
            ask_is("OK", wr_script_bed_ask(&bed, "EVAL %s 0", script));
            cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED, "kind %zu, %s: %s", i,
                         numbers[k], bed.text);
            cr_assert_eq(take.answer, WR_TAKE_AWAY, "kind %zu, %s", i, numbers[k]);
        }
    }
}

/* The callers' clocks name the boundaries, Redis's chooses between them. */
Test(redis_script, calendars_go_by_the_clock_of_redis)
{
    static const int64_t ahead_us[] = {-S(86400), -S(1), 0, S(1), S(86400)};

    for (size_t i = 0; i < sizeof ahead_us / sizeof ahead_us[0]; i++) {
        struct wr_take take = take_of_kind(1, 1);

        ask_is("OK", wr_script_bed_ask(&bed, "FLUSHALL"));
        bed.ahead_us = ahead_us[i];
        cr_assert_eq(run(&take, 1, DAY - 1, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 2);
        cr_assert_eq(take.verdict.reset_us, 1);
        cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        is_left(take, 2);
        cr_assert_eq(take.verdict.reset_us, S(86400));
    }
}

Test(redis_script, tells_what_is_enforced_while_it_warms_up)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1)};

    takes[0].limit = (struct wr_limit){.requests = 10,
                                       .length_us = MINUTE,
                                       .algorithm = WR_ALGORITHM_TOKEN_BUCKET,
                                       .burst = 10,
                                       .warm_up_us = S(10),
                                       .warm_up_start = 5};
    cr_assert_eq(run(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(takes[0].verdict.enforced, 5u);
    is_left(takes[0], 4);
    cr_assert_eq(takes[1].verdict.enforced, 3u);
    is_left(takes[1], 2);
    cr_assert_eq(run(takes, 2, DAY + S(4), 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(takes[0].verdict.enforced, 7u);
    takes[0].key = wr_str_of("list");
    (void) wr_script_bed_ask(&bed, "RPUSH list x");
    cr_assert_eq(run(takes, 2, DAY + S(4), 0), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(takes[0].answer, WR_TAKE_AWAY);
    is_left(takes[1], 0);
}

/* ---- late, lost, refused ---- */

Test(redis_script, what_wakes_too_late_counts_nothing_but_what_must_be_booked)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1), charge_of("a", 1)};

    takes[1].must_book = true;
    cr_assert_eq(run(takes, 3, DAY + 1, DAY), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(bed.notes.n_late, 2u);
    cr_assert_eq(bed.notes.now_us, DAY + 1);
    cr_assert_eq(takes[0].answer, WR_TAKE_LATE);
    is_left(takes[1], 2);
    cr_assert_eq(takes[2].answer, WR_TAKE_LATE);
    ask_is("0", wr_script_bed_ask(&bed, "EXISTS a"));
    cr_assert_eq(run(takes, 3, DAY, DAY), WR_REDIS_SCRIPT_ANSWERED);
    cr_assert_eq(bed.notes.n_late, 0u);
    is_left(takes[2], 1);
}

Test(redis_script, a_full_server_charges_nothing)
{
    struct wr_take takes[] = {charge_of("a", 1), charge_of("b", 1)};

    for (int round = 0; round < 2; round++) {
        cr_assert_eq(run(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
        ask_is("OK", wr_script_bed_ask(&bed, "CONFIG SET maxmemory 1"));
        takes[1].key = wr_str_of("c");
        cr_assert_eq(run(takes, 2, DAY, 0), WR_REDIS_SCRIPT_ERROR);
        cr_assert_eq(strncmp(bed.text, "OOM ", 4), 0, "%s", bed.text);
        ask_is("OK", wr_script_bed_ask(&bed, "CONFIG SET maxmemory 0"));
        ask_is("1", wr_script_bed_ask(&bed, "GET a"));
        ask_is("0", wr_script_bed_ask(&bed, "EXISTS c"));
        ask_is("OK", wr_script_bed_ask(&bed, "FLUSHALL"));
        takes[1].key = wr_str_of("b");
        takes[0].limit.count = WR_COUNT_ADMITTED;
    }
}

/* It is the user's, and no key's. */
Test(redis_script, a_user_who_may_not_read_charges_nothing)
{
    struct wr_take take = charge_of("a", 0);

    ask_is("OK", wr_script_bed_ask(&bed, "SET a 1"));
    ask_is("OK", wr_script_bed_ask(&bed, "ACL SETUSER default -get"));
    cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ERROR);
    ask_is("OK", wr_script_bed_ask(&bed, "ACL SETUSER default +get"));
    cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    is_left(take, 2);
}

Test(redis_script, is_named_by_its_sha1_and_can_be_loaded_again)
{
    struct wr_take take = charge_of("a", 1);
    const struct wr_str sha1 = wr_redis_script_sha1();

    cr_assert_eq(sha1.len, 40u);
    cr_assert_eq(strncmp(bed.text, sha1.ptr, sha1.len), 0, "the server calls it %s", bed.text);
    ask_is("OK", wr_script_bed_ask(&bed, "SCRIPT FLUSH"));
    cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ERROR);
    cr_assert_eq(strncmp(bed.text, "NOSCRIPT ", 9), 0, "%s", bed.text);
    wr_script_bed_load(&bed);
    cr_assert_eq(run(&take, 1, DAY, 0), WR_REDIS_SCRIPT_ANSWERED);
    is_left(take, 2);
}

/* ---- bytes ---- */

static struct wr_str format(const struct wr_redis_script_call *call, struct wr_arena *arena)
{
    struct wr_str command = {0};

    return wr_redis_script_format(call, arena, &command) ? command : (struct wr_str){0};
}

static struct wr_redis_script_call call_of(struct wr_take **take, int64_t not_after_us)
{
    return (struct wr_redis_script_call){
        .keys = &(*take)->key,
        .takes = take,
        .n_takes = 1,
        .not_after_us = not_after_us,
    };
}

/* A server is needed for none of these. */
Test(redis_script_bytes, say_where_the_not_after_is)
{
    struct wr_take plain = charge_of("key", 1), bucket = plain;
    struct wr_take *takes[] = {&plain, &bucket};
    const double want = 1796052591037646.0;

    bucket.limit.algorithm = WR_ALGORITHM_TOKEN_BUCKET;
    bucket.limit.burst = 1;
    for (size_t i = 0; i < 2; i++) {
        const struct wr_redis_script_call call = call_of(&takes[i], 1796052591037646);
        struct wr_arena arena;
        double got;

        wr_arena_init(&arena, 1024);

        const struct wr_str command = format(&call, &arena);
        const size_t at = wr_redis_script_not_after_at(command, &call);

        cr_assert(at > 0 && at + sizeof got <= command.len);
        memcpy(&got, command.ptr + at, sizeof got);
        cr_assert_eq(memcmp(&got, &want, sizeof got), 0, "take %zu", i);
        wr_arena_fini(&arena);
    }
}

Test(redis_script_bytes, fail_cleanly_whichever_allocation_fails)
{
    struct wr_take take = charge_of("key", 1);
    struct wr_take *takes[] = {&take};
    const struct wr_redis_script_call call = call_of(takes, 0);
    size_t n = 0;

    for (;; n++) {
        struct wr_arena arena;

        wr_arena_init(&arena, 16);
        failing_malloc_start(n);

        const struct wr_str command = format(&call, &arena);

        failing_malloc_stop();
        wr_arena_fini(&arena);
        if (command.ptr != NULL) {
            break;
        }
    }
    cr_assert_eq(n, 3u, "the words, what is packed, the command");
}

static redisReply *integer(redisReply *reply, long long value)
{
    *reply = (redisReply){.type = REDIS_REPLY_INTEGER, .integer = value};
    return reply;
}

/* Replies to one take of at most 3 a minute. */
Test(redis_script_bytes, replies_that_the_script_cannot_have_given_are_garbage)
{
    static const struct {
        size_t n;
        long long values[6];
        enum wr_redis_script_reply want;
    } rows[] = {
        {3, {DAY, 3, S(60)}, WR_REDIS_SCRIPT_ANSWERED},
        {3, {DAY, -1, 1}, WR_REDIS_SCRIPT_ANSWERED},
        {3, {DAY, -2, 0}, WR_REDIS_SCRIPT_ANSWERED},
        {3, {DAY, -3, 0}, WR_REDIS_SCRIPT_ANSWERED},
        {5, {DAY, 3, 1, 1, 0}, WR_REDIS_SCRIPT_ANSWERED},
        {0, {0}, WR_REDIS_SCRIPT_GARBAGE},
        {1, {DAY}, WR_REDIS_SCRIPT_GARBAGE},
        {2, {DAY, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {4, {DAY, 1, 1, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {6, {DAY, 1, 1, 1, 1, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {0, 1, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, 4, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, -4, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, 1, 0}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, -1, 0}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, -2, 1}, WR_REDIS_SCRIPT_GARBAGE},
        {3, {DAY, 1, S(60) + 1}, WR_REDIS_SCRIPT_GARBAGE},
        {5, {DAY, 3, 1, -1, 0}, WR_REDIS_SCRIPT_GARBAGE},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wr_take take = charge_of("key", 1);
        struct wr_take *takes[] = {&take};
        struct wr_redis_script_notes notes;
        redisReply values[6];
        redisReply *elements[6];
        redisReply reply = {.type = REDIS_REPLY_ARRAY, .elements = rows[i].n, .element = elements};

        for (size_t k = 0; k < rows[i].n; k++) {
            elements[k] = integer(&values[k], rows[i].values[k]);
        }
        cr_assert_eq(wr_redis_script_read(&reply, takes, 1, &notes), rows[i].want, "row %zu", i);
        if (rows[i].n > 0) {
            values[rows[i].n - 1].type = REDIS_REPLY_NIL;
            cr_assert_eq(wr_redis_script_read(&reply, takes, 1, &notes), WR_REDIS_SCRIPT_GARBAGE);
        }
    }
    cr_assert_eq(wr_redis_script_read(NULL, NULL, 0, NULL), WR_REDIS_SCRIPT_GARBAGE);
}

Test(redis_script_bytes, what_came_too_late_is_counted_when_nobody_waits)
{
    static const struct {
        size_t n;
        long long values[7];
        size_t want;
    } rows[] = {
        {0, {0}, 0},
        {1, {-3}, 0},
        {3, {DAY, -3, 0}, 1},
        {7, {DAY, -3, 0, 2, 1, -3, 0}, 2},
        {5, {DAY, 3, 1, 1, 0}, 0},
        {4, {DAY, -3, 0, 0}, 1},
        {7, {DAY, 1, 0, 5, -3, 0, 5}, 1}, /* both warm up */
        {6, {DAY, 1, 0, 5, -3, 0}, 1},    /* so does the first */
    };
    redisReply text = {.type = REDIS_REPLY_STRING};
    redisReply error = {.type = REDIS_REPLY_ERROR};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        redisReply values[7];
        redisReply *elements[7];
        redisReply reply = {.type = REDIS_REPLY_ARRAY, .elements = rows[i].n, .element = elements};

        for (size_t k = 0; k < rows[i].n; k++) {
            elements[k] = integer(&values[k], rows[i].values[k]);
        }
        cr_assert_eq(wr_redis_script_count_late(&reply), rows[i].want, "row %zu", i);
    }
    cr_assert_eq(wr_redis_script_count_late(&text) + wr_redis_script_count_late(&error), 0u);
}
