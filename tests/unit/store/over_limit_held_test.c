/* SPDX-License-Identifier: Apache-2.0 */
/* Hits that the cache has answered itself, and brings to the store later. */
#include <criterion/criterion.h>

#include "store/over_limit_cache.h"
#include "tests/unit/store/over_limit_bed.h"

static struct wr_fake_backend *const fake = &over_limit_bed.fake;
static struct handed *const handed = &over_limit_bed.handed;

/* Held hits: some are answered by the cache, then one take goes to the store. */
static const struct {
    const char *what;
    uint64_t held; /* by two hits' takes */
    uint64_t hits;
    bool is_refund, must_book;
    uint64_t seen_before; /* by themselves, before the take */
    uint64_t seen_hits;
} holds[] = {
    {"a take when the time is over", 6, 1, false, false, 0, 7},
    {"a look when the time is over", 6, 0, false, false, 0, 6},
    {"a cost that is spent", 6, 4, false, true, 6, 4},
    {"a refund of more", 6, 8, true, false, 6, 8},
    {"a refund of as much", 6, 6, true, false, 6, 6},
    {"a refund of less", 6, 2, true, false, 6, 2},
    {"a refund when none are held", 0, 2, true, false, 0, 2},
    {"hits without end", UINT64_MAX, UINT64_MAX, false, false, 0, WR_COUNT_MAX},
    {"a refund of hits without end", UINT64_MAX, 7, true, false, WR_COUNT_MAX, 7},
};

/* What goes by itself refuses nobody, and is charged in time or not at all. */
static void expect_seen(size_t i)
{
    const size_t last = holds[i].seen_before > 0;

    cr_assert_eq(fake->n_seen, last + 1, "%s", holds[i].what);
    cr_assert_eq(fake->seen[last].hits, holds[i].seen_hits, "%s", holds[i].what);
    cr_assert_eq(fake->seen[last].is_refund, holds[i].is_refund, "%s", holds[i].what);
    cr_assert_eq(fake->seen[last].must_book, holds[i].must_book, "%s", holds[i].what);
    if (last > 0) {
        cr_assert_eq(fake->seen[0].hits, holds[i].seen_before, "%s", holds[i].what);
        cr_assert(!fake->seen[0].is_refund && !fake->seen[0].must_book);
        cr_assert(!fake->seen[0].is_enforced && !fake->seen[0].has_local_fallback);
        cr_assert(wr_str_equal(fake->seen[0].key, fake->seen[1].key));
    }
}

Test(over_limit_held, brings_the_store_the_hits_that_were_held)
{
    for (size_t i = 0; i < sizeof holds / sizeof holds[0]; i++) {
        struct wr_take take = take_of("a");

        over_limit_bed_begin();
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
        cr_assert_eq(fake->n_batches, 1, "%s", holds[i].what);
        expect_seen(i);
        cr_assert_eq(take.hits, holds[i].hits);
        cr_assert_eq(take.is_refund, holds[i].is_refund);

        pass(WR_OVER_LIMIT_TRUST_US);
        (void) put_one(take_of("a"));
        cr_assert_eq(fake->n_seen, 1);
        cr_assert_eq(fake->seen[0].hits, 1, "%s: next", holds[i].what);
        over_limit_bed_end();
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

Test(over_limit_held, never_brings_hits_twice)
{
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        struct wr_take take = take_of("a");

        over_limit_bed_begin();
        make_known(take);
        take.hits = 4;
        cr_assert(!is_asked_for(take));
        pass(WR_OVER_LIMIT_TRUST_US);
        fake->answers[0] = lost[i].answer;
        cr_assert(is_asked_for(take_of("a")));
        cr_assert_eq(fake->seen[0].hits, 5);
        pass(WR_OVER_LIMIT_TRUST_US);
        cr_assert(is_asked_for(take_of("a")));
        cr_assert_eq(fake->seen[0].hits, lost[i].seen_hits, "case %zu", i);
        over_limit_bed_end();
    }
}

/* As above, of a cost that is spent: what becomes of the hits depends on their own answer. */
Test(over_limit_held, never_brings_hits_twice_that_go_by_themselves)
{
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        struct wr_take take = take_of("a"), cost = take_of("a");

        over_limit_bed_begin();
        make_known(take);
        take.hits = 4;
        cr_assert(!is_asked_for(take));
        fake->answers[0] = lost[i].answer;
        cost.must_book = true;
        cr_assert(is_asked_for(cost));
        cr_assert_eq(fake->n_seen, 2);
        pass(WR_OVER_LIMIT_TRUST_US);
        cr_assert(is_asked_for(take_of("a")));
        cr_assert_eq(fake->n_seen, 1);
        cr_assert_eq(fake->seen[0].hits, lost[i].seen_hits, "case %zu", i);
        over_limit_bed_end();
    }
}

