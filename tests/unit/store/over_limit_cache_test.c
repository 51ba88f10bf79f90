/* SPDX-License-Identifier: Apache-2.0 */
#include "store/over_limit_cache.h"

#include <criterion/criterion.h>
#include <string.h>

#include "base/random.h"
#include "store/local_store.h"
#include "tests/support/failing_malloc.h"
#include "tests/support/fake_backend.h"
#include "tests/unit/store/handed.h"

#define SECOND INT64_C(1000000)
#define ENTRIES 64

static struct wr_fake_backend fake;
static struct wr_backend *backend;
static struct handed handed;
static struct wr_clock clock_of_tests;

/* The time at which the store answers: that of the batch and what it took. */
static int64_t took_us;

static struct wr_now read_time(void *context)
{
    (void) context;
    return (struct wr_now){
        .wall_us = handed.batch.now.wall_us + took_us,
        .mono_us = handed.batch.now.mono_us + took_us,
    };
}

static struct wr_backend *cache_around(struct wr_backend *inner, size_t max_entries)
{
    const struct wr_over_limit_cache_options options = {
        .max_entries = max_entries,
        .clock = &clock_of_tests,
    };
    struct wr_backend *cache = NULL;

    cr_assert_eq(wr_over_limit_cache_new(&options, &inner, &cache), WR_OK);
    cr_assert_null(inner);
    return cache;
}

static void begin(void)
{
    took_us = 0;
    handed_init(&handed);
    wr_clock_init(&clock_of_tests, read_time, NULL);
    wr_fake_backend_init(&fake);
    backend = cache_around(&fake.backend, ENTRIES);
}

static void end(void)
{
    wr_backend_destroy(backend);
    handed_fini(&handed);
}

static void pass(int64_t passed_us)
{
    handed.batch.now.wall_us += passed_us;
    handed.batch.now.mono_us += passed_us;
}

static struct wr_take take_of(const char *key)
{
    return (struct wr_take){
        .key = wr_str_of(key),
        .limit = {.requests = 3, .length_us = 60 * SECOND},
        .hits = 1,
        .is_enforced = true,
    };
}

static struct wr_take put_one(struct wr_take take)
{
    handed_put(&handed, backend, &take, 1);
    cr_assert_eq(handed.n_done, 1);
    return take;
}

static void say_over(size_t index, int64_t reset_us)
{
    fake.answers[index] = WR_TAKE_DECIDED;
    fake.verdicts[index] = (struct wr_verdict){.over = true, .reset_us = reset_us};
}

static void say_fits(size_t index)
{
    fake.answers[index] = WR_TAKE_DECIDED;
    fake.verdicts[index] = (struct wr_verdict){.remaining = 1, .reset_us = SECOND};
}

/* Makes the cache know that `take`'s counter is over, 30 s before its window ends. */
static void make_known(struct wr_take take)
{
    say_over(0, 30 * SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        cr_assert(put_one(take).verdict.over);
    }
    fake.n_batches = 0;
}

/* Whether the store was asked for `take`. */
static bool is_asked_for(struct wr_take take)
{
    const size_t n_before = fake.n_batches;

    (void) put_one(take);
    return fake.n_batches > n_before;
}

Test(over_limit_cache, answers_what_is_over_until_the_reset_without_asking)
{
    begin();
    make_known(take_of("a"));
    pass(SECOND / 20);

    const struct wr_take take = put_one(take_of("a"));

    cr_assert_eq(fake.n_batches, 0);
    cr_assert_eq(take.answer, WR_TAKE_DECIDED);
    cr_assert(take.verdict.over);
    cr_assert_eq(take.verdict.remaining, 0);
    cr_assert_eq(take.verdict.reset_us, 30 * SECOND - SECOND / 20);
    cr_assert_eq(wr_metrics_sum(handed.metrics, WR_METRIC_DESCRIPTORS_CACHED), 1);
    end();
}

Test(over_limit_cache, asks_until_the_store_has_refused_often_enough)
{
    begin();
    say_over(0, 30 * SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        cr_assert(is_asked_for(take_of("a")));
    }
    cr_assert(!is_asked_for(take_of("a")));
    end();
}

Test(over_limit_cache, asks_again_when_its_word_is_old)
{
    begin();
    make_known(take_of("a"));
    pass(WR_OVER_LIMIT_TRUST_US - 1);
    cr_assert(!is_asked_for(take_of("a")));
    pass(1);
    cr_assert(is_asked_for(take_of("a")));
    cr_assert(!is_asked_for(take_of("a")));
    end();
}

