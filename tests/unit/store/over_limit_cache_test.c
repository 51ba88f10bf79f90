/* SPDX-License-Identifier: Apache-2.0 */
#include "store/over_limit_cache.h"

#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/failing_malloc.h"
#include "tests/unit/store/over_limit_bed.h"

static struct wr_fake_backend *const fake = &over_limit_bed.fake;
static struct handed *const handed = &over_limit_bed.handed;

Test(over_limit_cache, answers_what_is_over_until_the_reset_without_asking)
{
    over_limit_bed_begin();
    make_known(take_of("a"));
    pass(SECOND / 20);

    const struct wr_take take = put_one(take_of("a"));

    cr_assert_eq(fake->n_batches, 0);
    cr_assert_eq(take.answer, WR_TAKE_DECIDED);
    cr_assert(take.verdict.over);
    cr_assert_eq(take.verdict.remaining, 0);
    cr_assert_eq(take.verdict.reset_us, 30 * SECOND - SECOND / 20);
    cr_assert_eq(wr_metrics_sum(handed->metrics, WR_METRIC_DESCRIPTORS_CACHED), 1);
    over_limit_bed_end();
}

Test(over_limit_cache, asks_until_the_store_has_refused_often_enough)
{
    over_limit_bed_begin();
    say_over(0, 30 * SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        cr_assert(is_asked_for(take_of("a")));
    }
    cr_assert(!is_asked_for(take_of("a")));
    over_limit_bed_end();
}

Test(over_limit_cache, asks_again_when_its_word_is_old)
{
    over_limit_bed_begin();
    make_known(take_of("a"));
    pass(WR_OVER_LIMIT_TRUST_US - 1);
    cr_assert(!is_asked_for(take_of("a")));
    pass(1);
    cr_assert(is_asked_for(take_of("a")));
    cr_assert(!is_asked_for(take_of("a")));
    over_limit_bed_end();
}

Test(over_limit_cache, forgets_at_the_end_of_the_window)
{
    over_limit_bed_begin();
    say_over(0, SECOND / 20);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        (void) put_one(take_of("a"));
    }
    pass(SECOND / 20 - 1);

    const struct wr_take take = put_one(take_of("a"));

    cr_assert_eq(take.verdict.reset_us, 1);
    cr_assert_eq(fake->n_batches, (size_t) WR_OVER_LIMIT_REFUSALS);
    pass(1);
    cr_assert(is_asked_for(take_of("a")));
    cr_assert_eq(fake->seen[0].hits, 1, "hits of a window that is over");
    cr_assert(is_asked_for(take_of("a")), "one refusal of the new window");
    over_limit_bed_end();
}

Test(over_limit_cache, tells_a_reset_that_is_not_too_early)
{
    over_limit_bed_begin();
    over_limit_bed.took_us = 4000;
    make_known(take_of("a"));
    /* the store may have judged at the end of the 4 ms */
    cr_assert_eq(put_one(take_of("a")).verdict.reset_us, 30 * SECOND + 4000);
    over_limit_bed_end();
}

Test(over_limit_cache, goes_by_the_earliest_end_that_the_store_named)
{
    over_limit_bed_begin();
    say_over(0, SECOND / 20);
    (void) put_one(take_of("a"));
    say_over(0, 30 * SECOND); /* its clock was set back */
    for (int i = 1; i < WR_OVER_LIMIT_REFUSALS; i++) {
        (void) put_one(take_of("a"));
    }
    cr_assert_eq(put_one(take_of("a")).verdict.reset_us, SECOND / 20);
    pass(SECOND / 20);
    cr_assert(is_asked_for(take_of("a")));
    over_limit_bed_end();
}

Test(over_limit_cache, tells_no_reset_beyond_a_window)
{
    over_limit_bed_begin();
    over_limit_bed.took_us = 4000;
    say_over(0, 60 * SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        (void) put_one(take_of("a"));
    }
    cr_assert_eq(put_one(take_of("a")).verdict.reset_us, 60 * SECOND);
    over_limit_bed_end();
}

Test(over_limit_cache, tells_how_long_a_window_of_the_calendar_lasts)
{
    struct wr_take take = take_of("a");

    over_limit_bed_begin();
    take.limit.alignment = WR_ALIGN_CALENDAR;
    say_over(0, 62 * SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        (void) put_one(take);
    }
    fake->n_batches = 0;
    cr_assert_eq(put_one(take).verdict.reset_us, 62 * SECOND);
    cr_assert_eq(fake->n_batches, 0);
    over_limit_bed_end();
}