/* How long the window was to last when the store told so, how much later something is sent, and
 * whether held hits could come too late with it. */
static const struct {
    int64_t reset_us, passed_us;
    bool is_late;
} ends[] = {
    {50000, 0, false},
    {50000, 39500, false},
    {50000, 40500, true},
    {50000, 49999, true},
    {9000, 0, true},
    {4000 * SECOND, 3000 * SECOND, false},
    {3003 * SECOND, 3000 * SECOND, true}, /* the clocks may have parted */
    {3004 * SECOND, 3000 * SECOND, false},
};

static void hold_four(int64_t reset_us)
{
    struct wr_take take = take_of("a");

    over_limit_bed_begin();
    take.limit.length_us = 7200 * SECOND;
    say_over(0, reset_us);
    for (int i = 0; i < WR_OVER_LIMIT_REFUSALS; i++) {
        cr_assert(put_one(take).verdict.over);
    }
    take.hits = 4;
    cr_assert(!is_asked_for(take));
}

Test(over_limit_held, books_no_hits_into_the_next_window)
{
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        struct wr_take take = take_of("a");

        take.limit.length_us = 7200 * SECOND;
        take.limit.requests = 2; /* of another limit, which asks the store */
        hold_four(ends[i].reset_us);
        pass(ends[i].passed_us);
        cr_assert(is_asked_for(take));
        cr_assert_eq(fake->n_seen, 1);
        cr_assert_eq(fake->seen[0].hits, ends[i].is_late ? 1 : 5, "case %zu", i);
        over_limit_bed_end();

        hold_four(ends[i].reset_us);
        pass(ends[i].passed_us);
        take.must_book = true;
        cr_assert(is_asked_for(take));
        cr_assert_eq(fake->n_seen, ends[i].is_late ? 1 : 2, "case %zu", i);
        over_limit_bed_end();
    }
}

/* In that time they are taken off from a refund, as far as it has so many. */
Test(over_limit_held, takes_hits_off_a_refund_that_comes_near_the_end)
{
    static const struct {
        uint64_t hits, seen_hits;
    } refunds[] = {{6, 2}, {4, 0}, {3, 0}, {0, 0}};

    for (size_t i = 0; i < sizeof refunds / sizeof refunds[0]; i++) {
        struct wr_take refund = take_of("a");

        hold_four(50000);
        pass(45000);
        refund.limit.length_us = 7200 * SECOND;
        refund.is_refund = true;
        refund.hits = refunds[i].hits;
        cr_assert(is_asked_for(refund));
        cr_assert_eq(fake->n_seen, 1);
        cr_assert_eq(fake->seen[0].hits, refunds[i].seen_hits, "case %zu", i);
        cr_assert(fake->seen[0].is_refund);
        over_limit_bed_end();
    }
}

Test(over_limit_held, brings_held_hits_when_it_may_not_answer)
{
    struct wr_take takes[] = {take_of("a"), take_of("b")};

    over_limit_bed_begin();
    make_known(takes[0]);
    cr_assert(!is_asked_for(takes[0]));
    takes[1].limit.count = WR_COUNT_ALL_OR_NOTHING;
    handed_put(handed, over_limit_bed.cache, takes, 2);
    cr_assert_eq(fake->n_seen, 2);
    cr_assert_eq(fake->seen[0].hits, 2);
    cr_assert_eq(fake->seen[1].hits, 1);
    over_limit_bed_end();
}