Test(over_limit_cache, forgets_at_the_end_of_the_window)
{
    begin();
    say_over(0, SECOND / 20);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        (void) put_one(take_of("a"));
    }
    pass(SECOND / 20 - 1);

    const struct wr_take take = put_one(take_of("a"));

    cr_assert_eq(take.verdict.reset_us, 1);
    cr_assert_eq(fake.n_batches, (size_t) WR_OVER_LIMIT_REFUSALS);
    pass(1);
    cr_assert(is_asked_for(take_of("a")));
    cr_assert_eq(fake.seen[0].hits, 1, "hits of a window that is over");
    cr_assert(is_asked_for(take_of("a")), "one refusal of the new window");
    end();
}

Test(over_limit_cache, tells_a_reset_that_is_not_too_early)
{
    begin();
    took_us = 4000;
    make_known(take_of("a"));
    /* the store may have judged at the end of the 4 ms */
    cr_assert_eq(put_one(take_of("a")).verdict.reset_us, 30 * SECOND + 4000);
    end();
}

Test(over_limit_cache, goes_by_the_earliest_end_that_the_store_named)
{
    begin();
    say_over(0, SECOND / 20);
    (void) put_one(take_of("a"));
    say_over(0, 30 * SECOND); /* its clock was set back */
    for (int i = 1; i < WR_OVER_LIMIT_REFUSALS; i++) {
        (void) put_one(take_of("a"));
    }
    cr_assert_eq(put_one(take_of("a")).verdict.reset_us, SECOND / 20);
    pass(SECOND / 20);
    cr_assert(is_asked_for(take_of("a")));
    end();
}

Test(over_limit_cache, tells_no_reset_beyond_a_window)
{
    begin();
    took_us = 4000;
    say_over(0, 60 * SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        (void) put_one(take_of("a"));
    }
    cr_assert_eq(put_one(take_of("a")).verdict.reset_us, 60 * SECOND);
    end();
}

Test(over_limit_cache, tells_how_long_a_window_of_the_calendar_lasts)
{
    struct wr_take take = take_of("a");

    begin();
    take.limit.alignment = WR_ALIGN_CALENDAR;
    say_over(0, 62 * SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        (void) put_one(take);
    }
    fake.n_batches = 0;
    cr_assert_eq(put_one(take).verdict.reset_us, 62 * SECOND);
    cr_assert_eq(fake.n_batches, 0);
    end();
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

        begin();
        make_known(take);
        take.limit.requests = passes[i].requests;
        take.limit.count = passes[i].count;
        take.hits = passes[i].hits;
        take.is_refund = passes[i].is_refund;
        take.must_book = passes[i].must_book;
        cr_assert_eq(is_asked_for(take), passes[i].is_asked, "%s", passes[i].what);
        end();
    }
}

Test(over_limit_cache, does_not_remember_refusals_of_what_warms_up)
{
    struct wr_take take = take_of("a");

    begin();
    take.limit.warm_up_us = SECOND;
    make_known(take);
    cr_assert(is_asked_for(take));
    end();
}

Test(over_limit_cache, knows_one_counter_from_another)
{
    begin();
    make_known(take_of("a"));
    cr_assert(is_asked_for(take_of("b")));
    end();
}

Test(over_limit_cache, does_not_remember_refusals_of_what_counts_only_what_fits)
{
    struct wr_take take = take_of("a");

    begin();
    take.limit.count = WR_COUNT_ADMITTED;
    make_known(take);
    cr_assert(is_asked_for(take));
    end();
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

        begin();
        make_known(take);
        take.limit.requests = others[i].requests;
        if (!others[i].is_over) {
            say_fits(0);
        }
        cr_assert(is_asked_for(take));
        cr_assert_eq(is_asked_for(take_of("a")), others[i].is_asked, "case %zu", i);
        end();
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

        begin();
        make_known(take_of("a"));
        refund.is_refund = true;
        refund.limit.requests = refunds[i].requests;
        fake.answers[0] = refunds[i].answer;
        cr_assert(is_asked_for(refund));
        cr_assert(is_asked_for(take_of("a")), "case %zu", i);
        end();
    }
}

