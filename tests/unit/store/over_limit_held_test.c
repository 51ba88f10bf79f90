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
        cr_assert_eq(fake->seen[0].hits, holds[i].seen_hits, "%s", holds[i].what);
        cr_assert_eq(fake->seen[0].is_refund, holds[i].is_refund, "%s", holds[i].what);
        cr_assert_eq(take.hits, holds[i].hits);
        cr_assert_eq(take.is_refund, holds[i].is_refund);

        pass(WR_OVER_LIMIT_TRUST_US);
        (void) put_one(take_of("a"));
        cr_assert_eq(fake->seen[0].hits, 1 + holds[i].still_held, "%s: next", holds[i].what);
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