/* Takes of a counter that is known to be over at 3 a minute. */
static const struct {
    const char *what;
    bool is_asked;
    uint64_t requests;
    uint64_t hits;
    bool is_refund, must_book;
    enum wr_count count;
} passes[] = {
    {"a hit", false, 3, 1, false, false, WR_COUNT_ALL},
    {"many hits", false, 3, 1000, false, false, WR_COUNT_ALL},
    {"a look", false, 3, 0, false, false, WR_COUNT_ALL},
    {"a raised limit", true, 4, 1, false, false, WR_COUNT_ALL},
    {"a lowered limit", true, 2, 1, false, false, WR_COUNT_ALL},
    {"a look at another limit", true, 5, 0, false, false, WR_COUNT_ALL},
    {"a refund", true, 3, 1, true, false, WR_COUNT_ALL},
    {"a cost that is spent", true, 3, 1, false, true, WR_COUNT_ALL},
    {"a limit that counts what fits", true, 3, 1, false, false, WR_COUNT_ADMITTED},
    {"a limit of a group", true, 3, 1, false, false, WR_COUNT_ALL_OR_NOTHING},
};

Test(over_limit_cache, asks_for_what_it_cannot_know)
{
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        struct wr_take take = take_of("a");

        over_limit_bed_begin();
        make_known(take);
        take.limit.requests = passes[i].requests;
        take.limit.count = passes[i].count;
        take.hits = passes[i].hits;
        take.is_refund = passes[i].is_refund;
        take.must_book = passes[i].must_book;
        cr_assert_eq(is_asked_for(take), passes[i].is_asked, "%s", passes[i].what);
        over_limit_bed_end();
    }
}

Test(over_limit_cache, does_not_remember_refusals_of_what_warms_up)
{
    struct wr_take take = take_of("a");

    over_limit_bed_begin();
    take.limit.warm_up_us = SECOND;
    make_known(take);
    cr_assert(is_asked_for(take));
    over_limit_bed_end();
}

Test(over_limit_cache, knows_one_counter_from_another)
{
    over_limit_bed_begin();
    make_known(take_of("a"));
    cr_assert(is_asked_for(take_of("b")));
    over_limit_bed_end();
}

Test(over_limit_cache, does_not_remember_refusals_of_what_counts_only_what_fits)
{
    struct wr_take take = take_of("a");

    over_limit_bed_begin();
    take.limit.count = WR_COUNT_ADMITTED;
    make_known(take);
    cr_assert(is_asked_for(take));
    over_limit_bed_end();
}

/* What a store's answer to a raised limit means for the limit that was over. */
static const struct {
    uint64_t requests;
    bool is_over;
    bool is_asked; /* for the old limit, afterwards */
} others[] = {
    {4, false, false},
    {2, false, true},
    {4, true, true},
};

Test(over_limit_cache, learns_from_answers_for_other_limits)
{
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct wr_take take = take_of("a");

        over_limit_bed_begin();
        make_known(take);
        take.limit.requests = others[i].requests;
        if (!others[i].is_over) {
            say_fits(0);
        }
        cr_assert(is_asked_for(take));
        cr_assert_eq(is_asked_for(take_of("a")), others[i].is_asked, "case %zu", i);
        over_limit_bed_end();
    }
}

/* Refunds of which it is not known whether they were given, or from another limit. */
static const struct {
    enum wr_take_answer answer;
    uint64_t requests;
} refunds[] = {{WR_TAKE_DECIDED, 3}, {WR_TAKE_TIMEOUT, 3}, {WR_TAKE_DECIDED, 5}};

Test(over_limit_cache, asks_after_any_refund)
{
    for (size_t i = 0; i < sizeof refunds / sizeof refunds[0]; i++) {
        struct wr_take refund = take_of("a");

        over_limit_bed_begin();
        make_known(take_of("a"));
        refund.is_refund = true;
        refund.limit.requests = refunds[i].requests;
        fake->answers[0] = refunds[i].answer;
        cr_assert(is_asked_for(refund));
        cr_assert(is_asked_for(take_of("a")), "case %zu", i);
        over_limit_bed_end();
    }
}