Test(over_limit_cache, is_put_right_by_a_take_that_fits)
{
    begin();
    make_known(take_of("a"));
    pass(WR_OVER_LIMIT_TRUST_US);
    say_fits(0);
    cr_assert(is_asked_for(take_of("a")));
    say_over(0, SECOND);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        cr_assert(is_asked_for(take_of("a")));
    }
    end();
}

Test(over_limit_cache, does_not_remember_what_memory_decided)
{
    begin();
    say_over(0, 30 * SECOND);
    for (int i = 0; i < 2 * WR_OVER_LIMIT_REFUSALS; i++) {
        struct wr_take take = take_of("a");

        take.is_degraded = true; /* which the fake backend leaves as it is */
        cr_assert(is_asked_for(take));
    }
    end();
}

Test(over_limit_cache, gives_back_answer_limit_and_verdict)
{
    struct wr_take takes[] = {take_of("a"), take_of("b"), take_of("c")};

    begin();
    make_known(take_of("b"));
    fake.answers[0] = WR_TAKE_TIMEOUT;
    say_fits(1);
    fake.verdicts[1].remaining = 2;
    handed_put(&handed, backend, takes, 3);
    cr_assert_eq(handed.n_done, 1);
    cr_assert_eq(fake.n_seen, 2);
    cr_assert_eq(takes[0].answer, WR_TAKE_TIMEOUT);
    cr_assert(takes[1].verdict.over);
    cr_assert_eq(takes[2].verdict.remaining, 2);
    cr_assert(!takes[2].verdict.over);
    end();
}

/* Held hits: some are answered by the cache, then one take goes to the store. */
static const struct {
    const char *what;
    uint64_t held; /* by two hits' takes */
    uint64_t hits;
    bool is_refund, must_book;
    uint64_t seen_hits;
    uint64_t still_held; /* which the next take brings */
} holds[] = {
    {"a take when the time is over", 6, 1, false, false, 7, 0},
    {"a look when the time is over", 6, 0, false, false, 6, 0},
    {"a cost that is spent", 6, 4, false, true, 10, 0},
    {"a refund of more", 6, 8, true, false, 2, 0},
    {"a refund of as much", 6, 6, true, false, 0, 0},
    {"a refund of less", 6, 2, true, false, 0, 4},
    {"a refund when none are held", 0, 2, true, false, 2, 0},
    {"hits without end", UINT64_MAX, UINT64_MAX, false, false, WR_COUNT_MAX, 0},
};

Test(over_limit_cache, brings_the_store_the_hits_that_were_held)
{
    for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++) {
        struct wr_take take = take_of("a");

        begin();
        make_known(take);
        if (holds[i].held > 0) {
            take.hits = holds[i].held / 2;
            cr_assert(!is_asked_for(take));
            take.hits = holds[i].held - take.hits;
            cr_assert(!is_asked_for(take));
        }
        pass(WR_OVER_LIMIT_TRUST_US);
        take.hits = holds[i].hits;
        take.is_refund = holds[i].is_refund;
        take.must_book = holds[i].must_book;
        take = put_one(take);
        cr_assert_eq(fake.n_batches, 1, "%s", holds[i].what);
        cr_assert_eq(fake.seen[0].hits, holds[i].seen_hits, "%s", holds[i].what);
        cr_assert_eq(fake.seen[0].is_refund, holds[i].is_refund, "%s", holds[i].what);
        cr_assert_eq(take.hits, holds[i].hits);
        cr_assert_eq(take.is_refund, holds[i].is_refund);

        pass(WR_OVER_LIMIT_TRUST_US);
        (void) put_one(take_of("a"));
        cr_assert_eq(fake.seen[0].hits, 1 + holds[i].still_held, "%s: next", holds[i].what);
        end();
    }
}

/* What becomes of hits that were held when the take that they went with has no answer. */
static const struct {
    enum wr_take_answer answer;
    uint64_t seen_hits; /* by the next take */
} lost[] = {
    {WR_TAKE_AWAY, 5},    {WR_TAKE_LATE, 5},    {WR_TAKE_NO_MEMORY, 5},
    {WR_TAKE_TIMEOUT, 1}, {WR_TAKE_DECIDED, 1},
};

