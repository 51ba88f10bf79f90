/* SPDX-License-Identifier: Apache-2.0 */
/* What the script of the Redis store answers to plain windows, by tables. */
#include <criterion/criterion.h>
#include <inttypes.h>

#include "tests/unit/store/redis/script_charges.h"
#include "tests/unit/store/take_rows.h"

#define S(seconds) ((int64_t) (seconds) *1000000)
#define DAY WR_SCRIPT_BED_DAY

TestSuite(redis_script_verdicts, .init = script_charges_begin, .fini = script_charges_end);

/* A call at a time after DAY, and how long the window of a minute goes on. */
struct step {
    int64_t at_us;
    int64_t reset_us;
    struct take_row rows[TAKE_ROWS_MAX];
    enum wr_charge_mode mode;
};

#define AT(at, reset, ...)                                                                         \
    {                                                                                              \
        .at_us = (at), .reset_us = (reset), .rows = { __VA_ARGS__ }                                \
    }
#define STOP_AT(at, reset, ...)                                                                    \
    {                                                                                              \
        .at_us = (at), .reset_us = (reset), .rows = {__VA_ARGS__}, .mode = WR_CHARGE_STOP          \
    }

static void play_step(const char *story, size_t i, const struct step *step)
{
    struct wr_take takes[TAKE_ROWS_MAX];
    const size_t n = take_rows_make(step->rows, S(60), takes);

    wr_script_bed_send(&script_bed, takes, n, step->mode, DAY + step->at_us, 0);
    cr_assert_eq(wr_script_bed_receive(&script_bed, takes, n), WR_REDIS_SCRIPT_ANSWERED,
                 "%s, call %zu: %s", story, i, script_bed.text);
    cr_assert_eq(script_bed.notes.now_us, DAY + step->at_us);
    take_rows_check(step->rows, takes, n, story, i);
    for (size_t k = 0; k < n; k++) {
        cr_assert_eq(takes[k].verdict.reset_us, step->reset_us,
                     "%s, call %zu, take %zu: reset is %" PRId64, story, i, k,
                     takes[k].verdict.reset_us);
    }
}

/* Each story has counters of its own: it begins with FLUSHALL. */
static void play(const char *story, const struct step *steps, size_t n)
{
    expect_answer("OK", wr_script_bed_ask(&script_bed, "FLUSHALL"));
    for (size_t i = 0; i < n; i++) {
        play_step(story, i, &steps[i]);
    }
}

#define PLAY(steps) play(#steps, (steps), sizeof(steps) / sizeof((steps)[0]))

Test(redis_script_verdicts, counts_in_windows)
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

Test(redis_script_verdicts, saturates)
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
    expect_answer("1", wr_script_bed_ask(&script_bed, "GET a"));
}

/* A take that comes late counts in the newer window; a start further ahead is not believed. */
Test(redis_script_verdicts, time_goes_back)
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
    expect_answer("OK", wr_script_bed_ask(&script_bed, "FLUSHALL"));
    play_step("ahead", 0, &by_more_than_a_window[0]);
    cr_assert_eq(script_bed.notes.n_restarted, 0u);
    play_step("ahead", 1, &by_more_than_a_window[1]);
    cr_assert_eq(script_bed.notes.n_restarted, 1u);
    play_step("ahead", 2, &by_more_than_a_window[2]);
    cr_assert_eq(script_bed.notes.n_restarted, 1u, "that of b");
}

Test(redis_script_verdicts, charges_by_count)
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

Test(redis_script_verdicts, stops)
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