Test(over_limit_cache, is_put_right_by_a_take_that_fits)
{
    over_limit_bed_begin();
    make_known(take_of("a"));
    pass(WR_OVER_LIMIT_TRUST_US);
    say_fits(0);
    cr_assert(is_asked_for(take_of("a")));
    say_over(0, SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        cr_assert(is_asked_for(take_of("a")));
    }
    over_limit_bed_end();
}

Test(over_limit_cache, does_not_remember_what_memory_decided)
{
    over_limit_bed_begin();
    say_over(0, 30 * SECOND);
    for (int i = 0; i < 2 * WR_OVER_LIMIT_REFUSALS; i++) {
        struct wr_take take = take_of("a");

        take.is_degraded = true; /* which the fake backend leaves as it is */
        cr_assert(is_asked_for(take));
    }
    over_limit_bed_end();
}

Test(over_limit_cache, gives_back_answer_limit_and_verdict)
{
    struct wr_take takes[] = {take_of("a"), take_of("b"), take_of("c")};

    over_limit_bed_begin();
    make_known(take_of("b"));
    fake->answers[0] = WR_TAKE_TIMEOUT;
    say_fits(1);
    fake->verdicts[1].remaining = 2;
    handed_put(handed, over_limit_bed.cache, takes, 3);
    cr_assert_eq(handed->n_done, 1);
    cr_assert_eq(fake->n_seen, 2);
    cr_assert_eq(takes[0].answer, WR_TAKE_TIMEOUT);
    cr_assert(takes[1].verdict.over);
    cr_assert_eq(takes[2].verdict.remaining, 2);
    cr_assert(!takes[2].verdict.over);
    over_limit_bed_end();
}

/* Takes and a refund under way at once: which are put first, and which are answered first. */
static const struct {
    bool is_refund_first, is_refund_answered_first;
} races[] = {{true, true}, {true, false}, {false, true}, {false, false}};

Test(over_limit_cache, remembers_no_refusal_that_a_refund_has_overtaken)
{
    for (size_t i = 0; i < sizeof races / sizeof races[0]; i++) {
        struct wr_take takes[WR_OVER_LIMIT_REFUSALS], refund = take_of("a");
        struct wr_batch *of_takes, *of_refund;
        struct handed other;

        over_limit_bed_begin();
        handed_init(&other);
        fake->holds = true;
        refund.is_refund = true;
        for (size_t n = 0; n < WR_OVER_LIMIT_REFUSALS; n++) {
            takes[n] = take_of("a");
            say_over(n, 30 * SECOND);
        }
        if (races[i].is_refund_first) {
            handed_put(&other, over_limit_bed.cache, &refund, 1);
            of_refund = fake->held;
        }
        handed_put(handed, over_limit_bed.cache, takes, WR_OVER_LIMIT_REFUSALS);
        of_takes = fake->held;
        if (!races[i].is_refund_first) {
            handed_put(&other, over_limit_bed.cache, &refund, 1);
            of_refund = fake->held;
        }
        fake->held = races[i].is_refund_answered_first ? of_refund : of_takes;
        wr_fake_backend_release(fake);
        fake->held = races[i].is_refund_answered_first ? of_takes : of_refund;
        wr_fake_backend_release(fake);
        fake->holds = false;
        cr_assert_eq(handed->n_done + other.n_done, 2);
        cr_assert(is_asked_for(take_of("a")), "race %zu", i);
        handed_fini(&other);
        over_limit_bed_end();
    }
}

/*
 * Batches with a counter that is known to be over, a, between b and c: what the store is asked for,
 * whole.
 */
static const struct {
    const char *what;
    const char *groups; /* of b, a and c */
    const char *counts; /* a: all, o: all or nothing, d: admitted, A: all and must be booked, r: a
                           refund */
    enum wr_charge_mode mode;
    const char *seen;
} batches[] = {
    {"no group", "012", "aaa", WR_CHARGE_BY_COUNT, "bc"},
    {"a group of takes that count all", "000", "aaa", WR_CHARGE_BY_COUNT, "bc"},
    {"a group of takes that count what fits", "000", "dad", WR_CHARGE_BY_COUNT, "bc"},
    {"a cost that is spent", "000", "Aaa", WR_CHARGE_BY_COUNT, "bc"},
    {"a group that it may refuse", "000", "oao", WR_CHARGE_BY_COUNT, "bac"},
    {"a group that it may refuse in part", "001", "oaa", WR_CHARGE_BY_COUNT, "bac"},
    {"a group of others", "011", "oaa", WR_CHARGE_BY_COUNT, "bc"},
    {"a refund elsewhere", "012", "raa", WR_CHARGE_BY_COUNT, "bac"},
    {"stop", "012", "aaa", WR_CHARGE_STOP, "bac"},
};