Test(over_limit_cache, never_brings_hits_twice)
{
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        struct wr_take take = take_of("a");

        begin();
        make_known(take);
        take.hits = 4;
        cr_assert(!is_asked_for(take));
        pass(WR_OVER_LIMIT_TRUST_US);
        fake.answers[0] = lost[i].answer;
        cr_assert(is_asked_for(take_of("a")));
        cr_assert_eq(fake.seen[0].hits, 5);
        pass(WR_OVER_LIMIT_TRUST_US);
        cr_assert(is_asked_for(take_of("a")));
        cr_assert_eq(fake.seen[0].hits, lost[i].seen_hits, "case %zu", i);
        end();
    }
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

        begin();
        handed_init(&other);
        fake.holds = true;
        refund.is_refund = true;
        for (size_t n = 0; n < WR_OVER_LIMIT_REFUSALS; n++) {
            takes[n] = take_of("a");
            say_over(n, 30 * SECOND);
        }
        if (races[i].is_refund_first) {
            handed_put(&other, backend, &refund, 1);
            of_refund = fake.held;
        }
        handed_put(&handed, backend, takes, WR_OVER_LIMIT_REFUSALS);
        of_takes = fake.held;
        if (!races[i].is_refund_first) {
            handed_put(&other, backend, &refund, 1);
            of_refund = fake.held;
        }
        fake.held = races[i].is_refund_answered_first ? of_refund : of_takes;
        wr_fake_backend_release(&fake);
        fake.held = races[i].is_refund_answered_first ? of_takes : of_refund;
        wr_fake_backend_release(&fake);
        fake.holds = false;
        cr_assert_eq(handed.n_done + other.n_done, 2);
        cr_assert(is_asked_for(take_of("a")), "race %zu", i);
        handed_fini(&other);
        end();
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

        begin();
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
        handed.batch.mode = batches[c].mode;
        handed_put(&handed, backend, takes, 3);
        cr_assert_eq(handed.n_done, 1);
        cr_assert_eq(fake.n_seen, strlen(batches[c].seen), "%s", batches[c].what);
        for (size_t i = 0; i < fake.n_seen; i++) {
            cr_assert_eq(fake.seen[i].key.ptr[0], batches[c].seen[i], "%s", batches[c].what);
            cr_assert_eq(fake.seen[i].hits, 7, "%s: %zu", batches[c].what, i);
        }
        end();
    }
}

Test(over_limit_cache, brings_held_hits_when_it_may_not_answer)
{
    struct wr_take takes[] = {take_of("a"), take_of("b")};

    begin();
    make_known(takes[0]);
    cr_assert(!is_asked_for(takes[0]));
    takes[1].limit.count = WR_COUNT_ALL_OR_NOTHING;
    handed_put(&handed, backend, takes, 2);
    cr_assert_eq(fake.n_seen, 2);
    cr_assert_eq(fake.seen[0].hits, 2);
    cr_assert_eq(fake.seen[1].hits, 1);
    end();
}

Test(over_limit_cache, knows_any_limit_when_charging_stops)
{
    struct wr_take take = take_of("a");

    begin();
    handed.batch.mode = WR_CHARGE_STOP;
    take.limit.count = WR_COUNT_ADMITTED;
    make_known(take);
    cr_assert(!is_asked_for(take));
    end();
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

    begin();
    say_over(0, 30 * SECOND);
    for (size_t number = 0; number < 10 * ENTRIES; number++) {
        for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
            (void) is_known(number);
        }
    }
    for (size_t number = 10 * ENTRIES; number-- > 0;) {
        n_known += is_known(number);
    }
    cr_assert_leq(n_known, (size_t) ENTRIES);
    cr_assert_gt(n_known, (size_t) ENTRIES / 2);
    end();
}

Test(over_limit_cache, counts_nothing_when_memory_is_out)
{
    size_t n_failed = 0;

    for (size_t n = 0;; n++) {
        struct wr_take take = take_of("a");

        begin();
        wr_arena_fini(&handed.arena);
        wr_arena_init(&handed.arena, 1);
        failing_malloc_start(n);
        handed_put(&handed, backend, &take, 1);
        failing_malloc_stop();
        cr_assert_eq(handed.n_done, 1);
        if (take.answer != WR_TAKE_DECIDED) {
            cr_assert_eq(take.answer, WR_TAKE_NO_MEMORY);
            cr_assert_eq(fake.n_batches, 0);
            n_failed++;
        }
        end();
        if (take.answer == WR_TAKE_DECIDED) {
            break;
        }
    }
    cr_assert_gt(n_failed, 1);
}

Test(over_limit_cache, leaves_the_store_to_the_caller_when_it_cannot_be_made)
{
    const struct wr_over_limit_cache_options options = {
        .max_entries = 4,
        .clock = &clock_of_tests,
    };

    for (size_t n = 0; n < 3; n++) {
        struct wr_backend *inner = &fake.backend;

        failing_malloc_start(n);
        const enum wr_err err = wr_over_limit_cache_new(&options, &inner, &backend);
        failing_malloc_stop();
        cr_assert_eq(err, WR_ERR_NO_MEMORY);
        cr_assert_eq(inner, &fake.backend);
    }
}

/* A way into a store that others share. */
struct door {
    struct wr_backend backend;
    struct wr_backend *store; /* borrowed */
};

static void door_take(struct wr_backend *door, struct wr_batch *batch)
{
    wr_backend_take(((struct door *) door)->store, batch);
}

static void door_destroy(struct wr_backend *door)
{
    (void) door;
}

/* Two replicas with a cache each on one store, or the store without any. */
static const struct wr_backend_ops door_ops = {.take = door_take, .destroy = door_destroy};
static struct wr_backend *store, *replicas[2];
static struct door doors[2];

static void begin_replicas(void)
{
    begin();
    cr_assert_eq(wr_local_store_new(
                     &(struct wr_local_store_options){.max_counters = 10, .n_stripes = 1}, &store),
                 WR_OK);
    for (int i = 0; i < 2; i++) {
        doors[i] = (struct door){.backend = {.ops = &door_ops}, .store = store};
        replicas[i] = cache_around(&doors[i].backend, ENTRIES);
    }
}

static void end_replicas(void)
{
    for (int i = 0; i < 2; i++) {
        wr_backend_destroy(replicas[i]);
    }
    wr_backend_destroy(store);
    end();
}

static struct wr_take put_at(struct wr_backend *at, uint64_t hits, bool is_refund)
{
    struct wr_take take = take_of("a");

    take.hits = hits;
    take.is_refund = is_refund;
    handed_put(&handed, at, &take, 1);
    cr_assert_eq(handed.n_done, 1);
    return take;
}

/* Steps: hits, or a refund of the number after -; R: what remains, O: over. */
static const struct {
    const char *steps;
    const char *verdicts;
} stories[] = {
    {"111-111", "21010O"},
    {"-51111", "3210O"},
    {"11111-211", "210OO0OO"},
    {"11111111111-911", "210OOOOOOOO10O"},
};

Test(over_limit_cache, hides_no_refund_wherever_it_is_sent)
{
    for (size_t s = 0; s < sizeof stories / sizeof stories[0]; s++) {
        for (int refunds_at = 0; refunds_at < 2; refunds_at++) {
            const char *step = stories[s].steps;

            if (s == 3 && refunds_at == 1) {
                continue; /* long enough to be held: see the next test */
            }
            begin_replicas();
            for (const char *verdict = stories[s].verdicts; *verdict != '\0'; verdict++) {
                const bool is_refund = *step == '-';

                step += is_refund;

                const struct wr_take take = put_at(replicas[is_refund ? refunds_at : 0],
                                                   (uint64_t) (*step++ - '0'), is_refund);

                cr_assert_eq(take.verdict.over, *verdict == 'O', "%s: at %s", stories[s].steps,
                             step - 1);
                if (!take.verdict.over) {
                    cr_assert_eq(take.verdict.remaining, (uint64_t) (*verdict - '0'));
                }
            }
            cr_assert_eq(*step, '\0');
            end_replicas();
        }
    }
}

Test(over_limit_cache, sees_another_replicas_refund_when_its_word_is_old)
{
    begin_replicas();
    for (int i = 0; i < 20; i++) {
        (void) put_at(replicas[0], 1, false);
    }
    cr_assert(put_at(replicas[0], 0, false).verdict.over);
    (void) put_at(replicas[1], 100, true);
    cr_assert(put_at(replicas[0], 0, false).verdict.over, "nothing tells of the refund yet");
    pass(WR_OVER_LIMIT_TRUST_US);
    (void) put_at(replicas[0], 0, false); /* brings what was held */
    (void) put_at(replicas[1], 100, true);
    pass(WR_OVER_LIMIT_TRUST_US);

    const struct wr_take look = put_at(replicas[0], 0, false);

    cr_assert(!look.verdict.over);
    cr_assert_eq(look.verdict.remaining, 3);
    end_replicas();
}