Test(over_limit_cache, asks_for_the_whole_of_what_hangs_together)
{
    for (size_t c = 0; c < sizeof batches / sizeof batches[0]; c++) {
        struct wr_take takes[] = {take_of("b"), take_of("a"), take_of("c")};

        over_limit_bed_begin();
        make_known(take_of("a"));
        for (size_t i = 0; i < 3; i++) {
            const char count = batches[c].counts[i];

            takes[i].group = (uint32_t) (batches[c].groups[i] - '0');
            takes[i].limit.count = count == 'o'   ? WR_COUNT_ALL_OR_NOTHING
                                   : count == 'd' ? WR_COUNT_ADMITTED
                                                  : WR_COUNT_ALL;
            takes[i].must_book = count == 'A';
            takes[i].is_refund = count == 'r';
            takes[i].hits = 7;
        }
        handed->batch.mode = batches[c].mode;
        handed_put(handed, over_limit_bed.cache, takes, 3);
        cr_assert_eq(handed->n_done, 1);
        cr_assert_eq(fake->n_seen, strlen(batches[c].seen), "%s", batches[c].what);
        for (size_t i = 0; i < fake->n_seen; i++) {
            cr_assert_eq(fake->seen[i].key.ptr[0], batches[c].seen[i], "%s", batches[c].what);
            cr_assert_eq(fake->seen[i].hits, 7, "%s: %zu", batches[c].what, i);
        }
        over_limit_bed_end();
    }
}

Test(over_limit_cache, knows_any_limit_when_charging_stops)
{
    struct wr_take take = take_of("a");

    over_limit_bed_begin();
    handed->batch.mode = WR_CHARGE_STOP;
    take.limit.count = WR_COUNT_ADMITTED;
    make_known(take);
    cr_assert(!is_asked_for(take));
    over_limit_bed_end();
}

static bool is_known(size_t number)
{
    const struct wr_str key = {(const char *) &number, sizeof number};
    struct wr_take take = take_of("");

    take.key = key;
    return !is_asked_for(take);
}

Test(over_limit_cache, keeps_to_its_size)
{
    size_t n_known = 0;

    over_limit_bed_begin();
    say_over(0, 30 * SECOND);
    for (size_t number = 0; number < 10 * OVER_LIMIT_BED_ENTRIES; number++) {
        for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
            (void) is_known(number);
        }
    }
    for (size_t number = 10 * OVER_LIMIT_BED_ENTRIES; number-- > 0;) {
        n_known += is_known(number);
    }
    cr_assert_leq(n_known, (size_t) OVER_LIMIT_BED_ENTRIES);
    cr_assert_gt(n_known, (size_t) OVER_LIMIT_BED_ENTRIES / 2);
    over_limit_bed_end();
}

Test(over_limit_cache, counts_nothing_when_memory_is_out)
{
    size_t n_good = 0;

    for (bool is_decided = false; !is_decided; n_good++) {
        struct wr_take take = take_of("a");

        over_limit_bed_begin();
        is_decided = handed_put_failing(handed, over_limit_bed.cache, &take, 1, n_good);
        cr_assert(is_decided || fake->n_batches == 0);
        over_limit_bed_end();
    }
    cr_assert_gt(n_good, 2u, "memory was out less than twice");
}

Test(over_limit_cache, leaves_the_store_to_the_caller_when_it_cannot_be_made)
{
    const struct wr_over_limit_cache_options options = {
        .max_entries = 4,
        .clock = &over_limit_bed.clock,
    };

    for (size_t n = 0; n < 3; n++) {
        struct wr_backend *inner = &fake->backend, *cache = NULL;

        failing_malloc_start(n);
        const enum wr_err err = wr_over_limit_cache_new(&options, &inner, &cache);
        failing_malloc_stop();
        cr_assert_eq(err, WR_ERR_NO_MEMORY);
        cr_assert_eq(inner, &fake->backend);
    }
}