Test(over_limit_cache, leaves_the_store_with_the_count_that_it_would_have_alone)
{
    begin_replicas();
    for (int i = 0; i < 1000; i++) {
        pass(i % 7 * 1000);
        (void) put_at(replicas[i % 2], (uint64_t) i % 3, i % 50 == 49);
    }
    pass(WR_OVER_LIMIT_TRUST_US);
    for (int i = 0; i < 2; i++) {
        (void) put_at(replicas[i], 0, false);
    }

    uint64_t used = 0;

    for (int i = 0; i < 1000; i++) {
        const uint64_t hits = (uint64_t) i % 3;

        used = i % 50 == 49 ? used - (hits < used ? hits : used) : used + hits;
    }

    struct wr_take look = take_of("a");

    look.hits = 0;
    look.limit.requests = 1000000;
    handed_put(&handed, store, &look, 1);
    cr_assert_eq(look.verdict.remaining, 1000000 - used);
    end_replicas();
}

static uint64_t draw(uint64_t *state, uint64_t n)
{
    (void) wr_random_next(state);
    return (*state >> 32) % n;
}

/* A key has one count, as a rule has. */
static struct wr_take draw_take(uint64_t *state, enum wr_charge_mode mode)
{
    static const struct {
        const char *name;
        enum wr_count count;
    } keys[] = {{"a", WR_COUNT_ALL},
                {"b", WR_COUNT_ALL},
                {"c", WR_COUNT_ALL_OR_NOTHING},
                {"d", WR_COUNT_ADMITTED}};
    const uint64_t key = draw(state, 6); /* a and b more than others */
    struct wr_take take = take_of(keys[key % 4].name);

    take.limit.count = keys[key % 4].count;
    if (mode == WR_CHARGE_BY_COUNT && draw(state, 20) == 0) {
        take.limit.requests += draw(state, 4);
    }
    take.hits = draw(state, 3);
    take.is_refund = draw(state, 25) == 0;
    take.hits += take.is_refund ? draw(state, 30) : 0;
    take.must_book = !take.is_refund && take.limit.count == WR_COUNT_ALL && draw(state, 25) == 0;
    take.is_enforced = draw(state, 4) != 0;
    return take;
}

static void compare(const struct wr_take *got, const struct wr_take *want, int call, size_t n)
{
    cr_assert_eq(got->verdict.over, want->verdict.over, "call %d, take %zu", call, n);
    cr_assert_eq(got->verdict.remaining, want->verdict.remaining, "call %d, take %zu", call, n);
    cr_assert_eq(got->verdict.reset_us, want->verdict.reset_us, "call %d, take %zu", call, n);
    cr_assert_eq(got->verdict.enforced, want->verdict.enforced, "call %d, take %zu", call, n);
}

static void change_no_verdict(enum wr_charge_mode mode)
{
    struct wr_backend *plain = NULL;
    uint64_t state = 1;

    begin_replicas();
    cr_assert_eq(wr_local_store_new(
                     &(struct wr_local_store_options){.max_counters = 10, .n_stripes = 1}, &plain),
                 WR_OK);
    handed.batch.mode = mode;
    for (int i = 0; i < 100000; i++) {
        struct wr_take takes[3], expected[3];
        const size_t n = 1 + draw(&state, 3);
        uint32_t group = 0;

        pass((int64_t) draw(&state, 100) == 0 ? 20 * SECOND : (int64_t) draw(&state, 50000));
        for (size_t k = 0; k < n; k++) {
            takes[k] = draw_take(&state, mode);
            group += (uint32_t) draw(&state, 2);
            takes[k].group = group;
            expected[k] = takes[k];
        }
        handed_put(&handed, plain, expected, n);
        handed_put(&handed, replicas[0], takes, n);
        for (size_t k = 0; k < n; k++) {
            compare(&takes[k], &expected[k], i, k);
        }
    }
    cr_assert_gt(wr_metrics_sum(handed.metrics, WR_METRIC_DESCRIPTORS_CACHED), 5000);
    wr_backend_destroy(plain);
    end_replicas();
}

Test(over_limit_cache, changes_no_verdict_of_a_replica_alone)
{
    change_no_verdict(WR_CHARGE_BY_COUNT);
}

Test(over_limit_cache, changes_no_verdict_when_charging_stops)
{
    change_no_verdict(WR_CHARGE_STOP);
}
